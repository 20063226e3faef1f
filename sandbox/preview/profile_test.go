package preview

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// large is a table that the first card only samples: 12 bytes a row and more.
func large(t testing.TB, rows int) (content string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,amount,who,when\n")
	for i := range rows {
		amount := fmt.Sprintf("%d.5", i%1000)
		switch {
		case i == rows/2+7: // where no sample looks
			amount = "99999"
		case i == rows/2+9:
			amount = ""
		case i == rows/2+11:
			b.WriteString("1,2,3,4,5\n")
			continue
		}
		fmt.Fprintf(&b, "%d,%s,customer %d,2024-01-%02d\n", i, amount, i%5000, i%28+1)
	}
	return b.String()
}

func TestProfile(t *testing.T) {
	rows := 400_000
	if testing.Short() {
		rows = 300_000
	}
	s := large(t, rows)
	path := write(t, "large.csv", s)
	if c := card(t, "large.csv", s); !c.Sampled {
		t.Fatalf("the first card is no sample, so nothing is tested: %+v", c)
	}
	var seen []int64
	c, err := Profile(t.Context(), &plainRunner{}, []string{executable(t), "preview-worker"}, path, "", func(done, all int64) {
		if all != int64(len(s)) {
			t.Errorf("%d bytes in all", all)
		}
		seen = append(seen, done)
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Sampled || !c.RowsExact || c.Rows != int64(rows) || c.BadRows != 1 || c.Columns[1].Max != "99999" || c.Columns[1].Missing != 1 {
		t.Errorf("%+v", c)
	}
	want := Fault{int64(rows/2 + 11 + 2), "5 fields instead of 4"}
	if len(c.Faults) != 1 || c.Faults[0] != want {
		t.Errorf("faults %+v, want %+v", c.Faults, want)
	}
	if n := c.Columns[2].Unique; !c.Columns[2].UniqueAbout || math.Abs(float64(n)-5000) > 300 {
		t.Errorf("%d different, of 5000", n)
	}
	if m := c.Columns[1].Mean; m != "500.242" && !strings.HasPrefix(m, "500.") {
		t.Errorf("mean %s", m)
	}
	if len(seen) == 0 || !slices.IsSorted(seen) {
		t.Errorf("progress %v", seen)
	}
}

// A whole pass over a small file says what the first card says, and more.
func TestWholeAgreesWithFirst(t *testing.T) {
	for _, c := range loadCases(t) {
		content := c.content
		if c.encode != "" {
			content = encoded(t, c.encode, content)
		}
		path := write(t, "x"+strings.ReplaceAll(c.name[strings.LastIndexByte(c.name, '.'):], "/", ""), content)
		first, err := Read(t.Context(), path, "")
		if err != nil {
			t.Fatal(err)
		}
		whole, err := ReadWhole(t.Context(), path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole.Columns {
			whole.Columns[i].Mean = ""
		}
		first.pass, whole.pass = nil, nil
		if a, b := fmt.Sprintf("%+v", first), fmt.Sprintf("%+v", whole); a != b {
			t.Errorf("%s:\n%s\n%s", c.name, a, b)
		}
	}
}

func TestProfileCancelled(t *testing.T) {
	path := write(t, "large.csv", large(t, 300_000))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Profile(ctx, &plainRunner{}, []string{executable(t), "preview-worker"}, path, "", func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The child may be taken over: what it reports ends as a card with a problem.
func TestProfileFaults(t *testing.T) {
	path := write(t, "x.csv", "a,b\n1,2\n")
	for _, mode := range []string{"preview-crash", "preview-flood", "preview-liar", "preview-babble"} {
		c, err := Profile(t.Context(), &plainRunner{}, []string{executable(t), mode}, path, "", func(done, all int64) {
			if done < 0 || done > all {
				t.Errorf("%s: %d of %d", mode, done, all)
			}
		})
		if err != nil || c.Kind != Unread || len(c.Problems) != 1 {
			t.Errorf("%s: %+v, %v", mode, c, err)
		}
	}
}

func TestDistinct(t *testing.T) {
	for _, n := range []int{0, 1, 100, 5000, 200_000} {
		d := &distinct{}
		x := uint64(1)
		for range n {
			x = x*6364136223846793005 + 1442695040888963407
			h := x ^ x>>33
			h *= 0xff51afd7ed558ccd
			d.add(h ^ h>>29)
		}
		if got := d.count(); math.Abs(float64(got-n)) > 0.06*float64(n)+0.5 {
			t.Errorf("%d, estimated %d", n, got)
		}
	}
}

func babble() {
	for range 200_000 {
		if _, err := os.Stdout.WriteString("{\"done\":-5}\n{\"done\":99999999999}\n"); err != nil {
			os.Exit(1)
		}
	}
	os.Exit(0)
}
