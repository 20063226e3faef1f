package desktop

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDark(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	if err := os.Mkdir(filepath.Join(dir, "gtk-3.0"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		env, file string
		want      bool
	}{
		{"", "", false},
		{"Adwaita:dark", "", true},
		{"Adwaita", "[Settings]\ngtk-application-prefer-dark-theme=1\n", false},
		{"", "[Settings]\ngtk-application-prefer-dark-theme = true\n", true},
		{"", "[Settings]\ngtk-application-prefer-dark-theme=0\ngtk-theme-name=Adwaita\n", false},
		{"", "[Settings]\ngtk-theme-name=Yaru-dark\n", true},
	} {
		t.Setenv("GTK_THEME", row.env)
		if err := os.WriteFile(filepath.Join(dir, "gtk-3.0", "settings.ini"), []byte(row.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := dark(); got != row.want {
			t.Errorf("GTK_THEME=%q, settings %q: dark is %v", row.env, row.file, got)
		}
	}
}
