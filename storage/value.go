package storage

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// A value is stored as
//
//	version byte | codec byte | CRC-32C, 4 bytes little-endian | payload
//
// The sum covers version, codec, bucket name, key and payload, so a value that
// ends up under another key is noticed as well as a flipped bit (bbolt has no
// checksum on its data pages).
const (
	valueVersion = 1
	valueHeader  = 6

	codecJSON   = 0 // the payload is JSON
	codecSealed = 1 // reserved: the payload is encrypted JSON
)

// castagnoli is the table of CRC-32C (RFC 3720, section 12.1).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the checksum of a value under a key of a bucket.
func sum(head, bucket, key, payload []byte) uint32 {
	c := crc32.Update(0, castagnoli, head)
	c = crc32.Update(c, castagnoli, bucket)
	var n [4]byte // the key's length keeps key and payload apart
	binary.LittleEndian.PutUint32(n[:], uint32(len(key)))
	c = crc32.Update(c, castagnoli, n[:])
	c = crc32.Update(c, castagnoli, key)
	return crc32.Update(c, castagnoli, payload)
}

// seal turns v into a stored value.
func seal(bucket, key []byte, v any) ([]byte, error) {
	payload, err := encode(v)
	if err != nil {
		return nil, err
	}
	b := make([]byte, valueHeader, valueHeader+len(payload))
	b[0], b[1] = valueVersion, codecJSON
	binary.LittleEndian.PutUint32(b[2:], sum(b[:2], bucket, key, payload))
	return append(b, payload...), nil
}

// unseal checks a stored value and decodes it into v. Nothing in v points into
// raw afterwards. Every error wraps ErrDamaged.
func unseal(bucket, key, raw []byte, v any) error {
	if len(raw) < valueHeader {
		return fmt.Errorf("%s: value of %d bytes is too short: %w", bucket, len(raw), ErrDamaged)
	}
	payload := raw[valueHeader:]
	if binary.LittleEndian.Uint32(raw[2:]) != sum(raw[:2], bucket, key, payload) {
		return fmt.Errorf("%s: checksum does not match: %w", bucket, ErrDamaged)
	}
	if raw[0] != valueVersion || raw[1] != codecJSON {
		return fmt.Errorf("%s: value version %d, codec %d is unknown: %w", bucket, raw[0], raw[1], ErrDamaged)
	}
	if err := json.Unmarshal(payload, v); err != nil {
		return fmt.Errorf("%s: %w: %w", bucket, ErrDamaged, err)
	}
	return nil
}
