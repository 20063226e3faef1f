package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

// An aclWalk changes the access lists of a tree. It goes by handles from folder
// to folder and never through a link, so that a tree that a program has changed,
// or changes meanwhile, does not lead it elsewhere; that is also why Windows'
// own way of carrying lists down a tree is not used.
type aclWalk struct {
	ctx context.Context
	// change returns the new list of an object, nil when it stays.
	change func(path string, folder bool, acl []byte) ([]byte, error)
}

const (
	shareAll   = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	openNoLink = windows.FILE_OPEN_REPARSE_POINT | windows.FILE_OPEN_FOR_BACKUP_INTENT | windows.FILE_SYNCHRONOUS_IO_NONALERT
)

// errLink means that a tree is itself a link to somewhere else.
var errLink = errors.New("it is a link")

// openAt opens a name in a folder, an absolute path with no folder, and never
// what a link leads to. An empty name opens the folder anew.
func openAt(folder windows.Handle, name string, access uint32) (windows.Handle, error) {
	if folder == 0 {
		name = `\??\` + name
	}
	u, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	oa := windows.OBJECT_ATTRIBUTES{RootDirectory: folder, ObjectName: u, Attributes: windows.OBJ_CASE_INSENSITIVE}
	oa.Length = uint32(unsafe.Sizeof(oa))
	var h windows.Handle
	var status windows.IO_STATUS_BLOCK
	err = windows.NtCreateFile(&h, access|windows.SYNCHRONIZE, &oa, &status, nil, 0, shareAll, windows.FILE_OPEN, openNoLink, 0, 0)
	if err != nil {
		var s windows.NTStatus
		if errors.As(err, &s) {
			err = s.Errno()
		}
		return 0, err
	}
	return h, nil
}

// tree changes a tree, from its root down.
func (w aclWalk) tree(root string) error {
	h, err := openAt(0, root, windows.READ_CONTROL|windows.WRITE_DAC|windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return w.object(h, root, true)
}

func (w aclWalk) object(h windows.Handle, path string, root bool) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	folder, link, err := kindOf(h)
	if err != nil {
		return err
	}
	if link {
		if root {
			return errLink
		}
		return nil
	}
	acl, control, err := readACL(h)
	if err != nil {
		return err
	}
	changed, err := w.change(path, folder, acl)
	if err != nil {
		return err
	}
	if changed != nil && !bytes.Equal(changed, acl) {
		if err := writeACL(h, changed, control); err != nil {
			return err
		}
	}
	if !folder {
		return nil
	}
	return w.below(h, path)
}

// below changes what lies in a folder. What is gone meanwhile, or belongs to
// somebody else, is left out: it was not granted before either.
func (w aclWalk) below(h windows.Handle, path string) error {
	lister, err := openAt(h, "", windows.FILE_LIST_DIRECTORY|windows.FILE_READ_ATTRIBUTES)
	if passable(err) {
		return nil
	}
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(lister), path)
	defer dir.Close()
	const atATime = 512
	for {
		names, err := dir.Readdirnames(atATime)
		for _, name := range names {
			child, err := openAt(h, name, windows.READ_CONTROL|windows.WRITE_DAC|windows.FILE_READ_ATTRIBUTES)
			if passable(err) {
				continue
			}
			if err == nil {
				err = w.object(child, path+`\`+name, false)
				windows.CloseHandle(child)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if errors.Is(err, io.EOF) || err == nil && len(names) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func passable(err error) bool { return gone(err) || errors.Is(err, windows.ERROR_ACCESS_DENIED) }

func gone(err error) bool {
	return errors.Is(err, windows.ERROR_FILE_NOT_FOUND) || errors.Is(err, windows.ERROR_PATH_NOT_FOUND) ||
		errors.Is(err, windows.ERROR_DELETE_PENDING)
}

// kindOf reports whether an object is a folder, and whether it stands for
// another one: a symbolic link or a junction. Files that the cloud keeps are
// marked in a like manner, but stand for themselves.
func kindOf(h windows.Handle) (folder, link bool, err error) {
	var info struct{ attributes, tag uint32 }
	err = windows.GetFileInformationByHandleEx(h, windows.FileAttributeTagInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	const standsFor = 0x20000000
	link = info.attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 && info.tag&standsFor != 0
	return info.attributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0, link, err
}

// readACL returns an object's list and what goes with it.
func readACL(h windows.Handle) ([]byte, windows.SECURITY_DESCRIPTOR_CONTROL, error) {
	sd, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, 0, fmt.Errorf("read access list: %w", err)
	}
	control, _, err := sd.Control()
	if err != nil {
		return nil, 0, fmt.Errorf("read access list: %w", err)
	}
	list, _, err := sd.DACL()
	if err != nil || list == nil {
		return nil, 0, errors.New("it has no access list, so that nothing on it can be forbidden (a disk with FAT?)")
	}
	head := unsafe.Slice((*byte)(unsafe.Pointer(list)), aclHeader)
	acl := bytes.Clone(unsafe.Slice((*byte)(unsafe.Pointer(list)), max(binary.LittleEndian.Uint16(head[2:]), aclHeader)))
	runtime.KeepAlive(sd)
	return acl, control, nil
}

// writeACL sets the list of one object and of nothing below it. What it has
// from the folder above keeps its mark, and it stays as open or closed to
// changes of that as it was.
func writeACL(h windows.Handle, acl []byte, control windows.SECURITY_DESCRIPTOR_CONTROL) error {
	sd, err := windows.NewSecurityDescriptor()
	if err != nil {
		return fmt.Errorf("write access list: %w", err)
	}
	if err := sd.SetDACL((*windows.ACL)(unsafe.Pointer(&acl[0])), true, false); err != nil {
		return fmt.Errorf("write access list: %w", err)
	}
	bits := control & windows.SE_DACL_PROTECTED
	if control&windows.SE_DACL_AUTO_INHERITED != 0 {
		// The system keeps the second only together with the first.
		bits |= windows.SE_DACL_AUTO_INHERIT_REQ | windows.SE_DACL_AUTO_INHERITED
	}
	const ours = windows.SE_DACL_PROTECTED | windows.SE_DACL_AUTO_INHERIT_REQ | windows.SE_DACL_AUTO_INHERITED
	if err := sd.SetControl(ours, bits); err != nil {
		return fmt.Errorf("write access list: %w", err)
	}
	err = windows.SetKernelObjectSecurity(h, windows.DACL_SECURITY_INFORMATION, sd)
	runtime.KeepAlive(acl)
	if err != nil {
		return fmt.Errorf("write access list: %w", err)
	}
	return nil
}

// readable reports whether every container may read path already.
func readable(path string) bool {
	h, err := openAt(0, path, windows.READ_CONTROL|windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	folder, link, err := kindOf(h)
	if err != nil || link {
		return false
	}
	acl, _, err := readACL(h)
	return err == nil && aclReadable(acl, folder)
}
