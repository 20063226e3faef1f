package preview

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecimalAndDateEvidence(t *testing.T) {
	for _, c := range []struct {
		name, content string
		columns       []Column // Type, Decimal, Thousands, Format, Min, Max are compared
		problem       string
	}{
		{"thousands beside small numbers", "n\n1.234\n950\n12.345\n", []Column{{Type: Integer, Decimal: ",", Thousands: ".", Min: "950", Max: "12345"}}, ""},
		{"decimals beside large numbers", "n\n1.234\n9500\n12.345\n", []Column{{Type: Number, Decimal: ".", Min: "1.234", Max: "9500"}}, ""},
		{"other column decides", "a;b\n1.234;1,5\n2.345;2,25\n", []Column{{Type: Integer, Decimal: ",", Thousands: ".", Min: "1234", Max: "2345"}, {Type: Number, Decimal: ",", Min: "1.5", Max: "2.25"}}, ""},
		{"nothing decides", "a\n1.234\n2.345\n", []Column{{Type: Number, Decimal: ".", Min: "1.234", Max: "2.345"}}, "does not prove"},
		{"zero before the mark", "a;b\n0,125;x\n1,250;y\n", []Column{{Type: Number, Decimal: ",", Min: "0.125", Max: "1.25"}, {Type: String}}, ""},
		{"day first", "d\n03/04/2024\n25/04/2024\n", []Column{{Type: Date, Format: "%d/%m/%Y", Min: "2024-04-03", Max: "2024-04-25"}}, ""},
		{"month first", "d\n03/04/2024\n04/25/2024\n", []Column{{Type: Date, Format: "%m/%d/%Y", Min: "2024-03-04", Max: "2024-04-25"}}, ""},
		{"order by sorting", "d\n01/02/2024\n02/02/2024\n01/03/2024\n", []Column{{Type: Date, Format: "%d/%m/%Y", Min: "2024-02-01", Max: "2024-03-01"}}, "does not prove"},
		{"other dates decide", "d,e\n03/04/2024,25/12/2023\n05/04/2024,24/12/2023\n", []Column{{Type: Date, Format: "%d/%m/%Y", Min: "2024-04-03", Max: "2024-04-05"}, {Type: Date, Format: "%d/%m/%Y", Min: "2023-12-24", Max: "2023-12-25"}}, ""},
		{"undecided dates", "d\n03/04/2024\n05/04/2024\n", []Column{{Type: Date, Format: "%m/%d/%Y", Min: "2024-03-04", Max: "2024-05-04"}}, "day first or month first"},
		{"mixed types", "n\n1\n2\n3\n4\n5\n6\n7\nabc\n9\n10\n", []Column{{Type: String}}, `"abc" in line 9`},
		{"addresses are text", "ip\n10.0.0.1\n192.168.1.10\n", []Column{{Type: String}}, ""},
		{"total", "a,n\nx,1\ny,2\nTotal,3\n", []Column{{Type: String}, {Type: Integer, Min: "1", Max: "3"}}, "the last row is a total"},
		{"Namibia", "c,n\nDE,1\nNA,2\n", []Column{{Type: String}, {Type: Integer, Min: "1", Max: "2"}}, "keep_default_na"},
		{"both marks", "n;m\n1,5;a\n1.5;b\n2,5;c\n", []Column{{Type: String}, {Type: String}}, "some a decimal comma"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := card(t, "x.csv", c.content)
			var got []Column
			for _, col := range k.Columns {
				got = append(got, Column{Type: col.Type, Decimal: col.Decimal, Thousands: col.Thousands, Format: col.Format, Min: col.Min, Max: col.Max})
			}
			if diff := cmp.Diff(c.columns, got); diff != "" {
				t.Error(diff)
			}
			all := strings.Join(k.Problems, "\n")
			if c.problem == "" && all != "" || !strings.Contains(all, c.problem) {
				t.Errorf("problems %q, want %q", all, c.problem)
			}
		})
	}
}
