package examples

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// table returns the rows of an embedded CSV file, by column.
func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := Files.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, v := range line {
			row[all[0][i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

func cents(t *testing.T, s string) int64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(math.Round(f * 100))
}

func money(c int64) string { return fmt.Sprintf("%d.%02d", c/100, c%100) }

// wantReadme fails unless README.md has the line.
func wantReadme(t *testing.T, line string) {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), line) {
		t.Errorf("README.md lacks %q", line)
	}
}

func TestSales(t *testing.T) {
	revenue, units, all := map[string]int64{}, map[string]int64{}, int64(0)
	rows := table(t, "sales.csv")
	for i, r := range rows {
		n, err := strconv.ParseInt(r["units"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		c := cents(t, r["revenue"])
		if c != n*cents(t, r["unit_price"]) {
			t.Errorf("row %d: revenue is not units × unit_price", i+1)
		}
		revenue[r["region"]] += c
		units[r["region"]] += n
		all += c
	}
	if len(rows) != 240 || len(revenue) != 4 {
		t.Errorf("%d rows, %d regions", len(rows), len(revenue))
	}
	for region, c := range revenue {
		wantReadme(t, fmt.Sprintf("| %s | %s | %d |", region, money(c), units[region]))
		if region != "West" && c*3 > revenue["West"]*2 {
			t.Errorf("West should win clearly, but %s has %s", region, money(c))
		}
	}
	wantReadme(t, "All together: "+money(all))
}

func TestWeather(t *testing.T) {
	rows := table(t, "weather.csv")
	if len(rows) != 365 {
		t.Errorf("%d rows", len(rows))
	}
	for _, city := range []string{"lisbon", "oslo"} {
		var sum float64
		warm, cold := rows[0], rows[0]
		value := func(r map[string]string) float64 {
			v, err := strconv.ParseFloat(r[city], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for _, r := range rows {
			sum += value(r)
			if value(r) > value(warm) {
				warm = r
			}
			if value(r) < value(cold) {
				cold = r
			}
		}
		wantReadme(t, fmt.Sprintf("| %s | %.1f | %s on %s | %s on %s |", city, sum/365, warm[city], warm["date"], cold[city], cold["date"]))
	}
}

func TestOrders(t *testing.T) {
	b, err := Files.ReadFile("orders.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Order          int
		Status, Amount string
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	amount, orders, seen, all := map[string]int64{}, map[string]int{}, map[int]bool{}, int64(0)
	for _, r := range rows {
		if seen[r.Order] {
			continue
		}
		seen[r.Order] = true
		s := strings.ToLower(strings.TrimSpace(r.Status))
		amount[s] += cents(t, r.Amount)
		orders[s]++
		all += cents(t, r.Amount)
	}
	if len(rows) != 44 || len(seen) != 40 {
		t.Errorf("%d records of %d orders", len(rows), len(seen))
	}
	for s, c := range amount {
		wantReadme(t, fmt.Sprintf("| %s | %s | %d |", s, money(c), orders[s]))
	}
	wantReadme(t, money(all)+" all together")
}

func TestPrompts(t *testing.T) {
	if len(Prompts) != 3 {
		t.Errorf("%d prompts", len(Prompts))
	}
	for _, p := range Prompts {
		if p.Title == "" || p.Prompt == "" {
			t.Errorf("incomplete: %+v", p)
		}
		if _, err := Files.ReadFile(p.File); err != nil {
			t.Errorf("%s: %v", p.Title, err)
		}
	}
}

func TestGeneratorIsDeterministic(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: there is no python3 to run generate.py with")
	}
	script, err := os.ReadFile("generate.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "generate.py")
	if err := os.WriteFile(path, script, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, p := range Prompts {
		got, err := os.ReadFile(filepath.Join(dir, p.File))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := Files.ReadFile(p.File); err != nil || string(got) != string(want) {
			t.Errorf("%s comes out different (%v)", p.File, err)
		}
	}
}
