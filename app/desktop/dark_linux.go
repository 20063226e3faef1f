package desktop

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// dark tells whether the person's theme is dark, as GTK decides it and with it
// the page: by GTK_THEME, else by GTK's settings file. It is only about the
// colour of the window until the page is there.
func dark() bool {
	if theme := os.Getenv("GTK_THEME"); theme != "" {
		return strings.HasSuffix(strings.ToLower(theme), "dark")
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return false
	}
	f, err := os.Open(filepath.Join(dir, "gtk-3.0", "settings.ini"))
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), "=")
		value = strings.ToLower(strings.TrimSpace(value))
		switch strings.TrimSpace(key) {
		case "gtk-application-prefer-dark-theme":
			if value == "1" || value == "true" {
				return true
			}
		case "gtk-theme-name":
			if strings.HasSuffix(value, "dark") {
				return true
			}
		}
	}
	return false
}
