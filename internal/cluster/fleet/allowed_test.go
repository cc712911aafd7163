package fleet

import (
	"strings"
	"testing"

	"aiperf/internal/config"
)

// Whoever holds the token of a fleet sends agents their work.
func TestAgentsDoOnlyWhatTheirCommandLineAllows(t *testing.T) {
	for name, c := range map[string]struct {
		options AgentOptions
		change  func(*work)
		refused string // "" = it is done
	}{
		"an ordinary share":    {AgentOptions{}, func(*work) {}, ""},
		"an id that is a path": {AgentOptions{}, func(w *work) { w.ID = "../../victim" }, `the id "../../victim"`},
		"an absolute id":       {AgentOptions{Local: true}, func(w *work) { w.ID = "/etc" }, "is none"},
		"an id with a dot":     {AgentOptions{}, func(w *work) { w.ID = ".." }, "is none"},
		"a share below 0":      {AgentOptions{}, func(w *work) { w.Share.Index = -1 }, "is none"},
		"a program":            {AgentOptions{}, func(w *work) { w.Config.Endpoint.Plugin = "sh -c x" }, "--allow-programs"},
		"a program, allowed":   {AgentOptions{Programs: true}, func(w *work) { w.Config.Endpoint.Plugin = "sh -c x" }, ""},
		"a program, local":     {AgentOptions{Local: true}, func(w *work) { w.Config.Endpoint.Plugin = "sh -c x" }, ""},
		"a socket": {AgentOptions{}, func(w *work) { w.Config.Endpoint.UnixSocket = "/var/run/docker.sock" },
			"--allow-path /var/run"},
		"a socket elsewhere": {AgentOptions{Paths: []string{"/run/llm"}},
			func(w *work) { w.Config.Endpoint.UnixSocket = "/run/llm/../docker.sock" }, "--allow-path"},
		"a socket, allowed": {AgentOptions{Paths: []string{"/x", "/run/llm"}},
			func(w *work) { w.Config.Endpoint.UnixSocket = "/run/llm/a.sock" }, ""},
		"a key": {AgentOptions{Paths: []string{"/run/llm"}},
			func(w *work) { w.Config.Endpoint.TLS = config.TLS{CertFile: "/run/llm/c", KeyFile: "/run/llm2/k"} }, "/run/llm2/k"},
		"a file by itself": {AgentOptions{Paths: []string{"/run/ca.pem"}},
			func(w *work) { w.Config.Endpoint.TLS.CAFile = "/run/ca.pem" }, ""},
	} {
		w := &work{ID: "0b6b8f0e-3b6e-4a55-a7a9-0c2b6b3e9f10"}
		c.change(w)
		err := c.options.allows(w)
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What leaves the machine in clear text is refused on both sides unless it is asked for, and the command that a
// coordinator shows says so.
func TestClearTextIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		join     string
		security Security
		clear    bool
		shown    string
	}{
		{"nats://127.0.0.1:4222", Security{}, false, "--join nats://127.0.0.1:4222"},
		{"nats://[::1]:4222", Security{}, false, "--join nats://[::1]:4222"},
		{"nats://localhost:4222", Security{}, false, "--join nats://localhost:4222"},
		{"nats://host.example:4222", Security{}, true, "--join nats://host.example:4222 --allow-clear-text"},
		{"nats://user:word@host.example:4222", Security{}, true, "--join nats://host.example:4222 --allow-clear-text"},
		{"nats://host.example:4222", Security{CAFile: "ca"}, false, "--join nats://host.example:4222 --ca-file CA.pem"},
		{"tls://user:word@host.example:4222", Security{}, false, "--join tls://host.example:4222"},
		{"ws://host.example", Security{CAFile: "ca"}, true, "--join ws://host.example --ca-file CA.pem --allow-clear-text"},
		{"wss://host.example", Security{}, false, "--join wss://host.example"},
	} {
		f := &Fleet{options: Options{Name: DefaultName, URL: c.join, Security: c.security}}
		if got := f.command(); got != "aiperf agent "+c.shown {
			t.Errorf("%s: %s", c.join, got)
		}
		if got := !c.security.encrypts(c.join); got != c.clear {
			t.Errorf("%s with %+v: in clear text %v", c.join, c.security, got)
		}
		if !c.clear {
			continue
		}
		err := Agent(t.Context(), AgentOptions{Join: c.join, Security: c.security})
		if err == nil || !strings.Contains(err.Error(), "--allow-clear-text") || strings.Contains(err.Error(), "word") {
			t.Errorf("%s: %v", c.join, err)
		}
	}
}
