package frontend

import (
	"io/fs"
	"testing"
)

func TestDistOpens(t *testing.T) {
	names, err := fs.ReadDir(Dist(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("embedded page is empty; want at least the placeholder")
	}
}
