package cells

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"atoll/app/boundary"
	"atoll/sandbox"
	"atoll/sandbox/kernel"
	"atoll/storage"
)

// maxHashed is the size in bytes of an attached file that is still hashed: half
// a second's work.
const maxHashed = 256 << 20

// hashed is the hash of a file as it was.
type hashed struct {
	size     int64
	modified time.Time
	sha256   string
}

// receipt says what a run was allowed, refused and used. The caller holds c.mu.
func (s *Service) receipt(ctx context.Context, c *chat, res kernel.Result, files []storage.File) *storage.Receipt {
	r := Receipt(c.policy, res)
	r.Level, r.Inputs = s.Runner.Level(ctx).Name, s.inputs(c)
	for _, f := range files {
		r.Outputs = append(r.Outputs, storage.FileHash{Name: f.Name, SHA256: f.Blob, Size: f.Size})
	}
	return r
}

// Receipt is what a run says of itself and the boundary of it, without the level
// and the files.
func Receipt(p storage.ChatPolicy, res kernel.Result) *storage.Receipt {
	r := &storage.Receipt{
		Preset: p.Preset, Layers: []string{}, Denials: []storage.Denial{}, Inputs: []storage.FileHash{}, Outputs: []storage.FileHash{},
	}
	r.Usage = storage.RunUsage{Wall: res.Took.Seconds(), Hosts: []string{}}
	var seen []sandbox.Denial
	if rec := res.Record; rec != nil {
		u := rec.Usage
		r.Layers = append(r.Layers, rec.Layers...)
		r.Usage = storage.RunUsage{
			Wall: res.Took.Seconds(), CPU: u.CPU.Seconds(), Memory: u.Memory, Procs: u.Procs, Written: u.Written,
			Sent: u.Sent, Received: u.Received, Hosts: append(r.Usage.Hosts, u.Hosts...),
		}
		seen = rec.Denials
	}
	if e := res.Error; e != nil && e.Name == "MemoryError" { // the system refused it, and tells nobody else
		res.Tried = append(slices.Clone(res.Tried), sandbox.Denial{Kind: "limit", What: "memory", Layer: kernel.SaidByProgram, Count: 1})
	}
	for _, d := range append(seen, res.Tried...) {
		if !told(seen, d) {
			r.Denials = append(r.Denials, storage.Denial{Kind: d.Kind, What: d.What, Layer: d.Layer, Count: d.Count})
		}
	}
	if res.Exit != nil {
		r.Exit = res.Note
	}
	r.Explained = Explain(p, r.Denials)
	return r
}

// told reports whether what a program says about a host was seen by the boundary
// itself.
func told(seen []sandbox.Denial, d sandbox.Denial) bool {
	if d.Layer != kernel.SaidByProgram || d.Kind != "network" {
		return false
	}
	for _, x := range seen {
		if host, _, err := net.SplitHostPort(x.What); x.Layer == "proxy" || err == nil && x.Kind == "network" && host == d.What {
			return true
		}
	}
	return false
}

// inputs are the attached files with their hashes.
func (s *Service) inputs(c *chat) []storage.FileHash {
	out := []storage.FileHash{}
	if c.hashes == nil {
		c.hashes = map[string]hashed{}
	}
	for _, name := range c.ws.Attached() {
		f, err := c.ws.OpenOriginal(name)
		if err != nil {
			out = append(out, storage.FileHash{Name: name})
			continue
		}
		h, err := hash(f, c.hashes[name])
		f.Close()
		if err != nil { // the name alone still says that it was there
			h = hashed{}
		}
		c.hashes[name] = h
		out = append(out, storage.FileHash{Name: name, SHA256: h.sha256, Size: h.size})
	}
	return out
}

// Hash names the content of an open file.
func Hash(name string, f *os.File) storage.FileHash {
	h, err := hash(f, hashed{})
	if err != nil { // the name alone still says that it was there
		return storage.FileHash{Name: name}
	}
	return storage.FileHash{Name: name, SHA256: h.sha256, Size: h.size}
}

// hash returns known again when the file is as it was then.
func hash(f *os.File, known hashed) (hashed, error) {
	st, err := f.Stat()
	if err != nil {
		return hashed{}, err
	}
	h := hashed{size: st.Size(), modified: st.ModTime()}
	switch {
	case known.size == h.size && known.modified.Equal(h.modified) && known.sha256 != "":
		return known, nil
	case h.size > maxHashed:
		return h, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return hashed{}, fmt.Errorf("hash %s: %w", f.Name(), err)
	}
	h.sha256 = hex.EncodeToString(sum.Sum(nil))
	return h, nil
}

// maxExplained bounds the sentences about one run.
const maxExplained = 8

// Explain says denials in sentences, for people and for the model.
func Explain(p storage.ChatPolicy, ds []storage.Denial) []string {
	out := []string{}
	for _, d := range ds {
		s := ""
		switch {
		case d.Kind == "network" && p.Preset != boundary.Network:
			s = fmt.Sprintf("The network is off in this chat: %s was not reached.", d.What)
		case d.Kind == "network" && d.Layer != "proxy":
			s = fmt.Sprintf("%s was not reached: in this chat programs connect through the proxy that their environment names (HTTP and HTTPS), and in no other way.", d.What)
		case d.Kind == "network":
			s = fmt.Sprintf("%s was not reached: it is not among the hosts that this chat may reach.", d.What)
		case d.Kind == "file":
			s = fmt.Sprintf("%s cannot be seen by the code of this chat; attached files lie in its working folder under their names.", d.What)
		case d.Kind == "limit":
			s = fmt.Sprintf("The limit of %s was reached.", d.What)
		default:
			s = fmt.Sprintf("The system call %s is not allowed.", d.What)
		}
		if d.Count > 1 {
			s = fmt.Sprintf("%s (%d times)", s, d.Count)
		}
		if len(out) == maxExplained {
			return append(out, fmt.Sprintf("%d further things were refused.", len(ds)-maxExplained))
		}
		out = append(out, s)
	}
	return out
}
