package workspace

import "io/fs"

// A stamp tells whether a file is still the same. Changed is there because a
// program can set Modified to what it likes.
type stamp struct {
	Device   uint64 `json:"dev,omitempty"`
	Inode    uint64 `json:"ino,omitempty"`
	Size     int64  `json:"size"`
	Modified int64  `json:"mtime"`           // nanoseconds since 1970
	Changed  int64  `json:"ctime,omitempty"` // of content or attributes; 0 where it is not known
}

// sourceStamp leaves the change time out: a hard link to the file alters it.
func sourceStamp(st fs.FileInfo) stamp {
	s := stampOf(st)
	s.Changed = 0
	return s
}
