package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
)

// tryLayer lets the helper try a layer between folders in the system's place for
// temporary files, and returns what removes them.
func (o *order) tryLayer() (done func(), err error) {
	dir, err := os.MkdirTemp("", "atoll-try-")
	if err != nil {
		return nil, fmt.Errorf("make temporary folder: %w", err)
	}
	done = func() { _ = removeLayer(dir) } // what stays, the system removes some day
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		done()
		return nil, err
	}
	tree := filepath.Join(real, "tree")
	o.Layers = filepath.Join(real, "layers")
	for _, d := range []string{tree, o.Layers} {
		if err := os.Mkdir(d, 0o700); err != nil {
			done()
			return nil, err
		}
	}
	o.Write = []string{tree}
	l, err := newLayer(o.Layers, o.Write)
	if err != nil {
		done()
		return nil, err
	}
	l.close()
	o.TryLayer = filepath.Base(l.dir)
	return done, nil
}

// layerGuarantee is about looking at what code would do before it is done.
func layerGuarantee(a ability) Guarantee {
	g := Guarantee{Name: "effect layers", Holds: a.level == LevelFull && a.seen.Layer == ""}
	switch {
	case g.Holds:
		g.Detail = "What code writes can be held back and looked at first, over folders whose file system allows it."
	case a.level == LevelFull:
		g.Detail = "What code writes cannot be held back (" + a.seen.Layer + ")."
		g.Fix = "Use Linux 5.11 or newer with overlay file systems for ordinary users."
	default:
		g.Detail, g.Fix = "What code writes cannot be held back without namespaces.", a.full.fix
	}
	return g
}
