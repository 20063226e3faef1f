package sandbox

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	userenv              = windows.NewLazySystemDLL("userenv.dll")
	procCreateContainer  = userenv.NewProc("CreateAppContainerProfile")
	procDeleteContainer  = userenv.NewProc("DeleteAppContainerProfile")
	procDeriveContainer  = userenv.NewProc("DeriveAppContainerSidFromAppContainerName")
	procFolderContainer  = userenv.NewProc("GetAppContainerFolderPath")
	errNoContainers      = errors.New("this Windows has no AppContainers")
	containerDescription = "A program that Atoll runs. It is removed when the program has ended."
)

// A container is an AppContainer: an identity that nothing on the machine lets
// in but what was granted to it. Each run has one of its own, so that two runs
// can do nothing to each other, and what a crash may leave granted is granted to
// nobody that will ever exist again.
type container struct {
	name string
	sid  *windows.SID
	text string // of sid
}

// newContainer derives the identity; nothing is made yet.
func newContainer() (container, error) {
	return containerOf(containerPrefix + hex.EncodeToString(secretBytes()[:16]))
}

func containerOf(name string) (container, error) {
	for _, p := range []*windows.LazyProc{procCreateContainer, procDeleteContainer, procDeriveContainer, procFolderContainer} {
		if p.Find() != nil {
			return container{}, errNoContainers
		}
	}
	n, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return container{}, err
	}
	var theirs *windows.SID
	if hr, _, _ := procDeriveContainer.Call(uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(&theirs))); hr != 0 {
		return container{}, resultError("name container", hr)
	}
	sid, err := theirs.Copy()
	// It cannot fail for an identifier that was just made, and would leak a few bytes.
	_ = windows.FreeSid(theirs)
	if err != nil {
		return container{}, fmt.Errorf("name container: %w", err)
	}
	c := container{name: name, sid: sid, text: sid.String()}
	if !containerSID(c.text) {
		return container{}, fmt.Errorf("name container: %s is not what a container is called", c.text)
	}
	return c, nil
}

// bytes are the identifier as access lists have it.
func (c container) bytes() []byte {
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(c.sid)), c.sid.Len())...)
}

// make makes the profile: the container's own folder and registry.
func (c container) make() error {
	n, err := windows.UTF16PtrFromString(c.name)
	if err != nil {
		return err
	}
	d, err := windows.UTF16PtrFromString(containerDescription)
	if err != nil {
		return err
	}
	var sid *windows.SID
	hr, _, _ := procCreateContainer.Call(uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(d)), 0, 0, uintptr(unsafe.Pointer(&sid)))
	if hr != 0 {
		return resultError("make container", hr)
	}
	same := sid.Equals(c.sid)
	_ = windows.FreeSid(sid) // as above
	if !same {
		return errors.New("make container: it is called otherwise than its name says")
	}
	return nil
}

// remove takes the profile away with all that is in its folder. It is no error
// when there is none.
func (c container) remove() error {
	n, err := windows.UTF16PtrFromString(c.name)
	if err != nil {
		return err
	}
	if hr, _, _ := procDeleteContainer.Call(uintptr(unsafe.Pointer(n))); hr != 0 {
		return resultError("remove container", hr)
	}
	return nil
}

// temp is the container's own place for temporary files, and folder all that it
// may write to in its profile.
func (c container) temp() (temp, folder string, err error) {
	s, err := windows.UTF16PtrFromString(c.text)
	if err != nil {
		return "", "", err
	}
	var at *uint16
	if hr, _, _ := procFolderContainer.Call(uintptr(unsafe.Pointer(s)), uintptr(unsafe.Pointer(&at))); hr != 0 {
		return "", "", resultError("find folder of container", hr)
	}
	defer windows.CoTaskMemFree(unsafe.Pointer(at))
	folder = windows.UTF16PtrToString(at)
	temp = filepath.Join(folder, "Temp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return "", "", err
	}
	return temp, folder, nil
}

// resultError says what an HRESULT means.
func resultError(what string, hr uintptr) error {
	const fromWin32 = 0x80070000
	if code := uint32(hr); code&0xFFFF0000 == fromWin32 {
		return fmt.Errorf("%s: %w", what, windows.Errno(code&0xFFFF))
	}
	return fmt.Errorf("%s: error 0x%08x", what, uint32(hr))
}
