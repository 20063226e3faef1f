package desktop

import (
	"os"
	"strings"
)

// fixLocale gives the window a language when the environment names none:
// under LANG=C WebKitGTK calls the page's language "C", and every Intl
// constructor of the page throws a RangeError. It must run before GTK starts.
func fixLocale() error {
	names := []string{"LC_ALL", "LC_MESSAGES", "LANG"} // the first that is set decides
	for _, name := range names {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		if language, _, _ := strings.Cut(value, "."); language != "C" && language != "POSIX" {
			return nil
		}
		break
	}
	for _, name := range names[:2] {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return os.Setenv("LANG", "en_US.UTF-8")
}
