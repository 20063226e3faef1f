package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnsupported(t *testing.T) {
	const out = "North 182345.678\nrate 0.1234\nn=1200\n2024-03-17"
	tests := []struct {
		answer string
		want   []string
	}{
		{"North has 182,345.68.", nil},
		{"North has 182.345,68 €.", nil},
		{"North has 182 345.7.", nil},
		{"About 182,346.", nil},
		{"The rate is 12.3 %.", nil},
		{"There are 1,200 rows in 3 groups, in 2024.", nil},
		{"On 17.03.2024", nil},
		{"North has 182,345.69.", []string{"182,345.69"}},
		{"Total 99,120.5 and 55", []string{"99,120.5", "55"}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, unsupported(tt.answer, out)); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.answer, d)
		}
	}
}
