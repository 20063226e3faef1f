package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// errHeld says that another process or another Store holds the lock.
var errHeld = errors.New("lock is held")

// A lock keeps every other process out of the data folder. The system drops it
// when the process dies, however it dies.
type lock struct {
	file  *os.File
	owner string // path of the file that names the holder
}

// owner is the content of the file that names the holder of the lock. It is
// also the mark of an unclean exit: a clean Close removes it.
type owner struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// takeLock locks dir, trying for at most wait. unclean says that the holder
// before did not close the store.
func takeLock(dir string, wait time.Duration) (l *lock, unclean bool, err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, explain(err)
	}
	l = &lock{file: f, owner: filepath.Join(dir, ownerName)}
	for end := time.Now().Add(wait); ; {
		if err = tryLock(f); !errors.Is(err, errHeld) || !time.Now().Before(end) {
			break
		}
		time.Sleep(min(50*time.Millisecond, time.Until(end)))
	}
	if errors.Is(err, errHeld) {
		err = fmt.Errorf("%w%s; close the other Atoll first", ErrLocked, l.holder())
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	_, statErr := os.Lstat(l.owner)
	text, err := json.Marshal(owner{PID: os.Getpid(), Since: time.Now().UTC()})
	if err == nil {
		err = replaceFile(l.owner, text)
	}
	if err != nil && isFull(err) { // reading must work on a full disk
		err = nil
	}
	if err != nil {
		return nil, false, errors.Join(explain(err), f.Close())
	}
	return l, statErr == nil, nil
}

// holder names the process that holds the lock, as far as it is known.
func (l *lock) holder() string {
	var o owner
	text, err := os.ReadFile(l.owner)
	if err != nil || json.Unmarshal(text, &o) != nil || o.PID == 0 {
		return ""
	}
	return fmt.Sprintf(" by process %d since %s", o.PID, o.Since.Local().Format("2006-01-02 15:04"))
}

// release gives the folder back. With clean set, the next opening takes the
// data as properly closed.
func (l *lock) release(clean bool) error {
	var err error
	if clean {
		err = removeIfThere(l.owner)
	}
	return errors.Join(err, l.file.Close())
}
