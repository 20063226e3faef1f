package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var (
	// ErrHeld means that a layer cannot be put on: the program has a file of the
	// writable trees open for writing, and what it writes there would pass the
	// layer by.
	ErrHeld = errors.New("the program holds a file open for writing")
	// ErrRunsLater means that a layer holds files that a program of the host
	// would run later ([Change.Runs]), which were not permitted. Nothing was
	// committed and the layer is still there.
	ErrRunsLater = errors.New("a change would be run later by another program")
)

// A Permitter is a [Layerer] whose Commit carries out a change with Runs set
// only when its path was named before; otherwise Commit does nothing and returns
// [ErrRunsLater]. The permission ends with the layer.
type Permitter interface{ Permit(paths ...string) }

// A CommitError says how far a Commit got. The layer is gone.
type CommitError struct {
	Done []string // paths that were carried out
	// Beside has the new version of files that had changed outside meanwhile,
	// by their paths: those keep the outside's version, and the layer's lies
	// beside it.
	Beside map[string]string
	Failed map[string]error // paths that were not carried out
	Kept   string           // folder that holds the new versions of Failed, "" if none
}

// Error is one sentence for each kind of failure.
func (e *CommitError) Error() string {
	var parts []string
	for path, at := range e.Beside {
		parts = append(parts, fmt.Sprintf("%s was changed by another program meanwhile; the new version is %s.", path, at))
	}
	for path, err := range e.Failed {
		parts = append(parts, fmt.Sprintf("%s was not changed: %v.", path, err))
	}
	if e.Kept != "" {
		parts = append(parts, "What was not carried out is kept in "+e.Kept+".")
	}
	return strings.Join(parts, " ")
}

// layerPrefix starts the name of a layer's folder, keptPrefix the name of one
// that could not be carried out in full.
const (
	layerPrefix = "layer-"
	keptPrefix  = "kept-"
)

// checkLayers refuses a folder of layers that the program could see, or that
// lies so that layers would hold themselves.
func (p Policy) checkLayers() error {
	for _, h := range p.Held {
		if !slices.Contains(p.Write, h) {
			return fmt.Errorf("%w: %s is to be written through a layer, but is not writable at all", ErrPolicy, h)
		}
	}
	if p.Layers == "" {
		if len(p.Held) > 0 {
			return fmt.Errorf("%w: there is no folder for the layers through which %s is to be written", ErrPolicy, p.Held[0])
		}
		return nil
	}
	real, err := checkPath(p.Layers)
	if err != nil {
		return err
	}
	if st, err := os.Stat(real); err != nil || !st.IsDir() {
		return fmt.Errorf("%w: %s is no folder for layers", ErrPolicy, p.Layers)
	}
	for _, t := range append(append([]string{}, p.Read...), p.Write...) {
		tree, err := filepath.EvalSymlinks(t)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrPolicy, err)
		}
		if within(real, tree) || within(tree, real) {
			return fmt.Errorf("%w: the folder of the layers, %s, and %s must lie apart", ErrPolicy, p.Layers, t)
		}
	}
	return nil
}

// heldRefusal is the error of systems and levels without layers.
func heldRefusal(p Policy) error {
	return refusal{fmt.Sprintf("%s is to be written through a layer only, and writes cannot be held back here.", p.Held[0])}
}

// SweepLayers removes what a host that ended half-way has left in dir, the
// Layers of its policies, and the unfinished copies that its Commit made beside
// the files that it was about to replace. No process may use dir. What a Commit
// has kept on purpose stays. It is no error when dir does not exist.
func SweepLayers(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep layers: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), layerPrefix) && e.IsDir() {
			at := filepath.Join(dir, e.Name())
			removeUnfinished(filepath.Join(at, journalName))
			if err := removeLayer(at); err != nil {
				return fmt.Errorf("sweep layers: %w", err)
			}
		}
	}
	return nil
}

// journalName is the file of a layer that lists, one a line, the copies that
// Commit makes in other folders.
const journalName = "copies"

// copyPrefix starts the names of those copies.
const copyPrefix = ".atoll-copy-"

// removeUnfinished removes the copies of a journal that are still there.
func removeUnfinished(journal string) {
	text, err := os.ReadFile(journal)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		// One that is gone was renamed to its place.
		if path, err := strconv.Unquote(strings.TrimSuffix(line, "\n")); err == nil && strings.HasPrefix(filepath.Base(path), copyPrefix) {
			_ = os.Remove(path)
		}
	}
}
