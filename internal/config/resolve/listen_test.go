package resolve

import (
	"testing"

	"aiperf/internal/config/parse"
)

func TestAddressesToListenOn(t *testing.T) {
	for text, want := range map[string]string{
		"9464": "127.0.0.1:9464", ":9464": ":9464", "0": "127.0.0.1:0", "0.0.0.0:80": "0.0.0.0:80",
		"bench-1:65535": "bench-1:65535", "[::1]:9": "[::1]:9",
	} {
		if got, err := parse.Listen(text); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", ":", "localhost", "localhost:", "::1", "1:2:3", "-1", "+1", "65536", "080",
		"http://localhost:9464", "9464/metrics", " 9464"} {
		if got, err := parse.Listen(text); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}
