package record_test

import (
	"testing"

	"aiperf/internal/measure/record"
)

func TestExceptionQuotesItsText(t *testing.T) {
	for in, want := range map[string]string{
		"plain":       `'plain'`,
		"it's":        `"it's"`,
		`it's "it"`:   `'it\'s "it"'`,
		"a\\\n\t\r":   `'a\\\n\t\r'`,
		"é\x00\u2028": `'é\x00\u2028'`,
		"\U000e0001":  `'\U000e0001'`,
	} {
		if got, want := record.Exception("E", in), "E("+want+")"; got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
