package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Format is the version of what this program writes. It reads every version
// from 1 on.
const Format = 1

// whatToDo ends the text of an error about damage.
const whatToDo = "close Atoll, copy this folder to a safe place, then put back a backup or start with another data folder"

// pageSize is fixed so that the file does not depend on the machine that made it.
const pageSize = 4096

// The buckets. Keys: chats by ID; entries by sequence number, 8 bytes
// big-endian; tree by chat ID, 0, sequence number; ids by entry ID; blobs by
// hash, 0, sequence number; settings by name; meta by name.
var (
	metaBucket     = []byte("meta")
	chatsBucket    = []byte("chats")
	entriesBucket  = []byte("entries")
	treeBucket     = []byte("tree")
	idsBucket      = []byte("ids")
	blobsBucket    = []byte("blobs")
	settingsBucket = []byte("settings")
	asideBucket    = []byte("aside") // damaged values that had to make room

	identityKey = []byte("identity")
)

// An identity tells stores apart. It is kept in the database and, as the proof
// that a database existed here, in a file next to it.
type identity struct {
	Format  int       `json:"format"`
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
}

// openDatabase opens the database or creates it where none ever was.
func (s *Store) openDatabase(verifyUpTo int64) error {
	path, sentinel := filepath.Join(s.dir, dbName), filepath.Join(s.dir, sentinelName)
	known, err := readSentinel(sentinel)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && known == nil:
		if err := createDatabase(path); err != nil {
			return explain(err)
		}
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is missing although chats were kept here; put it back from a backup, "+
			"or remove %s to start empty", ErrDamaged, path, sentinel)
	case err != nil:
		return explain(err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a plain file", ErrDamaged, path)
	default:
		oneMeta, err := verify(path, s.report.Unclean || info.Size() <= verifyUpTo)
		if errors.Is(err, ErrDamaged) {
			return fmt.Errorf("%w; %s is kept as it is; %s", err, path, whatToDo)
		}
		if err != nil {
			return explain(err)
		}
		s.report.OneMeta = oneMeta
	}
	if s.db, s.file, err = openBolt(path); err != nil {
		return err
	}
	id, err := s.identity(known)
	if err == nil && (known == nil || known.ID != id.ID || known.Format != id.Format) {
		err = writeSentinel(sentinel, id)
	}
	if err != nil {
		return errors.Join(explain(err), s.db.Close())
	}
	return nil
}

// readSentinel returns what is known to exist in the folder, nil for nothing.
func readSentinel(path string) (*identity, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(err)
	}
	id := new(identity)
	if json.Unmarshal(text, id) != nil {
		return &identity{}, nil // unreadable, but it is there; the database has the rest
	}
	if id.Format > Format {
		return nil, newer(id.Format)
	}
	return id, nil
}

func writeSentinel(path string, id identity) error {
	text, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, append(text, '\n'))
}

func newer(format int) error {
	return fmt.Errorf("%w (format %d, this one knows %d); install the newer Atoll again", ErrNewer, format, Format)
}

// createDatabase builds the file under another name first: bbolt's first
// initialisation is the one moment when a power cut can leave half a file.
func createDatabase(path string) error {
	tmp := path + ".new"
	if err := removeIfThere(tmp); err != nil {
		return err
	}
	db, _, err := openBolt(tmp)
	if err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{metaBucket, chatsBucket, entriesBucket, treeBucket,
			idsBucket, blobsBucket, settingsBucket, asideBucket} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		id := identity{Format: Format, ID: NewID(), Created: time.Now().UTC()}
		return put(tx, metaBucket, identityKey, id)
	})
	if err = errors.Join(err, db.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	return syncDir(filepath.Dir(path))
}

// openBolt opens a database file and returns bbolt's own handle of it too.
// Where bbolt panics or faults on a bad file, the lock it leaves behind is
// dropped here. Closing the handle would not do: the memory map, which nobody
// can reach any more, keeps the locked file open.
func openBolt(path string) (db *bolt.DB, file *os.File, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			db = nil
			err = fmt.Errorf("%w: %s: %v; the file is kept; %s", ErrDamaged, path, p, whatToDo)
			if file != nil {
				err = errors.Join(err, unlockDatabase(file), file.Close())
			}
		}
	}()
	db, err = bolt.Open(path, 0o600, &bolt.Options{
		Timeout:      time.Second,
		PageSize:     pageSize,
		FreelistType: bolt.FreelistMapType,
		NoStatistics: true,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(name, flag, mode)
			file = f
			return f, err
		},
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, nil, ErrLocked
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return nil, nil, fmt.Errorf("%w: %s: %w; the file is kept; %s", ErrDamaged, path, err, whatToDo)
	case err != nil:
		return nil, nil, explain(err)
	}
	return db, file, nil
}

// identity reads which store this is and checks that all buckets are there. A
// damaged value alone does not matter if the file next to the database has it.
func (s *Store) identity(known *identity) (identity, error) {
	var id identity
	err := s.guard(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			for _, name := range [][]byte{metaBucket, chatsBucket, entriesBucket, treeBucket,
				idsBucket, blobsBucket, settingsBucket, asideBucket} {
				if tx.Bucket(name) == nil {
					return fmt.Errorf("%w: %s has no %q; it is kept as it is; %s",
						ErrDamaged, s.db.Path(), name, whatToDo)
				}
			}
			err := get(tx, metaBucket, identityKey, &id)
			if err != nil && known != nil && known.ID != "" {
				id, err = *known, nil
			}
			if err != nil {
				return fmt.Errorf("%w: %s does not say which version wrote it; it is kept as it is; %s",
					ErrDamaged, s.db.Path(), whatToDo)
			}
			return nil
		})
	})
	if err == nil && id.Format > Format {
		err = newer(id.Format)
	}
	return id, err
}

// get reads the value of key into v. Errors: ErrNotFound, ErrDamaged.
func get(tx *bolt.Tx, bucket, key []byte, v any) error {
	raw := tx.Bucket(bucket).Get(key)
	if raw == nil {
		return fmt.Errorf("%s %q: %w", bucket, key, ErrNotFound)
	}
	return unseal(bucket, key, raw, v)
}

// put stores v under key.
func put(tx *bolt.Tx, bucket, key []byte, v any) error {
	raw, err := seal(bucket, key, v)
	if err != nil {
		return err
	}
	return tx.Bucket(bucket).Put(key, raw)
}
