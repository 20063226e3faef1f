//go:build linux || darwin

package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxDepth bounds the nesting of folders that is measured; deeper ones count as
// an attempt to hide from the measurement.
const maxDepth = 200

// What cannot be measured ends the tree: it could hide any amount.
var (
	errTooDeep = fmt.Errorf("folders are nested deeper than %d levels", maxDepth)
	errClosed  = errors.New("a folder is closed to its owner")
)

// A growth watches by how much the writable trees grow. Files that are deleted
// but open are not seen there; the floor of free space holds those.
type growth struct {
	trees  []string
	limit  int64
	start  int64
	floors []int64
	free   []int64 // free bytes at the last walk
	next   time.Time

	mu    sync.Mutex // the watcher measures, the host asks
	last  int64      // used at the last walk
	costs time.Duration
}

// newGrowth measures the trees at the start. It returns nil when there is
// nothing to watch.
func newGrowth(o order) (*growth, error) {
	paths := o.Write
	if o.TmpDir != "" {
		paths = append([]string{o.TmpDir}, paths...)
	}
	if o.Limits.Disk < 0 || len(paths) == 0 {
		return nil, nil
	}
	g := &growth{limit: o.Limits.Disk}
	for _, path := range paths {
		t, err := filepath.EvalSymlinks(path) // the walk follows no links
		if err != nil {
			return nil, err
		}
		var st unix.Stat_t
		if err := unix.Stat(t, &st); err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
		if st.Mode&unix.S_IFMT == unix.S_IFCHR { // devices do not grow
			continue
		}
		free, err := freeBytes(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
		g.trees = append(g.trees, t)
		g.floors = append(g.floors, min(diskFloor, free/2))
		g.free = append(g.free, free)
	}
	used, err := g.measure()
	if err != nil {
		return nil, err
	}
	g.start = used
	return g, nil
}

// quickWalk is how long a walk may take that is made only for a record.
const quickWalk = 50 * time.Millisecond

// grown returns by how much the trees have grown, as of now or, where walking
// them takes long, as of the last measurement.
func (g *growth) grown() int64 {
	g.mu.Lock()
	used, quick := g.last, g.costs < quickWalk
	g.mu.Unlock()
	if quick {
		if now, err := g.measure(); err == nil {
			used = now
		}
	}
	return max(used-g.start, 0)
}

// check returns the end of the tree when it grew too much.
func (g *growth) check() *Exit {
	walk := time.Now().After(g.next)
	for i, t := range g.trees {
		free, err := freeBytes(t)
		if err != nil {
			continue
		}
		if free < g.floors[i] {
			e := killed(OutOfDisk, fmt.Sprintf("The disk is nearly full: %s are free, at least %s must remain.", size(free), size(g.floors[i])))
			return &e
		}
		walk = walk || g.free[i]-free > g.limit/2
	}
	if !walk {
		return nil
	}
	began := time.Now()
	used, err := g.measure()
	if err != nil {
		e := killed(OutOfDisk, fmt.Sprintf("The size of the folders cannot be limited: %v.", err))
		return &e
	}
	if grown := used - g.start; grown > g.limit {
		e := killed(OutOfDisk, fmt.Sprintf("The folders grew by %s; the limit is %s.", size(grown), size(g.limit)))
		return &e
	}
	for i, t := range g.trees {
		if free, err := freeBytes(t); err == nil {
			g.free[i] = free
		}
	}
	g.next = time.Now().Add(max(minWalk, 10*time.Since(began)))
	return nil
}

func freeBytes(path string) (int64, error) {
	var f unix.Statfs_t
	if err := unix.Statfs(path, &f); err != nil {
		return 0, err
	}
	return int64(f.Bavail) * int64(f.Bsize), nil
}

// measure returns the disk space of all trees. A tree inside another counts
// twice, at the start as well as later.
func (g *growth) measure() (int64, error) {
	began := time.Now()
	var sum int64
	for _, t := range g.trees {
		n, err := diskUsage(unix.AT_FDCWD, t, 0)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	g.mu.Lock()
	g.last, g.costs = sum, time.Since(began)
	g.mu.Unlock()
	return sum, nil
}

// charge is what one file costs: its blocks, shared among its names, and for
// an empty one still a block, since the number of files is limited too.
func charge(st *unix.Stat_t) int64 {
	const block = 4096
	bytes := max(st.Blocks*512, block)
	if st.Mode&unix.S_IFMT != unix.S_IFDIR && st.Nlink > 1 {
		bytes /= int64(st.Nlink)
	}
	return bytes
}

// diskUsage walks by descriptors, so that neither links nor long paths lead it
// astray while the program changes the tree under it. What vanishes meanwhile
// counts nothing.
func diskUsage(at int, name string, depth int) (int64, error) {
	var st unix.Stat_t
	if unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0, nil
	}
	sum := charge(&st)
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return sum, nil
	}
	if depth == maxDepth {
		return 0, errTooDeep
	}
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		if err == unix.EACCES && st.Uid == uint32(unix.Geteuid()) {
			return 0, errClosed
		}
		if err == unix.EMFILE { // deeper than the helper may open files
			return 0, err
		}
		return sum, nil
	}
	defer unix.Close(fd)
	err = eachName(fd, func(child string) error {
		below, err := diskUsage(fd, child, depth+1)
		sum += below
		return err
	})
	return sum, err
}
