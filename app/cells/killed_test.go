//go:build unix

package cells_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atoll/app/boundary"
	"atoll/app/cells"
	"atoll/app/config"
	"atoll/storage"
	"atoll/storage/blob"
)

// hostMain is a host that has tried out code and waits for a person.
func hostMain(home, project string) int {
	h := config.Home(home)
	blobs, err := blob.Open(filepath.Join(h.Store(), "blobs"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	s := cells.New(cells.Deps{Home: h, Runner: runner(), Blobs: blobs, Python: findPython,
		Policy: func(string) (storage.ChatPolicy, error) {
			return storage.ChatPolicy{Preset: boundary.Project, Project: project}, nil
		}})
	code := "open('project/a.txt', 'w').write('new'); open('project/b.txt', 'w').write('new'); open('mine.txt', 'w').write('new')"
	trial, res, err := s.Try(context.Background(), "c", storage.Call{Language: "python", Code: code}, func(storage.Output) {}, nil)
	if err != nil || trial == nil {
		fmt.Println(err, res)
		return 1
	}
	fmt.Println("tried", len(trial.Effects().Changes))
	select {}
}

// A host that is killed while a person decides leaves the files as they were,
// and the next one cleans up.
func TestKilledBetweenTryAndKeep(t *testing.T) {
	w := newWorld(t)
	w.put("a.txt", "old")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(self, hostArg, string(w.home), w.project)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	said, _ := bufio.NewReader(out).ReadString('\n')
	if err := host.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = host.Wait() // it was killed
	if said != "tried 3\n" {
		t.Fatalf("the host said %q", said)
	}
	layers := filepath.Join(w.home.Chat("c"), "layers")
	if left, _ := os.ReadDir(layers); len(left) == 0 {
		t.Error("control: nothing was held back")
	}
	w.open()
	if w.holds("a.txt") != "old" || w.holds("b.txt") != "-" {
		t.Errorf("the project holds %q and %q", w.holds("a.txt"), w.holds("b.txt"))
	}
	if _, err := os.Stat(filepath.Join(w.work("c"), "mine.txt")); err == nil {
		t.Error("the chat's folder was written")
	}
	left, err := os.ReadDir(layers)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if err != nil || len(names) > 0 {
		t.Errorf("left behind: %s %v", strings.Join(names, ", "), err)
	}
}
