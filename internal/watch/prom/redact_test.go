package prom_test

import (
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
)

func TestSecretsInPages(t *testing.T) {
	r := artifact.NewRedactor("123456", "sk_1234567890")
	for _, c := range []struct{ page, want string }{
		{"# HELP a_123456 key 123456\n", "# HELP a_123456 key <redacted>\n"},
		{"# TYPE a_123456 gauge\n# TYPE 123456", "# TYPE a_123456 gauge\n# TYPE 123456"},
		{"# of 123456\n", "# of <redacted>\n"},
		{"a_123456{key=\"x123456\",b=\"c\"} 123456 1123456\n", "a_123456{key=\"x<redacted>\",b=\"c\"} 123456 " +
			"1123456\n"},
		{"b 123456\n}123456{ 1\n", "b 123456\n}123456{ 1\n"},
		{"a{b=\"1\",k_sk_1234567890=\"\\\"}123456\\\\\", c_123456 = \"\"} 1",
			"a{b=\"1\",k_redacted=\"\\\"}<redacted>\\\\\", c_123456 = \"\"} 1"},
		{"a_sk_1234567890 1\na_sk_1234567890{} 1234567890\n", "a_redacted 1\na_redacted{} 1234567890\n"},
		{"# TYPE a_sk_1234567890 gauge", "# TYPE a_redacted gauge"},
		{"last{k=\"123456\"} 1", "last{k=\"<redacted>\"} 1"},
		{"cut{k=\"1\",sk_1234567890} 1", "cut{k=\"1\",redacted} 1"},
		{"cut{k=\"123456\\} 1", "cut{k=\"<redacted>\\} 1"},
	} {
		if got := string(prom.RedactPage([]byte(c.page), r)); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	clean := []byte("a 1\n")
	if got := prom.RedactPage(clean, r); &got[0] != &clean[0] {
		t.Error("a clean page is copied")
	}
}
