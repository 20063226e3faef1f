package catalog

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// An Entry is one model file and the places that have it.
type Entry struct {
	Name        string `json:"name"`        // short, stable, for commands and settings
	Title       string `json:"title"`       // for people
	Description string `json:"description"` // one sentence for people who choose
	File        string `json:"file"`        // name in the models folder
	Bytes       int64  `json:"bytes"`       // exact size of the file
	SHA256      string `json:"sha256"`      // of the whole file, lower-case hex
	License     string `json:"license"`     // SPDX id
	Origin      string `json:"origin"`      // repository and commit that published the file
	Context     int    `json:"context"`     // tokens the model was trained for
	MinMemory   int64  `json:"minMemory"`   // bytes of memory a machine should have
	// Parts are consecutive blocks of the file with a hash each, so that one bad
	// block costs that block and not the file. Empty: the file is one part.
	Parts   []Part   `json:"parts,omitempty"`
	Sources []Source `json:"sources"` // in the order in which they are tried by default
}

// A Part is a block of a model file.
type Part struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // lower-case hex
}

// A Kind says how a source delivers its bytes.
type Kind string

// The kinds of sources. [Folder] needs no mention in an entry: any folder can
// hold the file, or the packages with its parts.
const (
	Pieces Kind = "pieces" // one Python package per part, fetched by pip
	HTTP   Kind = "http"   // one file on a web server that serves ranges
	Folder Kind = "folder" // a folder of this machine, such as a USB stick
)

// A Source is one place that has the bytes of an entry. Since the entry pins
// them, a source needs no trust.
type Source struct {
	Kind     Kind      `json:"kind"`
	Name     string    `json:"name"`               // for people and for [Options.Order]
	Base     string    `json:"base,omitempty"`     // HTTP: scheme and host
	Hub      bool      `json:"hub,omitempty"`      // HTTP: HF_ENDPOINT replaces Base
	Path     string    `json:"path,omitempty"`     // HTTP: below Base
	Packages []Package `json:"packages,omitempty"` // Pieces: one for each part, in order
	Verified bool      `json:"verified"`           // these very bytes were fetched from here and compared
	Note     string    `json:"note,omitempty"`     // how it was verified, or why it was not
}

// A Package is a Python wheel that holds one part as its only .bin or .gguf
// file.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Bytes   int64  `json:"bytes"`  // of the wheel
	SHA256  string `json:"sha256"` // of the wheel, lower-case hex
}

var (
	nameRE    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	fileRE    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.gguf$`)
	hashRE    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	versionRE = regexp.MustCompile(`^[0-9][0-9A-Za-z.+!]{0,31}$`) // PEP 440 characters; never an option of pip
)

// check refuses an entry that could not be fetched or would write outside the
// models folder.
func (e *Entry) check() error {
	switch {
	case !nameRE.MatchString(e.Name):
		return errors.New("name must be lower-case letters, digits and . _ -")
	case !fileRE.MatchString(e.File) || strings.Contains(e.File, ".."):
		return fmt.Errorf("file %q must be a plain name that ends in .gguf", e.File)
	case e.Bytes < int64(len(magic)):
		return fmt.Errorf("bytes is %d", e.Bytes)
	case !hashRE.MatchString(e.SHA256):
		return errors.New("sha256 must be 64 lower-case hex digits")
	case e.License == "":
		return errors.New("license is missing")
	case e.Context <= 0 || e.MinMemory <= 0:
		return errors.New("context and minMemory must be above zero")
	case len(e.Sources) == 0:
		return errors.New("it has no source")
	}
	var sum int64
	for i, p := range e.Parts {
		if p.Bytes <= 0 || !hashRE.MatchString(p.SHA256) {
			return fmt.Errorf("part %d needs bytes and sha256", i+1)
		}
		sum += p.Bytes
	}
	if len(e.Parts) > 0 && sum != e.Bytes {
		return fmt.Errorf("its parts have %d bytes, the file %d", sum, e.Bytes)
	}
	for i := range e.Sources {
		if err := e.Sources[i].check(len(e.parts())); err != nil {
			return fmt.Errorf("source %d (%q): %w", i+1, e.Sources[i].Name, err)
		}
	}
	return nil
}

func (s *Source) check(parts int) error {
	if !nameRE.MatchString(s.Name) {
		return errors.New("name must be lower-case letters, digits and . _ -")
	}
	switch s.Kind {
	case HTTP:
		u, err := url.Parse(s.Base)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return fmt.Errorf("base %q must be an http or https address", s.Base)
		}
		if s.Path == "" || path.Clean("/"+s.Path) != "/"+s.Path {
			return fmt.Errorf("path %q must be a plain relative path", s.Path)
		}
	case Pieces:
		if len(s.Packages) != parts {
			return fmt.Errorf("it has %d packages for %d parts", len(s.Packages), parts)
		}
		for i, p := range s.Packages {
			if !nameRE.MatchString(p.Name) || !versionRE.MatchString(p.Version) || !hashRE.MatchString(p.SHA256) || p.Bytes <= 0 {
				return fmt.Errorf("package %d needs name, version, bytes and sha256", i+1)
			}
		}
	default:
		return fmt.Errorf("kind %q is not known", s.Kind)
	}
	return nil
}

// parts returns the blocks to verify, at least one.
func (e *Entry) parts() []Part {
	if len(e.Parts) > 0 {
		return e.Parts
	}
	return []Part{{Bytes: e.Bytes, SHA256: e.SHA256}}
}
