package toolchain

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// lock lists every package with the hashes of its files, for all supported
// versions of Python. It is made from python.in, which says how.
//
//go:embed python.lock
var lock []byte

// ErrNotInstalled means that the libraries are not there yet, not complete, or
// of another list than this program's.
var ErrNotInstalled = errors.New("the Python libraries are not installed")

// An Env is the prepared set of libraries for one interpreter.
type Env struct {
	Site     string            `json:"site"`     // folder for sys.path
	Config   string            `json:"config"`   // matplotlib's settings folder with its font list
	Packages map[string]string `json:"packages"` // version by name
}

// marker is written last: an environment without it is not complete.
type marker struct {
	Lock     string            `json:"lock"` // SHA-256 of the lock, hexadecimal
	Python   string            `json:"python"`
	Packages map[string]string `json:"packages"`
}

const markerName = "complete.json"

// LockHash identifies the list of libraries that this program wants.
func LockHash() string {
	h := sha256.Sum256(lock)
	return hex.EncodeToString(h[:])
}

// Find returns the environment that Install made in dir for py, or
// [ErrNotInstalled].
func Find(dir string, py Interpreter) (Env, error) {
	if !py.OK() {
		return Env{}, fmt.Errorf("find libraries: %w: %s", ErrNotInstalled, py.Problem)
	}
	home := filepath.Join(dir, py.Tag)
	b, err := os.ReadFile(filepath.Join(home, markerName))
	if errors.Is(err, fs.ErrNotExist) {
		return Env{}, fmt.Errorf("find libraries in %s: %w", home, ErrNotInstalled)
	}
	if err != nil {
		return Env{}, fmt.Errorf("find libraries: %w", err)
	}
	var m marker
	if err := json.Unmarshal(b, &m); err != nil || m.Lock != LockHash() {
		return Env{}, fmt.Errorf("find libraries in %s: %w: they belong to another version of this program", home, ErrNotInstalled)
	}
	return Env{
		Site:     filepath.Join(home, "site"),
		Config:   filepath.Join(home, "matplotlib"),
		Packages: m.Packages,
	}, nil
}

// packages reads names and versions from the dist-info folders in site.
func packages(site string) (map[string]string, error) {
	ents, err := os.ReadDir(site)
	if err != nil {
		return nil, fmt.Errorf("list libraries: %w", err)
	}
	out := map[string]string{}
	for _, e := range ents {
		base, ok := strings.CutSuffix(e.Name(), ".dist-info")
		if !ok || !e.IsDir() {
			continue
		}
		if i := strings.LastIndexByte(base, '-'); i > 0 {
			out[strings.ReplaceAll(strings.ToLower(base[:i]), "_", "-")] = base[i+1:]
		}
	}
	return out, nil
}

// names lists the distinct packages of the lock.
func names() []string {
	seen := map[string]bool{}
	for _, l := range strings.Split(string(lock), "\n") {
		if n, _, ok := strings.Cut(l, "=="); ok && n != "" && n[0] != ' ' && n[0] != '#' {
			seen[strings.TrimSpace(n)] = true
		}
	}
	var out []string
	for n := range seen {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}
