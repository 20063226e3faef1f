//go:build unix

package kernel

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// needFonts skips a test where no font has Chinese signs.
func needFonts(t *testing.T, s *Python) {
	t.Helper()
	if got := exec1(t, s, "import matplotlib.pyplot as plt\nlen(plt.rcParams['font.family']) > 1"); got.Value != "True" {
		t.Skipf("SKIPPED: this machine has no font with Chinese signs (fonts-noto-cjk): %s %+v", got.text, got.Error)
	}
}

// ink returns how much of a picture is not white, in thousandths.
func ink(t *testing.T, data []byte) int {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	b := p.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if g, _, _, _ := p.At(x, y).RGBA(); g < 0x8000 {
				n++
			}
		}
	}
	return 1000 * n / max(1, b.Dx()*b.Dy())
}

// label is a cell that shows nothing but a text.
func label(text string) string {
	return "import matplotlib.pyplot as plt\nfig = plt.figure(figsize=(4, 1)); fig.text(0.02, 0.3, " + text + ", fontsize=30); plt.show()"
}

// TestLabels: figures have the labels of languages that the usual font lacks.
func TestLabels(t *testing.T) {
	needLibraries(t)
	s := open(t, options(t))
	needFonts(t, s)
	got := exec1(t, s, `import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(7, 4))
ax.bar(["销售额", "Выручка", "売り上げ", "매출액", "繁體"], [3, -2, 5, -4, 1])
ax.set_title("销售额 / Выручка / 売上", fontweight="bold"); ax.set_ylabel("收入 (€)")
plt.show()`)
	if got.Status != OK || len(got.objs) != 1 || strings.Contains(got.text, "Warning") || strings.Contains(got.text, "findfont") {
		t.Fatalf("%+v: %s", got.Result, got.text)
	}
	if path := os.Getenv("ATOLL_TEST_FIGURE"); path != "" { // for people to look at
		if err := os.WriteFile(path, got.objs[0]["image/png"], 0o600); err != nil {
			t.Error(err)
		}
	}
	// Two signs that lack a font are the same box; here they are two pictures.
	var one, two image.Image
	a, b := exec1(t, s, label(`"一一"`)), exec1(t, s, label(`"曜曜"`))
	one, _ = png.Decode(bytes.NewReader(a.objs[0]["image/png"]))
	two, _ = png.Decode(bytes.NewReader(b.objs[0]["image/png"]))
	if one == nil || two == nil || 2*ink(t, a.objs[0]["image/png"]) > ink(t, b.objs[0]["image/png"]) {
		t.Error("signs with one stroke and with eighteen look alike")
	}
	for _, c := range []struct{ name, code string }{
		{"reset", "plt.rcdefaults()\n" + label(`"销售额"`)},
		{"style", "plt.style.use('default')\n" + label(`"销售额"`)},
		{"Chinese habit", "plt.rcParams['font.sans-serif'] = ['SimHei']; plt.rcParams['axes.unicode_minus'] = False\n" + label(`"销售额 −1"`)},
	} {
		got := exec1(t, s, c.code)
		if got.Status != OK || len(got.objs) != 1 || strings.Contains(got.text, "Glyph") || strings.Contains(got.text, "No font here") || strings.Count(got.text, "findfont") > 2 {
			t.Errorf("%s: %+v: %s", c.name, got.Result, got.text)
		}
	}
}

// TestNoGlyph: what no font has is said once, in a sentence.
func TestNoGlyph(t *testing.T) {
	needLibraries(t)
	s := open(t, options(t))
	only := "import matplotlib.pyplot as plt\nplt.rcParams['font.family'] = ['DejaVu Sans']\n"
	got := exec1(t, s, only+label(`"销售额和收入"`))
	if got.Status != OK || strings.Count(got.text, "Warning") != 1 || !strings.Contains(got.text, "No font here has the sign 销") || strings.Contains(got.text, "Glyph") {
		t.Errorf("%+v: %s", got.Result, got.text)
	}
	if got := exec1(t, s, label(`"利润"`)); strings.Contains(got.text, "Warning") {
		t.Errorf("said again: %s", got.text)
	}
	if got := exec1(t, s, only+label(`"Выручка −5"`)); strings.Contains(got.text, "Warning") {
		t.Errorf("control: the usual font has these: %s", got.text)
	}
}

// TestOldFontList: fonts that were installed after set-up are found.
func TestOldFontList(t *testing.T) {
	needLibraries(t)
	o := options(t)
	needFonts(t, open(t, o))
	lists, err := filepath.Glob(filepath.Join(o.Interpreter.Config, "fontlist*"))
	if err != nil || len(lists) != 1 {
		t.Fatalf("lists of fonts: %v, %v", lists, err)
	}
	b, err := os.ReadFile(lists[0])
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	var own []any // those that matplotlib brings along
	for _, f := range all["ttflist"].([]any) {
		if !filepath.IsAbs(f.(map[string]any)["fname"].(string)) {
			own = append(own, f)
		}
	}
	gone := map[string]any{}
	for k, v := range own[0].(map[string]any) {
		gone[k] = v
	}
	gone["fname"], gone["name"] = "/usr/share/fonts/gone.ttf", "Noto Sans CJK SC"
	all["ttflist"] = append(own, gone)
	if b, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		age   time.Time
		found string
	}{
		{"older than the fonts", time.Unix(1e9, 0), "True"},
		{"control, a list that is up to date", time.Now().Add(time.Hour), "False"},
	} {
		dir, err := os.MkdirTemp("/var/tmp", "atoll-fonts-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		list := filepath.Join(dir, filepath.Base(lists[0]))
		if err := os.WriteFile(list, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(list, c.age, c.age); err != nil {
			t.Fatal(err)
		}
		o.Interpreter.Config = dir
		s := open(t, o)
		got := exec1(t, s, "import matplotlib.pyplot as plt\nlen(plt.rcParams['font.family']) > 1")
		if got.Value != c.found || got.text != "⟨"+c.found+"⟩" {
			t.Errorf("%s: %s, %s %+v", c.name, got.Value, got.text, got.Error)
		}
	}
}
