package header_test

import (
	"strings"
	"testing"

	"aiperf/internal/base/header"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"X-Tenant", "a b\tc é", ""},
		{"x_1", "", ""},
		{"Host", "models.example.com", ""},
		{"", "v", "the name of a header"},
		{"X Tenant", "v", "the name of a header"},
		{"X-Ténant", "v", "the name of a header"},
		{"X-Tenant:", "v", "the name of a header"},
		{"Content-Type", "text/plain", "header Content-Type describes"},
		{"content-LENGTH", "1", "header content-LENGTH describes"},
		{"Connection", "close", "header Connection describes"},
		{"TE", "trailers", "header TE describes"},
		{"X-Key", "secret\r\nX-Other: 1", "header X-Key contains a line break"},
		{"X-Key", "secret\x00", "header X-Key contains a control character"},
	} {
		err := header.Check(c.name, c.value)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %q gives %v, want %q", c.name, c.value, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats the value: %v", err)
		}
	}
}
