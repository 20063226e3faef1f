//go:build desktop

package desktop

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/menu"
	"github.com/wailsapp/wails/v2/pkg/menu/keys"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/options/windows"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"atoll/app/client"
	"atoll/app/config"
	"atoll/build"
	"atoll/frontend"
)

// Run shows the window with files attached to a new message and returns when
// it was closed. When there is a window of the same data folder already, the
// files go there and the process ends. version must be the host's.
func Run(version string, files []string) error {
	if err := fixLocale(); err != nil {
		return fmt.Errorf("set a language: %w", err)
	}
	here, err := os.Getwd()
	if err != nil {
		here = ""
	}
	d := &client.Door{Connect: func(ctx context.Context) (*client.Client, error) { return connect(ctx, version) }}
	b := newBridge(d, absolute(here, files))
	defer b.close()

	// The host starts while GTK and the webview do.
	ctx, cancel := context.WithCancel(context.Background())
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		_, _ = d.Host(ctx) // the page asks again and shows why not
	}()
	defer func() { cancel(); <-begun }()
	return wails.Run(window(d, b))
}

// connect finds or starts the host that is installed beside the window.
func connect(ctx context.Context, version string) (*client.Client, error) {
	home, err := config.FindHome()
	if err != nil {
		return nil, err
	}
	host, err := client.Program()
	if err != nil {
		return nil, err
	}
	return client.Connect(ctx, home, config.BuildIDOf(version, host))
}

func window(d *client.Door, b *Bridge) *options.App {
	front := func() {} // brings the window to the front
	back := options.NewRGB(0xfd, 0xfd, 0xfc)
	if dark() {
		back = options.NewRGB(0x14, 0x19, 0x18)
	}
	quit := func() {}
	return &options.App{
		Title: "Atoll", Width: 1280, Height: 800, MinWidth: 640, MinHeight: 480,
		BackgroundColour:         back,
		AssetServer:              &assetserver.Options{Handler: handler(frontend.Dist(), d)},
		Menu:                     menus(b, func() { quit() }),
		Bind:                     []any{b},
		EnableDefaultContextMenu: true, // for selected text and where one types
		LogLevelProduction:       logger.ERROR,
		DragAndDrop:              &options.DragAndDrop{EnableFileDrop: true},
		OnStartup: func(ctx context.Context) {
			front = func() { runtime.WindowUnminimise(ctx); runtime.Show(ctx) }
			quit = func() { runtime.Quit(ctx) }
			b.start(native{
				emit: func(name string, data ...any) { runtime.EventsEmit(ctx, name, data...) },
				openFiles: func() ([]string, error) {
					return runtime.OpenMultipleFilesDialog(ctx, runtime.OpenDialogOptions{Title: "Attach files"})
				},
				openDir: func() (string, error) {
					return runtime.OpenDirectoryDialog(ctx, runtime.OpenDialogOptions{Title: "Choose the project's folder", CanCreateDirectories: true})
				},
				saveAs: func(name string) (string, error) {
					return runtime.SaveFileDialog(ctx, runtime.SaveDialogOptions{Title: "Save a copy", DefaultFilename: name})
				},
			})
		},
		SingleInstanceLock: &options.SingleInstanceLock{
			UniqueId: identity(),
			OnSecondInstanceLaunch: func(second options.SecondInstanceData) {
				<-b.started
				front()
				b.open(absolute(second.WorkingDirectory, second.Args))
			},
		},
		Linux: &linux.Options{
			Icon: build.Icon(), ProgramName: "atoll",
			// Pages of text need no GPU, and with some drivers windows stay blank.
			WebviewGpuPolicy: linux.WebviewGpuPolicyNever,
		},
		Windows: &windows.Options{Theme: windows.SystemDefault},
		Mac: &mac.Options{
			OnFileOpen: func(path string) { b.open([]string{path}) },
			About:      &mac.AboutInfo{Title: "Atoll", Message: "A code interpreter that runs on this machine only", Icon: build.Icon()},
		},
	}
}

// menus is what a window cannot do without; everything else is in the page.
func menus(b *Bridge, quit func()) *menu.Menu {
	m := menu.NewMenu()
	if goruntime.GOOS == "darwin" {
		m.Append(menu.AppMenu())
	}
	file := m.AddSubmenu("File")
	file.AddText("Open…", keys.CmdOrCtrl("o"), func(*menu.CallbackData) {
		if paths, err := b.PickFiles(); err == nil && len(paths) > 0 {
			b.open(paths)
		}
	})
	file.AddSeparator()
	file.AddText("Quit", keys.CmdOrCtrl("q"), func(*menu.CallbackData) { <-b.started; quit() })
	if goruntime.GOOS == "darwin" {
		m.Append(menu.EditMenu()) // without it the keys for copy and paste do nothing
	}
	return m
}

// identity tells windows of different data folders apart.
func identity() string {
	home, err := config.FindHome()
	if err != nil {
		return "atoll"
	}
	return fmt.Sprintf("atoll-%x", sha256.Sum256([]byte(home)))[:22]
}

// absolute resolves the paths of a command line that was given in dir.
func absolute(dir string, paths []string) []string {
	var abs []string
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		abs = append(abs, p)
	}
	return abs
}
