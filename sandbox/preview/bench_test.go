package preview

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// orders writes a CSV file of n rows, or of at least size bytes.
func ordersFile(b *testing.B, n int, size int64) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "orders.csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	written, _ := fmt.Fprintln(w, "order,plz,when,customer,amount,note")
	total := int64(written)
	for i := 0; i < n || total < size; i++ {
		k, err := fmt.Fprintf(w, "%d,%05d,2024-%02d-%02d,Customer %d,%d.%02d,\"paid, shipped %d\"\n", i, i%99999, i%12+1, i%28+1, i%977, i%5000, i%100, i%7)
		if err != nil {
			b.Fatal(err)
		}
		total += int64(k)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		rows int
		size int64
	}{{"100003rows", 100_003, 0}, {"200MB", 0, 200 << 20}, {"1GB", 0, 1 << 30}} {
		b.Run(c.name, func(b *testing.B) {
			if c.size > 500<<20 && os.Getenv("ATOLL_BENCH_LARGE") == "" {
				b.Skip("SKIPPED: set ATOLL_BENCH_LARGE for the file of 1 GB")
			}
			path := ordersFile(b, c.rows, c.size)
			st, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(st.Size())
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				card, err := Read(b.Context(), path, "")
				if err != nil || card.ColumnCount != 6 {
					b.Fatalf("%d columns, %v", card.ColumnCount, err)
				}
			}
		})
	}
}

// BenchmarkProfile is the whole pass, of which 2 GB must take a minute at most.
func BenchmarkProfile(b *testing.B) {
	path := ordersFile(b, 0, 200<<20)
	b.SetBytes(200 << 20)
	b.ReportAllocs()
	for b.Loop() {
		card, err := ReadWhole(b.Context(), path, "", nil)
		if err != nil || card.Sampled || card.ColumnCount != 6 {
			b.Fatalf("%d columns, %v", card.ColumnCount, err)
		}
	}
}
