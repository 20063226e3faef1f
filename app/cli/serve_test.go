//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atoll/app/cli"
	"atoll/app/config"
)

// TestServeOutlivesItsHost: a page that is open finds the next host when the
// one it knew was killed or replaced.
func TestServeOutlivesItsHost(t *testing.T) {
	home := config.Home(filepath.Join(t.TempDir(), "home"))
	t.Setenv("ATOLL_HOME", string(home))
	t.Setenv("ATOLL_IDLE_EXIT", "1m")
	defer leave(t, home)
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Main([]string{"serve"}, cli.Program{Build: config.BuildID("test"), In: strings.NewReader(""), Out: w, Err: io.Discard})
	}()
	address := ""
	for lines := bufio.NewScanner(r); address == "" && lines.Scan(); {
		if s := strings.TrimSpace(lines.Text()); strings.HasPrefix(s, "http://") {
			address = s
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	page := &http.Client{Jar: jar, Timeout: time.Minute}
	open, err := page.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	open.Body.Close()
	list := func() (int, string) {
		t.Helper()
		res, err := page.Post(strings.SplitN(address, "?", 2)[0]+"rpc/chats.list", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	if code, body := list(); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	for name, change := range map[string]func(){
		"killed": func() { kill(t, home) },
		"replaced": func() {
			kill(t, home)
			connect(t, context.Background(), home)
		},
	} {
		change()
		code, body := 0, ""
		for range 3 { // a page tries again
			if code, body = list(); code == http.StatusOK {
				break
			}
		}
		if code != http.StatusOK {
			t.Errorf("host %s: %d %s", name, code, body)
		}
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil { // as Ctrl-C
		t.Fatal(err)
	}
	if code := <-ended; code != 0 {
		t.Errorf("serve ended with %d", code)
	}
}
