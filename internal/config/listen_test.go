package config

import (
	"net"
	"testing"
)

func TestAddressesToListenOn(t *testing.T) {
	for text, want := range map[string]string{
		"9464": "127.0.0.1:9464", ":9464": ":9464", "0": "127.0.0.1:0", "0.0.0.0:80": "0.0.0.0:80",
		"bench-1:65535": "bench-1:65535", "[::1]:9": "[::1]:9",
	} {
		if got, err := parseListen(text); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", ":", "localhost", "localhost:", "::1", "1:2:3", "-1", "+1", "65536", "080",
		"http://localhost:9464", "9464/metrics", " 9464"} {
		if got, err := parseListen(text); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}

func FuzzParseListen(f *testing.F) {
	for _, text := range []string{"9464", ":9464", "[::1]:9", "a:b:c", "[", "]:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		address, err := parseListen(text)
		if err != nil {
			return
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			t.Errorf("%q gave %q: %v", text, address, err)
		}
	})
}
