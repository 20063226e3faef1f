package preview

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

const (
	folderEntries = 20_000 // files and folders that are looked at
	folderDepth   = 20
	folderShown   = 5
)

// readFolder makes the card of a folder. Links are not followed, and what
// cannot be read is counted, not an error.
func readFolder(ctx context.Context, dir string) (Card, error) {
	c := Card{Name: filepath.Base(dir), Kind: Folder, RowsExact: true}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return c, fmt.Errorf("read %s: %w", dir, err)
	}
	defer root.Close()
	type entry struct {
		name string
		size int64
		at   time.Time
	}
	var l listing
	var largest, newest []entry
	links, closed := int64(0), int64(0)
	keep := func(list []entry, e entry, less func(a, b entry) int) []entry {
		list = append(list, e)
		slices.SortStableFunc(list, less)
		return list[:min(len(list), folderShown)]
	}
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if e := ctx.Err(); e != nil {
			return e
		}
		if err != nil {
			closed++
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if l.files+l.folders+links >= folderEntries {
			c.RowsExact = false
			return fs.SkipAll
		}
		switch {
		case p == ".":
		case d.IsDir():
			l.folders++
			if depth(p) >= folderDepth {
				c.RowsExact = false
				return fs.SkipDir
			}
		case d.Type()&fs.ModeSymlink != 0:
			links++
		case d.Type().IsRegular():
			st, err := d.Info()
			if err != nil {
				closed++
				return nil
			}
			l.add(p, st.Size())
			e := entry{p, st.Size(), st.ModTime()}
			largest = keep(largest, e, func(a, b entry) int { return int(max(-1, min(1, b.size-a.size))) })
			newest = keep(newest, e, func(a, b entry) int { return b.at.Compare(a.at) })
		}
		return nil
	})
	if e := ctx.Err(); e != nil {
		return c, fmt.Errorf("read %s: %w", dir, e)
	}
	if err != nil {
		return c, fmt.Errorf("read %s: %w", dir, err)
	}
	c.Rows, c.Size = l.files, l.size
	about := ""
	if !c.RowsExact {
		about = "at least "
		c.problem("the folder is large; only its first %d entries were looked at", folderEntries)
	}
	c.Detail = append(c.Detail, fmt.Sprintf("%s%s in %s, %s", about, count(l.files, "file"), count(l.folders, "folder"), sizeText(l.size)))
	if l.files > 0 {
		c.Detail = append(c.Detail, "kinds: "+l.kindsText())
	}
	for _, e := range largest {
		c.Detail = append(c.Detail, fmt.Sprintf("large: %s, %s", shown(e.name, 100), sizeText(e.size)))
	}
	for _, e := range newest[:min(len(newest), 3)] {
		c.Detail = append(c.Detail, fmt.Sprintf("new: %s, %s", shown(e.name, 100), e.at.UTC().Format("2006-01-02")))
	}
	if links > 0 {
		c.problem("%s not followed", countOf(links, "link was", "links were"))
	}
	if closed > 0 {
		c.problem("%s not be read", countOf(closed, "entry could", "entries could"))
	}
	c.Load = c.load()
	return c, nil
}

func depth(p string) (n int) {
	for p != "." && p != "/" {
		n++
		p = path.Dir(p)
	}
	return n
}
