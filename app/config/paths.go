// Package config says where things are: the data folder and its parts, and
// what ships beside the program.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Home is the data folder and its parts. ATOLL_HOME moves all of it.
type Home string

// FindHome returns the data folder: ATOLL_HOME, else where the operating
// system wants application data. The folder need not exist yet.
func FindHome() (Home, error) {
	if h := os.Getenv("ATOLL_HOME"); h != "" {
		abs, err := filepath.Abs(h)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrHome, err)
		}
		return Home(abs), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%w: there is no home folder: %w", ErrHome, err)
	}
	switch runtime.GOOS {
	case "windows":
		if d := os.Getenv("LocalAppData"); d != "" {
			return Home(filepath.Join(d, "Atoll")), nil
		}
		return Home(filepath.Join(home, "AppData", "Local", "Atoll")), nil
	case "darwin":
		return Home(filepath.Join(home, "Library", "Application Support", "Atoll")), nil
	default:
		if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
			return Home(filepath.Join(d, "atoll")), nil
		}
		return Home(filepath.Join(home, ".local", "share", "atoll")), nil
	}
}

// ErrHome means that the data folder cannot be made or written.
var ErrHome = errors.New("the data folder cannot be used")

// Make creates the data folder with access for its owner only.
func (h Home) Make() error {
	for _, d := range []string{string(h), h.Run(), h.Chats(), h.Models()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("%w: %w", ErrHome, err)
		}
	}
	return nil
}

// Store is the folder of the database and the blobs.
func (h Home) Store() string { return filepath.Join(string(h), "store") }

// Chats holds one folder per chat: its workspace.
func (h Home) Chats() string { return filepath.Join(string(h), "chats") }

// Chat is the workspace folder of one chat.
func (h Home) Chat(id string) string { return filepath.Join(h.Chats(), id) }

// Models holds the GGUF files.
func (h Home) Models() string { return filepath.Join(string(h), "models") }

// Python holds the managed Python environments.
func (h Home) Python() string { return filepath.Join(string(h), "python") }

// Run holds what a running host leaves for its clients.
func (h Home) Run() string { return filepath.Join(string(h), "run") }

// Examples holds the sample files of the empty state.
func (h Home) Examples() string { return filepath.Join(string(h), "examples") }

// HostFile tells clients where the running host listens.
func (h Home) HostFile() string { return filepath.Join(h.Run(), "host.json") }

// HostLog is what a host started in the background prints.
func (h Home) HostLog() string { return filepath.Join(h.Run(), "host.log") }

// EngineDir is the folder of the llama.cpp libraries: ATOLL_ENGINE_DIR, else
// "engine" beside the program.
func EngineDir() string {
	if d := os.Getenv("ATOLL_ENGINE_DIR"); d != "" {
		return d
	}
	exe, err := Executable()
	if err != nil {
		return "engine"
	}
	return filepath.Join(filepath.Dir(exe), "engine")
}

// Executable is the path of this program with links resolved.
func Executable() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return exe, nil
}
