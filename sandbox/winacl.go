package sandbox

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// Windows keeps an access list as bytes: a header of eight (revision, a zero,
// the size in two, the number of entries in two, two zeros), then the entries,
// each with a type, flags, its size in two bytes, the rights in four and whom it
// is about. It is worked on here as bytes, so that it can be tested anywhere.

const (
	aclHeader = 8
	aceHeader = 8 // with the rights

	aceAllow = 0
	aceDeny  = 1

	aceToFiles     = 0x01 // files made in the folder get it
	aceToFolders   = 0x02
	aceOnlyBelow   = 0x08 // it does not apply to the folder itself
	aceFromFolder  = 0x10 // it came from the folder above
	aceAllNewBelow = aceToFiles | aceToFolders
)

// Rights to files and folders. Modify lacks three of "full control": to change
// access lists, to become the owner, and to delete what lies in a folder without
// a right to that itself; the last is what keeps protected places in place.
const (
	rightsRead   = 0x1200A9 // and execute
	rightsModify = 0x1301BF
	rightDelete  = 0x010000

	genericRead    = 0x80000000
	genericExecute = 0x20000000
	genericAll     = 0x10000000
)

// appPackages is ALL APPLICATION PACKAGES, S-1-15-2-1: every container.
var appPackages = []byte{1, 2, 0, 0, 0, 0, 0, 15, 2, 0, 0, 0, 1, 0, 0, 0}

var errACL = errors.New("its access list is not understood")

// An aclEntry allows rights.
type aclEntry struct {
	flags  byte
	rights uint32
}

// aclSplit returns the entries of a list.
func aclSplit(acl []byte) ([][]byte, error) {
	if len(acl) < aclHeader {
		return nil, errACL
	}
	rest := acl[aclHeader:]
	var out [][]byte
	for range binary.LittleEndian.Uint16(acl[4:]) {
		if len(rest) < aceHeader {
			return nil, errACL
		}
		n := int(binary.LittleEndian.Uint16(rest[2:]))
		if n < aceHeader || n > len(rest) {
			return nil, errACL
		}
		out, rest = append(out, rest[:n]), rest[n:]
	}
	return out, nil
}

func aclJoin(revision byte, entries [][]byte) ([]byte, error) {
	out := make([]byte, aclHeader)
	for _, e := range entries {
		out = append(out, e...)
	}
	if len(out) > 0xFFFF {
		return nil, errors.New("its access list is full")
	}
	out[0] = revision
	binary.LittleEndian.PutUint16(out[2:], uint16(len(out)))
	binary.LittleEndian.PutUint16(out[4:], uint16(len(entries)))
	return out, nil
}

// aboutSID reports whether a plain entry, one that allows or denies, is about sid.
func aboutSID(entry, sid []byte) bool {
	return (entry[0] == aceAllow || entry[0] == aceDeny) && slices.Equal(entry[aceHeader:], sid)
}

// aclRevoke returns acl without the entries about sid, and whether there were any.
func aclRevoke(acl, sid []byte) ([]byte, bool, error) {
	entries, err := aclSplit(acl)
	if err != nil {
		return nil, false, err
	}
	kept := slices.DeleteFunc(slices.Clone(entries), func(e []byte) bool { return aboutSID(e, sid) })
	if len(kept) == len(entries) {
		return acl, false, nil
	}
	out, err := aclJoin(acl[0], kept)
	return out, true, err
}

// aclGrant returns acl with the entries for sid in the place of those that it
// had: behind what was set on the object itself, before what it has from its
// folder, as Windows orders them.
func aclGrant(acl, sid []byte, grant []aclEntry) ([]byte, error) {
	acl, _, err := aclRevoke(acl, sid)
	if err != nil {
		return nil, err
	}
	entries, err := aclSplit(acl)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(entries, func(e []byte) bool { return e[1]&aceFromFolder != 0 })
	if at < 0 {
		at = len(entries)
	}
	for i, g := range grant {
		e := []byte{aceAllow, g.flags}
		e = binary.LittleEndian.AppendUint16(e, uint16(aceHeader+len(sid)))
		e = binary.LittleEndian.AppendUint32(e, g.rights)
		entries = slices.Insert(entries, at+i, append(e, sid...))
	}
	return aclJoin(acl[0], entries)
}

// aclReadable reports whether every container may read and execute the object
// and, with folder, what lies in it by inheritance.
func aclReadable(acl []byte, folder bool) bool {
	entries, err := aclSplit(acl)
	if err != nil {
		return false
	}
	var here, below uint32
	for _, e := range entries {
		if !aboutSID(e, appPackages) {
			continue
		}
		if e[0] == aceDeny {
			return false
		}
		rights := binary.LittleEndian.Uint32(e[4:])
		if rights&genericAll != 0 || rights&(genericRead|genericExecute) == genericRead|genericExecute {
			rights |= rightsRead
		}
		if e[1]&aceOnlyBelow == 0 {
			here |= rights
		}
		if e[1]&aceAllNewBelow == aceAllNewBelow {
			below |= rights
		}
	}
	return here&rightsRead == rightsRead && (!folder || below&rightsRead == rightsRead)
}

// A grantKind is what a container may do with one object.
type grantKind int

const (
	grantRead  grantKind = iota // and execute
	grantWrite                  // and rename, and delete
	grantStay                   // write, but neither rename nor delete it
)

// entries are those of one object.
func (k grantKind) entries(folder bool) []aclEntry {
	switch {
	case k == grantRead && folder:
		return []aclEntry{{aceAllNewBelow, rightsRead}}
	case k == grantRead:
		return []aclEntry{{0, rightsRead}}
	case k == grantStay && folder:
		return []aclEntry{{0, rightsModify &^ rightDelete}, {aceAllNewBelow | aceOnlyBelow, rightsModify}}
	case k == grantStay:
		return []aclEntry{{0, rightsModify &^ rightDelete}}
	case folder:
		return []aclEntry{{aceAllNewBelow, rightsModify}}
	}
	return []aclEntry{{0, rightsModify}}
}

// A treeGrant is a tree that a container gets.
type treeGrant struct {
	path   string
	write  bool
	places []string // in a writable one: what stays as it is
}

// planGrants puts the trees of a policy into the order in which they are granted,
// so that one that lies in another has the last word. protected is what must stay
// as it is in each writable tree.
func planGrants(read, write []string, protected map[string][]string) []treeGrant {
	var out []treeGrant
	for _, r := range read {
		out = append(out, treeGrant{path: r})
	}
	for _, w := range write {
		g := treeGrant{path: w, write: true, places: slices.Clone(protected[w])}
		for _, r := range read {
			if winWithin(r, w) && !strings.EqualFold(r, w) {
				g.places = append(g.places, r)
			}
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b treeGrant) int { return cmp.Compare(len(a.path), len(b.path)) })
	return out
}

// kind is what the container may do with path, which is the tree or lies in it.
// Folders on the way to a place that stays as it is stay where they are, and so
// does the tree itself.
func (g treeGrant) kind(path string) grantKind {
	if !g.write {
		return grantRead
	}
	kind := grantWrite
	if strings.EqualFold(path, g.path) {
		kind = grantStay
	}
	for _, p := range g.places {
		if winWithin(path, p) {
			return grantRead
		}
		if winWithin(p, path) {
			kind = grantStay
		}
	}
	return kind
}
