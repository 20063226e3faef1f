package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
)

func (c Command) check() error {
	if !filepath.IsAbs(c.Path) {
		return fmt.Errorf("start %q: the program's path is not absolute", c.Path)
	}
	if c.Dir != "" && !filepath.IsAbs(c.Dir) {
		return fmt.Errorf("start %s: the working folder %q is not absolute", c.Path, c.Dir)
	}
	st, err := os.Stat(c.Path)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.Path, err)
	}
	if st.IsDir() {
		return fmt.Errorf("start %s: it is a folder, not a program", c.Path)
	}
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
