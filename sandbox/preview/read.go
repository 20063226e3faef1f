package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Read makes the card of the file or the folder at path. The error is that of opening the
// file or of ctx; what is wrong with the content is in the card.
//
// encoding is empty, or what a person chose from [Card.Encodings]; it is used
// for text without being questioned.
func Read(ctx context.Context, path, encoding string) (Card, error) {
	return read(ctx, path, encoding, &pass{})
}

func read(ctx context.Context, path, encoding string, p *pass) (Card, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Card{}, fmt.Errorf("read %s: %w", path, err)
	}
	if st.IsDir() {
		return readFolder(ctx, path)
	}
	if !st.Mode().IsRegular() {
		return Card{}, fmt.Errorf("read %s: %w", path, ErrNotFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return Card{}, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	return readAt(ctx, f, st.Size(), filepath.Base(path), encoding, p)
}

// ErrEncoding means that the chosen encoding is not one that a card offers.
var ErrEncoding = errors.New("encoding is not known")

// ErrNotFile means that the path is a device, a pipe or the like.
var ErrNotFile = errors.New("not a file")

// ReadAt makes the card of a file of size bytes; its name helps only where the
// content leaves a choice.
func ReadAt(ctx context.Context, r io.ReaderAt, size int64, name, encoding string) (Card, error) {
	return readAt(ctx, r, size, name, encoding, &pass{})
}

func readAt(ctx context.Context, r io.ReaderAt, size int64, name, encoding string, p *pass) (Card, error) {
	c := Card{Name: name, Size: size, pass: p}
	s := source{r, size}
	if encoding != "" && !slices.Contains(encodings[:], encoding) {
		return c, fmt.Errorf("read %s: %w: %q", name, ErrEncoding, encoding)
	}
	if err := c.read(ctx, s, encoding); err != nil {
		return c, fmt.Errorf("read %s: %w", name, err)
	}
	c.Load = c.load()
	return c, nil
}

func (c *Card) read(ctx context.Context, s source, encoding string) error {
	if s.size == 0 {
		c.Kind, c.RowsExact = Empty, true
		c.problem("the file is empty (0 bytes)")
		return nil
	}
	head, err := s.at(0, 64<<10)
	if err != nil {
		return err
	}
	ext := strings.ToLower(filepath.Ext(c.Name))
	if done, err := c.magic(ctx, s, head, ext); done || err != nil {
		return err
	}
	var cs charset
	if encoding != "" {
		cs = chosen(encoding, head)
	} else {
		cs, err = findCharset(ctx, s)
	}
	if err != nil {
		return err
	}
	if cs.name == "" {
		c.binary(head, ext)
		return nil
	}
	c.charset(cs)
	return c.text(ctx, s, cs, ext)
}

// charset notes how the text is encoded and what is uncertain about it.
func (c *Card) charset(cs charset) {
	c.Encoding, c.EncodingWas, c.Encodings, c.Replace = cs.name, cs.by, cs.others, cs.stray
	if len(cs.others) > 0 {
		c.problem("the encoding is a guess (%s); %s would fit too: check words with special letters", cs.name, strings.Join(cs.others, ", "))
	}
	if cs.nul {
		c.problem("there are NUL bytes in the text")
	}
	if cs.stray {
		c.problem("some bytes are not valid %s; they are replaced by \ufffd", cs.name)
	}
}
