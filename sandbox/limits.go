package sandbox

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

const (
	// minWalk is the shortest time between two measurements of the writable
	// trees; a slow walk is repeated after ten times what it took.
	minWalk = 200 * time.Millisecond
	// diskFloor is the free space that must remain, so that the user's other
	// programs go on; on a disk that is nearly full already, half of the rest.
	diskFloor = 1 << 30
)

// Messages that Windows sends about a group of processes, a job.
const (
	jobTooMany = 3  // JOB_OBJECT_MSG_ACTIVE_PROCESS_LIMIT
	jobMemory  = 10 // JOB_OBJECT_MSG_JOB_MEMORY_LIMIT
)

// A jobCount is what a job has used.
type jobCount struct {
	cpu    time.Duration
	memory int64 // bytes, the highest
	procs  int   // now
}

// jobEnd returns the end of a tree that has reached a limit. message is one that
// came about the job, or 0.
func (l Limits) jobEnd(message uint32, since time.Duration, c jobCount) *Exit {
	var e Exit
	switch {
	case message == jobMemory && l.Memory > 0:
		e = killed(OutOfMem, fmt.Sprintf("It asked for more memory than the limit of %s; %s was the most it had.", size(l.Memory), size(c.memory)))
	case message == jobTooMany && l.Procs > 0:
		e = killed(TooMany, fmt.Sprintf("It asked for more than %d processes, which is the limit.", l.Procs))
	case l.Wall > 0 && since > l.Wall:
		e = killed(OutOfTime, fmt.Sprintf("It ran for %s; the limit is %s.", span(since), span(l.Wall)))
	case l.CPU > 0 && c.cpu > l.CPU:
		e = killed(OutOfTime, fmt.Sprintf("It used %s of processor time; the limit is %s.", span(c.cpu), span(l.CPU)))
	default:
		return nil
	}
	return &e
}

// A treeSize is what was measured of the writable trees.
type treeSize struct {
	sum     int64 // bytes
	largest int64 // bytes of one file
}

// sizeEnd returns the end of a tree that has written too much.
func (l Limits) sizeEnd(start, now treeSize) *Exit {
	var e Exit
	switch grown := now.sum - start.sum; {
	case l.Disk > 0 && grown > l.Disk:
		e = killed(OutOfDisk, fmt.Sprintf("The folders grew by %s; the limit is %s.", size(grown), size(l.Disk)))
	case l.FileSize > 0 && now.largest > max(l.FileSize, start.largest):
		e = killed(OutOfDisk, fmt.Sprintf("A file grew to %s; the limit for one file is %s.", size(now.largest), size(l.FileSize)))
	default:
		return nil
	}
	return &e
}

// measureTrees walks trees and follows no link. What vanishes meanwhile, or
// cannot be opened, counts nothing.
func measureTrees(trees []string) treeSize {
	const least = 4096 // for an empty file too, since their number is limited with it
	var t treeSize
	for _, root := range trees {
		// The function returns no error, so there is none.
		_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if info, err := d.Info(); err == nil {
				t.sum += max(info.Size(), least)
				if info.Mode().IsRegular() {
					t.largest = max(t.largest, info.Size())
				}
			}
			return nil
		})
	}
	return t
}

// A sizeWatch measures the writable trees again and again, from outside.
type sizeWatch struct {
	limits Limits
	trees  []string
	floors []int64 // free bytes that must remain for each tree
	free   func(path string) (int64, error)

	mu    sync.Mutex // guards what follows
	start treeSize
	last  treeSize
	next  time.Time
}

// newSizeWatch measures the trees at the start. free returns the free bytes of
// the disk on which a path lies.
func newSizeWatch(l Limits, trees []string, free func(path string) (int64, error)) (*sizeWatch, error) {
	w := &sizeWatch{limits: l, trees: trees, free: free}
	for _, t := range trees {
		n, err := free(t)
		if err != nil {
			return nil, fmt.Errorf("free space of %s: %w", t, err)
		}
		w.floors = append(w.floors, min(diskFloor, n/2))
	}
	w.start = measureTrees(trees)
	w.last = w.start
	return w, nil
}

// check returns the end of the tree when it has written too much. It measures
// only when it is time to.
func (w *sizeWatch) check(now time.Time) *Exit {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limits.Disk > 0 {
		for i, t := range w.trees {
			if n, err := w.free(t); err == nil && n < w.floors[i] {
				e := killed(OutOfDisk, fmt.Sprintf("The disk is nearly full: %s are free, at least %s must remain.", size(n), size(w.floors[i])))
				return &e
			}
		}
	}
	if now.Before(w.next) {
		return nil
	}
	w.last = measureTrees(w.trees)
	w.next = now.Add(max(minWalk, 10*time.Since(now)))
	return w.limits.sizeEnd(w.start, w.last)
}

// grown is by how much the trees have grown, as of the last measurement.
func (w *sizeWatch) grown() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(w.last.sum-w.start.sum, 0)
}

// finish measures once more, after the end.
func (w *sizeWatch) finish() {
	w.mu.Lock()
	w.last = measureTrees(w.trees)
	w.mu.Unlock()
}
