package sandbox

import (
	"fmt"
	"syscall"
	"time"
)

// killed is the end of a tree that did not end by itself.
func killed(c Cause, detail string) Exit {
	return Exit{Code: 128 + int(syscall.SIGKILL), Signal: int(syscall.SIGKILL), Cause: c, Detail: detail}
}

// size writes bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%d MiB", (n+1<<19)>>20)
	}
}

// span writes a time for people.
func span(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// exitOf is the end of a program of Windows that ended by itself: with a small
// number, or with the number of an error that the system found in it.
func exitOf(code uint32) Exit {
	e := Exit{Code: int(code), Cause: Exited}
	const severe = 0xC0000000
	if code >= severe {
		e.Detail = fmt.Sprintf("Windows ended it with the error 0x%08X.", code)
		switch code {
		case 0xC0000005:
			e.Detail = "It used memory that is not its own (0xC0000005)."
		case 0xC0000135:
			e.Detail = "A library that it needs was not found, or must not be read (0xC0000135)."
		case 0xC0000142:
			e.Detail = "A library that it needs could not be started in the sandbox (0xC0000142)."
		}
	}
	return e
}
