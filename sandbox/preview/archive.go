package preview

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const (
	archiveEntries = 20       // listed in a card
	tarEntries     = 100_000  // looked at
	tarUnpacked    = 64 << 20 // bytes of a packed archive
)

// A listing is the summary of what an archive or a folder holds.
type listing struct {
	files, folders int64
	size           int64
	kinds          map[string]*kindCount
	first          []string
}

type kindCount struct {
	ext  string
	n    int64
	size int64
}

func (l *listing) add(name string, size int64) {
	l.files++
	l.size += max(0, size)
	if l.kinds == nil {
		l.kinds = map[string]*kindCount{}
	}
	ext := strings.ToLower(path.Ext(name))
	if len(ext) > 12 || ext == "" {
		ext = "no ending"
	}
	k := l.kinds[ext]
	if k == nil {
		if len(l.kinds) == 1000 {
			return
		}
		k = &kindCount{ext: ext}
		l.kinds[ext] = k
	}
	k.n++
	k.size += max(0, size)
	if len(l.first) < archiveEntries {
		l.first = append(l.first, fmt.Sprintf("entry %s, %s", shown(name, 100), sizeText(size)))
	}
}

// kindsText names the most frequent kinds of files.
func (l *listing) kindsText() string {
	var ks []*kindCount
	for _, k := range l.kinds {
		ks = append(ks, k)
	}
	slices.SortFunc(ks, func(a, b *kindCount) int {
		if a.n != b.n {
			return int(max(-1, min(1, b.n-a.n)))
		}
		return strings.Compare(a.ext, b.ext)
	})
	var p []string
	for _, k := range ks[:min(len(ks), 8)] {
		p = append(p, fmt.Sprintf("%d %s (%s)", k.n, shown(k.ext, 12), sizeText(k.size)))
	}
	s := strings.Join(p, ", ")
	if n := len(ks) - len(p); n > 0 {
		s += fmt.Sprintf(" and %d more kinds", n)
	}
	return s
}

// show puts the listing into the card.
func (c *Card) show(l *listing) {
	if l.files > 3 {
		c.Detail = append(c.Detail, "kinds: "+l.kindsText())
	}
	c.Detail = append(c.Detail, l.first...)
	if more := l.files - int64(len(l.first)); more > 0 {
		c.Detail = append(c.Detail, "and "+countOf(more, "more entry", "more entries"))
	}
}

// outside warns of an entry that would be unpacked somewhere else.
func (c *Card) outside(name, how string) {
	if slices.Contains(strings.Split(name, "/"), "..") || strings.HasPrefix(name, "/") || strings.Contains(name, `\`) {
		c.warn("the archive has entries that point outside of it; unpack it only with %s", how)
	}
}

// tar lists a TAR archive; r is what of it can be read, packed the size of the
// file.
func (c *Card) tar(ctx context.Context, r io.Reader, packed int64) {
	c.Kind, c.RowsExact = TAR, true
	t := tar.NewReader(r)
	var l listing
	for l.files+l.folders < tarEntries && ctx.Err() == nil {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			c.RowsExact = false
			c.problem("the archive is damaged, or larger than was looked at, after %s", countOf(l.files, "entry", "entries"))
			break
		}
		c.outside(h.Name, `tarfile.extractall(filter="data")`)
		switch h.Typeflag {
		case tar.TypeDir:
			l.folders++
		case tar.TypeSymlink, tar.TypeLink:
			c.outside(h.Linkname, `tarfile.extractall(filter="data")`)
			l.add(h.Name, 0)
		case tar.TypeReg:
			l.add(h.Name, h.Size)
		default:
			c.warn("the archive has devices or other special entries")
		}
	}
	if l.files+l.folders == tarEntries {
		c.RowsExact = false
	}
	if l.size > 1<<30 && l.size/1000 > packed {
		c.warn("the archive unpacks to %s, far more than its size; it may be made to fill the disk", sizeText(l.size))
	}
	c.Rows = l.files
	c.show(&l)
}

// packed looks into a file that one program has compressed as a whole.
func (c *Card) packed(ctx context.Context, s source, open func(io.Reader) (io.Reader, error), name string) {
	c.Kind = GZip
	start := func() io.Reader {
		r, err := open(io.NewSectionReader(s.r, 0, s.size))
		if err != nil {
			return bytes.NewReader(nil)
		}
		return io.LimitReader(r, tarUnpacked)
	}
	b, _ := io.ReadAll(io.LimitReader(start(), 64<<10))
	if len(b) == 0 {
		c.problem("the %s file is damaged", name)
		return
	}
	if isTar(b) {
		c.tar(ctx, start(), s.size)
		return
	}
	if c.packedTable(ctx, s, open, name) {
		return
	}
	var t tally
	t.add(b, len(b) < 64<<10)
	cs := t.charset()
	if cs.name == "" {
		c.Detail = append(c.Detail, "what is inside is not text")
		return
	}
	c.charset(cs)
	text, _ := cs.decode(b)
	for i, l := range bytes.SplitN(text, []byte{'\n'}, 6) {
		if i < 5 && len(l) > 0 {
			c.Quotes = append(c.Quotes, fmt.Sprintf("line %d inside: %s", i+1, shown(string(bytes.TrimRight(l, "\r")), 160)))
		}
	}
}

// packedTable makes the card of a table in a compressed file, from its head;
// pandas unpacks it by itself.
func (c *Card) packedTable(ctx context.Context, s source, open func(io.Reader) (io.Reader, error), name string) bool {
	inner := strings.TrimSuffix(c.Name, path.Ext(c.Name))
	switch strings.ToLower(path.Ext(inner)) {
	case ".csv", ".tsv", ".tab", ".txt":
	default:
		return false
	}
	file := io.NewSectionReader(s.r, 0, s.size)
	r, err := open(file)
	if err != nil {
		return false
	}
	b, err := io.ReadAll(io.LimitReader(r, wholeBytes))
	more := err == nil && len(b) == wholeBytes
	taken, _ := file.Seek(0, io.SeekCurrent) // what the unpacking took of the file
	b = cutLine(b, more)
	sub := Card{Name: inner, Size: int64(len(b)), pass: &pass{}}
	if sub.read(ctx, source{bytes.NewReader(b), int64(len(b))}, "") != nil || sub.Kind != CSV && sub.Kind != TSV {
		return false
	}
	sub.Name, sub.Size, sub.pass = c.Name, c.Size, c.pass
	if sub.Compression = name; name == "bzip2" {
		sub.Compression = "bz2" // as pandas calls it
	}
	if err != nil {
		sub.problem("the %s file is damaged after %s", name, sizeText(int64(len(b))))
	}
	if more {
		sub.RowsExact, sub.Sampled = false, true
		sub.Rows = int64(float64(sub.Rows) / float64(max(taken, 1)) * float64(s.size))
		sub.problem("types and ranges come from the first %s inside; check them after loading", sizeText(int64(len(b))))
	}
	*c = sub
	return true
}

func isTar(b []byte) bool { return len(b) > 262 && string(b[257:262]) == "ustar" }

func gunzip(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }

func bunzip(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }
