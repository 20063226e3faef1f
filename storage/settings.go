package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// Setting returns the JSON kept under a name. Errors: ErrNotFound, ErrDamaged.
func (s *Store) Setting(name string) (json.RawMessage, error) {
	var v json.RawMessage
	err := s.view(context.Background(), func(tx *bolt.Tx) error {
		return get(tx, settingsBucket, []byte(name), &v)
	})
	if err != nil {
		return nil, fmt.Errorf("setting: %w", err)
	}
	return v, nil
}

// SetSetting keeps value, which must be JSON, under a name; nil removes it.
// Names are stored in clear even when values are sealed. Errors: ErrInvalid,
// ErrNoSpace.
func (s *Store) SetSetting(ctx context.Context, name string, value json.RawMessage) error {
	if err := checkName("setting", name); err != nil {
		return err
	}
	if value != nil && !json.Valid(value) {
		return fmt.Errorf("setting %q: %w: not JSON", name, ErrInvalid)
	}
	err := s.update(ctx, func(tx *bolt.Tx) error {
		if value == nil {
			return tx.Bucket(settingsBucket).Delete([]byte(name))
		}
		return put(tx, settingsBucket, []byte(name), value)
	})
	if err != nil {
		return fmt.Errorf("set %q: %w", name, err)
	}
	return nil
}

// checkName refuses what cannot be part of a key. what names the thing.
func checkName(what, name string) error {
	if name == "" || len(name) > maxName || strings.ContainsRune(name, 0) {
		return fmt.Errorf("%s %.40q: %w: must have 1 to %d bytes and no NUL", what, name, ErrInvalid, maxName)
	}
	return nil
}
