package worker

import (
	"strings"
	"testing"

	"atoll/llm/engine/wire"

	"pgregory.net/rapid"
)

func TestChooseContext(t *testing.T) {
	small := shape{weights: 500 * mib, trained: 32768, layers: 24, kvHeads: 2, headDim: 64} // 12 KiB per token
	// 36 layers of 8 heads of 128 numbers: 144 KiB per token, and 144 GiB for
	// the million tokens it was trained for.
	million := shape{weights: 4 * gib, trained: 1 << 20, layers: 36, kvHeads: 8, headDim: 128}
	for name, c := range map[string]struct {
		s         shape
		asked     int
		available int64
		want      int
		text      string // in the error
	}{
		"plenty":                      {small, 0, 16 * gib, 16384, ""},
		"unknown memory":              {small, 0, 0, 16384, ""},
		"asked for more":              {small, 32768, 16 * gib, 32768, ""},
		"asked beyond training":       {small, 100000, 16 * gib, 32768, ""},
		"asked for little":            {small, 512, 16 * gib, 512, ""},
		"asked off the ladder":        {small, 5000, 16 * gib, 5000, ""},
		"trained for little":          {shape{mib, 1024, 2, 2, 16}, 0, gib, 1024, ""},
		"trained off the ladder":      {shape{mib, 3000, 2, 2, 16}, 0, gib, 3000, ""},
		"training unknown":            {shape{mib, 0, 2, 2, 16}, 0, gib, 16384, ""},
		"half fits":                   {small, 0, 820*mib + 100*mib, 8192, ""},
		"smallest fits exactly":       {small, 0, 820*mib + 2048*12288, 2048, ""},
		"one byte too little":         {small, 0, 820*mib + 2048*12288 - 1, 0, "844 MiB"},
		"million tokens on 8 GiB":     {million, 0, 8 * gib, 16384, ""},
		"million tokens on 6 GiB":     {million, 0, 6 * gib, 8192, ""},
		"the full million on 8 GiB":   {million, 1 << 20, 8 * gib, 0, "144.0 GiB"},
		"full names what would fit":   {million, 1 << 20, 8 * gib, 0, "16384 or less"},
		"nothing fits, nothing asked": {million, 0, 4 * gib, 0, "4.0 GiB is free"},
		"nothing fits, little asked":  {million, 512, 4 * gib, 0, "smaller model"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := chooseContext(c.s, c.asked, c.available)
			if got != c.want {
				t.Errorf("got %d, want %d (%v)", got, c.want, err)
			}
			switch {
			case c.text == "" && err != nil:
				t.Error(err)
			case c.text != "" && (err == nil || faultOf(err).Kind != wire.KindMemory || !strings.Contains(err.Error(), c.text)):
				t.Errorf("got error %v, want one of memory with %q", err, c.text)
			}
		})
	}
}

func TestCachePerToken(t *testing.T) {
	s := shape{layers: 36, kvHeads: 8, headDim: 128}
	if got := s.cachePerToken() << 20; got != 144*gib {
		t.Errorf("a million tokens take %d bytes, want 144 GiB", got)
	}
}

// Whatever is chosen fits, is within training, and more memory never gives less.
func TestChosenContextFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := shape{
			weights: rapid.Int64Range(0, 100*gib).Draw(t, "weights"), trained: rapid.IntRange(1, 1<<20).Draw(t, "trained"),
			layers: rapid.IntRange(1, 200).Draw(t, "layers"), kvHeads: rapid.IntRange(1, 128).Draw(t, "heads"), headDim: rapid.IntRange(1, 512).Draw(t, "dim"),
		}
		asked := rapid.IntRange(0, 1<<21).Draw(t, "asked")
		free := rapid.Int64Range(1, 200*gib).Draw(t, "free")
		n, err := chooseContext(s, asked, free)
		if (n > 0) == (err != nil) {
			t.Fatalf("%d and %v", n, err)
		}
		if n > s.trained || n > 0 && s.weights+int64(n)*s.cachePerToken() > free {
			t.Fatalf("%d does not fit", n)
		}
		if more, _ := chooseContext(s, asked, free+rapid.Int64Range(0, 50*gib).Draw(t, "more")); more < n {
			t.Fatalf("more memory gives %d instead of %d", more, n)
		}
	})
}
