package run

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"aiperf/internal/view/runlog"
)

// Before several runs it is known whether they can reach a server at all.
func TestNothingListens(t *testing.T) {
	up, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	one, none := "http://"+up.Addr().String(), "http://"+closed.Addr().String()
	for _, c := range []struct {
		name string
		urls []string
		want string
	}{
		{"a server", []string{one}, ""},
		{"one of two", []string{none, one + "/v1"}, ""},
		{"none", []string{none + "/v1"}, "no server is running at " + none + ": "},
		{"a name that is not known", []string{"http://name.invalid"}, ""},
	} {
		cfg := resolve(t, t.TempDir(), c.urls[0])
		cfg.Endpoint.URLs = c.urls
		err := NothingListens(context.Background(), cfg, Options{Log: runlog.New(runlog.Options{Console: io.Discard})})
		if got := err != nil; got != (c.want != "") || got && (!strings.HasPrefix(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "--wait-for-model-timeout")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
