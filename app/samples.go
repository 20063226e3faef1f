package app

import (
	"fmt"
	"os"
	"path/filepath"

	"atoll/app/doctor"
	"atoll/examples"
)

// samples puts the sample files where a chat can attach them by path, and
// returns the questions about them. Files that are there are left alone.
func samples(dir string) ([]doctor.Example, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("install examples: %w", err)
	}
	var out []doctor.Example
	for _, p := range examples.Prompts {
		path := filepath.Join(dir, p.File)
		if _, err := os.Stat(path); err != nil {
			b, err := examples.Files.ReadFile(p.File)
			if err == nil {
				err = os.WriteFile(path, b, 0o600)
			}
			if err != nil {
				return out, fmt.Errorf("install examples: %w", err)
			}
		}
		out = append(out, doctor.Example{Title: p.Title, Prompt: p.Prompt, File: path})
	}
	return out, nil
}
