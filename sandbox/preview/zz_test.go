package preview

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestZZ(t *testing.T) {
	dir := t.TempDir()
	for _, c := range loadCases() {
		s := c.content
		if c.encode != "" {
			s = encoded(t, c.encode, s)
		}
		p := filepath.Join(dir, c.name)
		os.WriteFile(p, []byte(s), 0o600)
		k, err := Read(t.Context(), p)
		fmt.Println("=====", err, k.Summary())
		fmt.Println(k.Prompt(1500))
	}
	for _, p := range filepath.SplitList(os.Getenv("PVFILES")) {
		k, err := Read(t.Context(), p)
		fmt.Println("=====", err, k.Summary())
		fmt.Println(k.Prompt(1500))
	}
}
