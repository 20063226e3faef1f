package sandbox

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParsePolicy(t *testing.T) {
	full := Policy{
		Read: []string{"/a"}, Write: []string{"/b"}, Env: []string{"A=1"}, GPU: true, Languages: []string{"python"},
		Network: Network{Mode: NetworkHosts, Hosts: []string{"example.com", "*.example.org:8443"}},
		Limits:  Limits{Memory: 1, FileSize: 2, Disk: 3, Procs: 4, Files: 5, Output: 6, Wall: time.Second, CPU: -1},
	}
	for _, p := range []Policy{{}, full} {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParsePolicy(text)
		if d := cmp.Diff(p, got); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", text, err, d)
		}
	}
	for text, want := range map[string]string{
		``:                                    "EOF",
		`{`:                                   "EOF",
		`[]`:                                  "cannot unmarshal",
		`{"read":"/a"}`:                       "cannot unmarshal",
		`{"Read":["/a"]}`:                     `unknown field "Read"`,
		`{"read":[],"read":["/a"]}`:           "twice",
		`{"memory":1}`:                        `unknown field "memory"`,
		`{"layers":"/a"}`:                     `unknown field "layers"`,
		`{} {}`:                               "follows",
		`{"network":{"mode":"off"}}`:          "no network mode",
		`{"network":{"hosts":["a.example"]}}`: "not \"hosts\"",
		`{"network":{"mode":"hosts","hosts":["*"]}}`:         "not a host's name",
		`{"network":{"mode":"hosts","hosts":["a:0"]}}`:       "no valid port",
		`{"network":{"mode":"hosts","hosts":["0x7f.1"]}}`:    "a number",
		`{"limits":{"wall":"1s"}}`:                           "cannot unmarshal",
		`{"env":["` + strings.Repeat("x", maxPolicy) + `"]}`: "longer",
		strings.Repeat("[", 10000):                           "nested",
	} {
		if _, err := ParsePolicy([]byte(text)); !errors.Is(err, ErrPolicy) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func FuzzPolicy(f *testing.F) {
	for _, s := range []string{`{}`, `{"read":["/a"],"network":{"mode":"hosts","hosts":["*.a.example:1"]},"limits":{"wall":1}}`, `{"read":null,"gpu":true}`, `[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParsePolicy(text)
		if err != nil {
			if !errors.Is(err, ErrPolicy) {
				t.Fatal(err)
			}
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := ParsePolicy(again)
		if err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		third, err := json.Marshal(q)
		if err != nil || string(third) != string(again) {
			t.Fatalf("%s became %s (%v)", again, third, err)
		}
	})
}
