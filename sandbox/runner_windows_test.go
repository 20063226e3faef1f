package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// helperArg makes the test binary the program of the self-check, holdArg one
// that waits for the end of its input, filesArg one that copies the first file it
// was given to the second.
const (
	helperArg = "sandbox-helper"
	holdArg   = "sandbox-hold"
	filesArg  = "sandbox-files"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == helperArg {
		os.Exit(JailMain())
	}
	if len(os.Args) == 2 && os.Args[1] == holdArg {
		_, _ = io.Copy(os.Stdout, os.Stdin)
		os.Exit(3)
	}
	if len(os.Args) == 2 && os.Args[1] == filesArg {
		os.Exit(copyFiles())
	}
	os.Exit(m.Run())
}

func copyFiles() int {
	var files []*os.File
	for _, number := range strings.Split(os.Getenv(filesVariable), ",") {
		h, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return 1
		}
		files = append(files, os.NewFile(uintptr(h), "given"))
	}
	if _, err := io.Copy(files[1], files[0]); err != nil || len(files) != 2 {
		return 2
	}
	return 0
}

func TestFiles(t *testing.T) {
	r, self := newTestRunner(t)
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Start(t.Context(), Policy{}, Command{Path: self, Args: []string{filesArg}, Files: []*os.File{inR, outW}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inW.WriteString("by handles"); err != nil {
		t.Error(err)
	}
	inW.Close()
	if out, err := io.ReadAll(outR); err != nil || string(out) != "by handles" {
		t.Errorf("%q, %v", out, err)
	}
	outR.Close()
	if e := p.Wait(); e.Code != 0 || e.Cause != Exited {
		t.Errorf("%+v", e)
	}
}

func TestWalk(t *testing.T) {
	dir, paths := project(t)
	if err := os.Symlink(filepath.Dir(dir), filepath.Join(dir, "link")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	var seen []string
	err := aclWalk{ctx: t.Context(), change: func(path string, folder bool, acl []byte) ([]byte, error) {
		if st, err := os.Lstat(path); err != nil || st.IsDir() != folder {
			t.Errorf("%s: folder %v, %v", path, folder, err)
		}
		_, err := aclSplit(acl)
		seen = append(seen, path)
		return nil, err
	}}.tree(dir)
	slices.Sort(seen)
	slices.Sort(paths)
	if err != nil || !slices.Equal(seen, paths) {
		t.Errorf("seen %q, want %q; %v", seen, paths, err)
	}
	if err := (aclWalk{ctx: t.Context()}).tree(filepath.Join(dir, "none")); !gone(err) {
		t.Errorf("what is not there: %v", err)
	}
}

func newTestRunner(t *testing.T) (*runner, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newRunner(Options{Helper: []string{self, helperArg}}).(*runner), self
}

func TestLevel(t *testing.T) {
	r, _ := newTestRunner(t)
	l := r.Level(t.Context())
	text, err := json.MarshalIndent(l, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if l.Name != LevelReduced {
		t.Errorf("level %s:\n%s", l.Name, text)
	}
}

// listOf is the access list of a path.
func listOf(t *testing.T, path string) []byte {
	t.Helper()
	h, err := openAt(0, path, windows.READ_CONTROL|windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(h)
	acl, _, err := readACL(h)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := aclSplit(acl) // without unused space at its end
	if err != nil {
		t.Fatal(err)
	}
	if acl, err = aclJoin(acl[0], entries); err != nil {
		t.Fatal(err)
	}
	return acl
}

// project makes a folder with something in it that must stay as it is.
func project(t *testing.T) (dir string, paths []string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hooks := filepath.Join(dir, "sub", ".git", "hooks")
	if err := os.MkdirAll(hooks, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "data.csv")
	if err := os.WriteFile(file, []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, []string{dir, filepath.Join(dir, "sub"), filepath.Join(dir, "sub", ".git"), hooks, file}
}

func TestGrantsAreTakenBack(t *testing.T) {
	dir, paths := project(t)
	var before [][]byte
	for _, p := range paths {
		before = append(before, listOf(t, p))
	}
	g, err := newGrants()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, self)
	before = append(before, listOf(t, self))
	plan, err := planOf(Policy{Write: []string{dir}}, Command{Path: self})
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range plan {
		if err := g.allow(t.Context(), tree.path, tree.kind); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range paths {
		if bytes.Equal(listOf(t, p), before[i]) {
			t.Errorf("nothing was granted on %s", p)
		}
	}
	if err := SweepGrants(); err != nil {
		t.Errorf("sweep: %v", err)
	}
	if bytes.Equal(listOf(t, dir), before[0]) {
		t.Error("a sweep took back what a living host has granted")
	}
	// As after a crash: the journal is there, and nobody holds it.
	g.journal.Close()
	if err := SweepGrants(); err != nil {
		t.Errorf("sweep: %v", err)
	}
	for i, p := range paths {
		if !bytes.Equal(listOf(t, p), before[i]) {
			t.Errorf("the access list of %s is not what it was", p)
		}
	}
	if _, err := os.Stat(filepath.Join(g.dir, g.name+grantSuffix)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is still there: %v", err)
	}
}

func TestRun(t *testing.T) {
	r, self := newTestRunner(t)
	dir, _ := project(t)
	hook := filepath.Join(dir, "sub", ".git", "hooks", "pre-commit")
	made := filepath.Join(dir, "made")
	todo, err := json.Marshal([]selfAttempt{{"", tryAppend, made}, {"", tryAppend, hook}, {"", tryRead, filepath.Join(dir, "data.csv")}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Start(t.Context(), Policy{Write: []string{dir}}, Command{Path: self, Args: []string{helperArg}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdin().Write(todo); err != nil {
		t.Error(err)
	}
	p.Stdin().Close()
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Error(err)
	}
	if e := p.Wait(); e.Code != 0 || e.Cause != Exited || e.Detail != "" {
		t.Errorf("%+v", e)
	}
	var said []finding
	if err := json.Unmarshal(out, &said); err != nil || len(said) != 3 {
		t.Fatalf("%s: %v", out, err)
	}
	if said[0].Error != "" || said[1].Error == "" || !strings.Contains(said[2].Output, "a,b") {
		t.Errorf("%+v", said)
	}
	if _, err := os.Stat(hook); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a hook was made: %v", err)
	}
	rec, err := p.(Recorder).Record()
	if err != nil || rec.Usage.Procs < 1 || rec.Usage.Wall <= 0 || len(rec.Layers) == 0 {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestKill(t *testing.T) {
	r, self := newTestRunner(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := r.Start(ctx, Policy{}, Command{Path: self, Args: []string{holdArg}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Interrupt() == nil {
		t.Error("it claims to have interrupted the program")
	}
	cancel()
	if e := p.Wait(); e.Cause != Killed {
		t.Errorf("%+v", e)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("Kill after the end: %v", err)
	}
}

func TestLimits(t *testing.T) {
	r, self := newTestRunner(t)
	p, err := r.Start(t.Context(), Policy{Limits: Limits{Wall: 300 * time.Millisecond}}, Command{Path: self, Args: []string{holdArg}})
	if err != nil {
		t.Fatal(err)
	}
	if e := p.Wait(); e.Cause != OutOfTime {
		t.Errorf("%+v", e)
	}
	p, err = r.Start(t.Context(), Policy{Limits: Limits{Output: 100}}, Command{Path: self, Args: []string{holdArg}})
	if err != nil {
		t.Fatal(err)
	}
	// It may have ended in the midst of it.
	_, _ = p.Stdin().Write(make([]byte, 1000))
	if out, err := io.ReadAll(p.Stdout()); err != nil || len(out) > 100 {
		t.Errorf("%d bytes came through, %v", len(out), err)
	}
	if e := p.Wait(); e.Cause != TooLoud {
		t.Errorf("%+v", e)
	}
}

func TestRefusals(t *testing.T) {
	r, self := newTestRunner(t)
	if _, err := r.Start(t.Context(), Policy{Network: Network{Mode: NetworkOn}}, Command{Path: self}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a network: %v", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Start(t.Context(), Policy{Read: []string{home}}, Command{Path: self}); !errors.Is(err, ErrPolicy) {
		t.Errorf("the home folder: %v", err)
	}
}
