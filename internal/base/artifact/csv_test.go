package artifact_test

import (
	"encoding/csv"
	"math"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
)

func TestTrapCommaAndQuoteDoNotBreakCSV(t *testing.T) {
	out := string(artifact.AppendCSVRow(nil, "plain", "a,b", `say "x"`, "two\nlines", "a|b", "", " lead", "ü\xff"))
	want := "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",a|b,, lead,ü\uFFFD\r\n"
	if out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	cells, err := csv.NewReader(strings.NewReader(out)).Read()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"plain", "a,b", `say "x"`, "two\nlines", "a|b", "", " lead", "ü\uFFFD"}; !slices.Equal(cells,
		want) {
		t.Errorf("read back %q", cells)
	}
}

// A spreadsheet must not run what a server put into a label; figures stay figures.
func TestTextsThatLookLikeFormulasAndControlCharacters(t *testing.T) {
	out := string(artifact.AppendCSVRow(nil, "=1+2", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "-1.50", "+Inf", "-",
		"1e-5", "-1e300", "--flag", "a=b", "\x1b[31m\u202e", "\ttab"))
	want := "'=1+2,'+cmd|' /C calc'!A0,'-x,'@SUM(A1),-1.50,+Inf,-,1e-5,-1e300,'--flag,a=b,\\x1b[31m\\u202e,\ttab\r\n"
	if out != want {
		t.Errorf("got  %q\nwant %q", out, want)
	}
}

func TestEmptyRowIsOneLineEnd(t *testing.T) {
	if out := string(artifact.AppendCSVRow(nil)); out != "\r\n" {
		t.Errorf("got %q", out)
	}
}

func TestFixed2RoundsTheExactValue(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{830, "830.00"}, {0.125, "0.12"}, {0.375, "0.38"}, {2.675, "2.67"}, {1033.785, "1033.79"},
		{1234567.891, "1234567.89"},
		{math.NaN(), ""}, {math.Inf(1), ""},
	} {
		if got := artifact.Fixed2(c.v); got != c.want {
			t.Errorf("Fixed2(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}
