package sandbox

import (
	"bytes"
	"encoding/binary"
	"testing"
)

var (
	someSID  = []byte{1, 2, 0, 0, 0, 0, 0, 15, 2, 0, 0, 0, 9, 9, 9, 9}
	everyone = []byte{1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}
)

// ace is one entry of a list.
func ace(kind, flags byte, rights uint32, sid []byte) []byte {
	e := []byte{kind, flags}
	e = binary.LittleEndian.AppendUint16(e, uint16(8+len(sid)))
	return append(binary.LittleEndian.AppendUint32(e, rights), sid...)
}

func aclOf(t *testing.T, entries ...[]byte) []byte {
	t.Helper()
	acl, err := aclJoin(2, entries)
	if err != nil {
		t.Fatal(err)
	}
	return acl
}

func TestACLGrantAndRevoke(t *testing.T) {
	deny := ace(aceDeny, 0, rightDelete, everyone)
	own := ace(aceAllow, 0, rightsRead, everyone)
	inherited := ace(aceAllow, aceFromFolder, rightsModify, everyone)
	strange := []byte{5, 0, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8} // about objects of a directory service
	for name, entries := range map[string][][]byte{
		"empty":         nil,
		"own":           {deny, own},
		"inherited":     {inherited},
		"both":          {deny, own, inherited, inherited},
		"strange entry": {strange, own, inherited},
	} {
		t.Run(name, func(t *testing.T) {
			acl := aclOf(t, entries...)
			granted, err := aclGrant(acl, someSID, grantStay.entries(true))
			if err != nil {
				t.Fatal(err)
			}
			got, err := aclSplit(granted)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(entries)+2 {
				t.Fatalf("%d entries", len(got))
			}
			late := false
			for _, e := range got {
				if e[1]&aceFromFolder != 0 {
					late = true
				} else if late {
					t.Error("an entry of the object's own comes after inherited ones")
				}
			}
			twice, err := aclGrant(granted, someSID, grantRead.entries(true))
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := aclSplit(twice); len(got) != len(entries)+1 {
				t.Errorf("a second grant does not replace the first: %d entries", len(got))
			}
			back, changed, err := aclRevoke(granted, someSID)
			if err != nil || !changed || !bytes.Equal(back, acl) {
				t.Errorf("revoked: %x, %v, %v; want %x", back, changed, err, acl)
			}
			if _, changed, err := aclRevoke(acl, someSID); changed || err != nil {
				t.Errorf("nothing to revoke: %v, %v", changed, err)
			}
		})
	}
}

func TestACLRevokeTakesWhatNewFilesGot(t *testing.T) {
	acl := aclOf(t, ace(aceAllow, aceFromFolder, rightsModify, someSID), ace(aceAllow, aceFromFolder, rightsRead, everyone))
	back, changed, err := aclRevoke(acl, someSID)
	if err != nil || !changed || bytes.Contains(back, someSID) || !bytes.Contains(back, everyone) {
		t.Errorf("%x, %v, %v", back, changed, err)
	}
}

func TestACLDamaged(t *testing.T) {
	whole := aclOf(t, ace(aceAllow, 0, rightsRead, everyone))
	for n := range whole {
		if _, err := aclGrant(whole[:n], someSID, grantRead.entries(false)); err == nil {
			t.Errorf("the first %d bytes were taken for a list", n)
		}
	}
	small := bytes.Clone(whole)
	small[10] = 3 // size of the entry
	if _, _, err := aclRevoke(small, someSID); err == nil {
		t.Error("an entry smaller than its head was taken")
	}
	var many [][]byte
	for range 3000 {
		many = append(many, ace(aceAllow, 0, 1, everyone))
	}
	full := aclOf(t, many...)
	for err := error(nil); err == nil; {
		many = append(many, many[0])
		full, err = aclJoin(2, many)
	}
	if full != nil {
		t.Error("a list of more than 64 KiB was made")
	}
}

func TestACLReadable(t *testing.T) {
	below := ace(aceAllow, aceAllNewBelow|aceOnlyBelow, genericRead|genericExecute, appPackages)
	here := ace(aceAllow, 0, rightsRead, appPackages)
	for name, tt := range map[string]struct {
		entries      [][]byte
		file, folder bool
	}{
		"program files":      {[][]byte{here, below}, true, true},
		"folder only":        {[][]byte{here}, true, false},
		"only what is below": {[][]byte{below}, false, false},
		"inherited":          {[][]byte{ace(aceAllow, aceAllNewBelow|aceFromFolder, rightsRead, appPackages)}, true, true},
		"everyone only":      {[][]byte{ace(aceAllow, aceAllNewBelow, rightsRead, everyone)}, false, false},
		"no execute":         {[][]byte{ace(aceAllow, aceAllNewBelow, 0x120089, appPackages)}, false, false},
		"denied":             {[][]byte{ace(aceDeny, 0, 1, appPackages), here, below}, false, false},
		"all rights":         {[][]byte{ace(aceAllow, aceAllNewBelow, genericAll, appPackages)}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			acl := aclOf(t, tt.entries...)
			if got := aclReadable(acl, false); got != tt.file {
				t.Errorf("file: %v", got)
			}
			if got := aclReadable(acl, true); got != tt.folder {
				t.Errorf("folder: %v", got)
			}
		})
	}
}

func TestPlanGrants(t *testing.T) {
	plan := planGrants(
		[]string{`C:\p\data`, `C:\python`, `C:\q`},
		[]string{`C:\p`, `C:\p\data\out`, `C:\q`},
		map[string][]string{`C:\p`: {`C:\p\.git`, `C:\p\sub\deep\.vscode`}},
	)
	if len(plan) != 6 {
		t.Fatalf("%+v", plan)
	}
	for path, want := range map[string]grantKind{
		`C:\p`: grantStay, `C:\p\.git`: grantRead, `C:\P\.GIT\hooks\x`: grantRead, `C:\p\.gitignore`: grantWrite,
		`C:\p\sub`: grantStay, `C:\p\sub\deep`: grantStay, `C:\p\sub\deep\.vscode`: grantRead, `C:\p\sub\other`: grantWrite,
		`C:\p\data`: grantRead, `C:\p\data\x`: grantRead, `C:\p\data\out`: grantStay, `C:\p\data\out\x`: grantWrite,
		`C:\python\Lib\x.py`: grantRead, `C:\q`: grantStay, `C:\q\x`: grantWrite,
	} {
		got := grantKind(-1)
		for _, g := range plan { // the last one counts
			if winWithin(path, g.path) {
				got = g.kind(path)
			}
		}
		if got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

func TestGrantKinds(t *testing.T) {
	for _, e := range grantStay.entries(true) {
		if e.flags&aceOnlyBelow == 0 && e.rights&rightDelete != 0 {
			t.Error("a folder that must stay can be deleted")
		}
	}
	const deleteChild, writeDAC, writeOwner = 0x40, 0x40000, 0x80000
	for _, k := range []grantKind{grantRead, grantWrite, grantStay} {
		for _, e := range append(k.entries(true), k.entries(false)...) {
			if e.rights&(deleteChild|writeDAC|writeOwner) != 0 {
				t.Errorf("kind %d grants %x", k, e.rights)
			}
			if k == grantRead && e.rights&0x156 != 0 { // any way of writing
				t.Errorf("reading grants %x", e.rights)
			}
		}
	}
}
