package sandbox

import (
	"errors"
	"testing"
)

func TestWinPlaces(t *testing.T) {
	env := map[string]string{
		"USERPROFILE": `C:\Users\Ana`, "SystemRoot": `C:\Windows`, "ProgramFiles": `C:\Program Files`,
		"ProgramFiles(x86)": `C:\Program Files (x86)`, "ProgramData": `C:\ProgramData`, "PUBLIC": `C:\Users\Public`,
	}
	w := newWinPlaces(func(name string) string { return env[name] })
	for path, want := range map[string]struct{ read, write bool }{
		`C:\Users\Ana\project`:               {true, true},
		`c:\users\ana\Documents\Ein Projekt`: {true, true},
		`D:\data`:                            {true, true},
		`C:\ProgramData\atoll\chat`:          {true, true},
		`C:\Users\Ana\AppData\Local\atoll\x`: {true, true},
		`C:\Program Files\Python313`:         {true, false},
		`C:\PROGRAM FILES (X86)\x`:           {true, false},
		`C:\Windows\Temp`:                    {true, false},
		`C:\Program Files2`:                  {true, true},
		`C:\`:                                {},
		`D:\`:                                {},
		`C:\Users`:                           {},
		`C:\users\ANA`:                       {},
		`C:\Users\Ana\AppData`:               {},
		`C:\Users\Ana\AppData\local\TEMP`:    {},
		`C:\ProgramData`:                     {},
		`C:\Users\Public`:                    {},
		`C:\Users\Ana\AppData\Roaming\Microsoft\Windows\x`: {true, false},
		`\\server\share\x`: {},
		`\\?\C:\x`:         {},
		`\\.\C:\x`:         {},
		`C:x`:              {},
		`\x`:               {},
		`C:\x:stream`:      {},
		`C:\x\..\Windows`:  {},
		`C:\Windows.\x`:    {},
		`C:\x `:            {},
		`C:\x\nul`:         {},
		`C:\x\Com1.txt`:    {},
		`C:\x\common`:      {true, true},
		`C:\x\`:            {},
		`C:\x/y`:           {},
		``:                 {},
	} {
		for _, write := range []bool{false, true} {
			ok := want.read
			if write {
				ok = want.write
			}
			err := w.check(path, write)
			if ok != (err == nil) {
				t.Errorf("%q, write %v: %v", path, write, err)
			}
			if err != nil && !errors.Is(err, ErrPolicy) {
				t.Errorf("%q: %v is no ErrPolicy", path, err)
			}
		}
	}
	if !w.isSystem(`c:\windows\System32`) || w.isSystem(`C:\Windows2`) {
		t.Error("what belongs to the system")
	}
}
