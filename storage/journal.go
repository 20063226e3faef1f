package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"time"
)

// A journal is the file of one draft:
//
//	"ATOLLDR1" | frame with the header as JSON | frames with chunks
//
// A frame is: length of the payload, 4 bytes little-endian; CRC-32C of the
// payload, 4 bytes little-endian; payload. A chunk's payload is: length of the
// kind, 1 byte; kind; text. A payload is never empty, so a tail of NULs, which
// a power cut may leave, is no frame.
const (
	journalMagic = "ATOLLDR1"
	journalExt   = ".draft"
	maxFrame     = 1 << 20
)

// A ChunkKind says what a piece of streamed text is.
type ChunkKind string

// The kinds that an interrupted answer is built from; others are kept in the
// journal but not in that answer.
const (
	TextChunk ChunkKind = "text" // prose
	CodeChunk ChunkKind = "code" // source of a call that is being written
)

// A Chunk is a piece of streamed text. Pieces may be cut inside a character.
type Chunk struct {
	Kind ChunkKind
	Text string
}

// A journalHeader says what the draft will become.
type journalHeader struct {
	ID     string    `json:"id"`
	Chat   string    `json:"chat"`
	Parent string    `json:"parent,omitempty"`
	At     time.Time `json:"at"`
}

// frame appends a frame with a payload to b.
func frame(b, payload []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	return append(b, payload...)
}

// chunkFrames appends the frames of a chunk to b, more than one for a long text.
func chunkFrames(b []byte, c Chunk) []byte {
	for text := c.Text; text != ""; {
		n := min(len(text), maxFrame-1-len(c.Kind))
		payload := append([]byte{byte(len(c.Kind))}, c.Kind...)
		b = frame(b, append(payload, text[:n]...))
		text = text[n:]
	}
	return b
}

// nextFrame splits the first frame off b; ok is unset at the end and where no
// whole and sound frame begins.
func nextFrame(b []byte) (payload, rest []byte, ok bool) {
	if len(b) < 8 {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint32(b)
	if n == 0 || n > maxFrame || uint64(n) > uint64(len(b)-8) {
		return nil, nil, false
	}
	payload, rest = b[8:8+n], b[8+n:]
	return payload, rest, crc32.Checksum(payload, castagnoli) == binary.LittleEndian.Uint32(b[4:])
}

// readJournal reads the journal in a file, see parseJournal.
func readJournal(path string) (h journalHeader, chunks []Chunk, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return h, nil, err
	}
	if h, chunks, err = parseJournal(b); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return h, chunks, err
}

// parseJournal reads a journal up to the first frame that is not sound: what
// follows was not yet on disk when the machine stopped. ErrDamaged means that
// not even the header is there.
func parseJournal(b []byte) (h journalHeader, chunks []Chunk, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(journalMagic))
	payload, rest, sound := nextFrame(rest)
	if !ok || !sound || json.Unmarshal(payload, &h) != nil || h.ID == "" || h.Chat == "" {
		return journalHeader{}, nil, fmt.Errorf("%w: no header", ErrDamaged)
	}
	for {
		if payload, rest, ok = nextFrame(rest); !ok {
			return h, chunks, nil
		}
		n := 1 + int(payload[0])
		if n > len(payload) {
			return h, chunks, nil
		}
		chunks = append(chunks, Chunk{Kind: ChunkKind(payload[1:n]), Text: string(payload[n:])})
	}
}

// interrupted builds the answer that a journal holds. Code of an unfinished
// call is shown as text: it was never run and must not look as if it could be.
func interrupted(chunks []Chunk) Assistant {
	var text, code strings.Builder
	for _, c := range chunks {
		switch c.Kind {
		case TextChunk:
			text.WriteString(c.Text)
		case CodeChunk:
			code.WriteString(c.Text)
		}
	}
	if code.Len() > 0 {
		fmt.Fprintf(&text, "\n\n```\n%s\n```\n", strings.TrimRight(code.String(), "\n"))
	}
	return Assistant{Text: strings.ToValidUTF8(text.String(), "\uFFFD"), Interrupted: true}
}
