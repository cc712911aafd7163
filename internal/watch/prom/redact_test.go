package prom_test

import (
	"bytes"
	"testing"

	"aiperf/internal/watch/prom"
)

func TestPagesAreRedactedInCommentsAndLabelsOnly(t *testing.T) {
	redact := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("123456"), []byte("<redacted>")) }
	page := "# HELP a_123456 key 123456\na_123456{key=\"x123456\",b=\"c\"} 123456 1123456\nb 123456\n}123456{ " +
		"1\nlast{k=\"123456\"} 1"
	want := "# HELP a_<redacted> key <redacted>\na_123456{key=\"x<redacted>\",b=\"c\"} 123456 1123456\nb " +
		"123456\n}123456{ 1\nlast{k=\"<redacted>\"} 1"
	if got := string(prom.RedactPage([]byte(page), redact)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	clean := []byte("a 1\n")
	if got := prom.RedactPage(clean, redact); &got[0] != &clean[0] {
		t.Error("a clean page is copied")
	}
}
