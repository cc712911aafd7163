package server_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/server"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == server.GuardCommand {
		os.Exit(server.Guard(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		command string
		params  artifact.Object
		want    string
	}{
		{"serve m", nil, "serve m"},
		{"serve m", artifact.Object{{Key: "max-num-seqs", Value: int64(64)}, {Key: "tp", Value: "2"}},
			"serve m --max-num-seqs 64 --tp 2"},
		{"serve --port {port} -c {ctx}", artifact.Object{{Key: "ctx", Value: int64(4096)}, {Key: "n", Value: 0.5},
			{Key: "port", Value: int64(8000)}}, "serve --port 8000 -c 4096 -n 0.5"},
		{"serve", artifact.Object{{Key: "prefix-caching", Value: true}, {Key: "mmap", Value: "false"},
			{Key: "quantization", Value: ""}, {Key: "draft", Value: nil}}, "serve --prefix-caching --no-mmap"},
		{"serve", artifact.Object{{Key: "-ngl", Value: int64(99)}, {Key: "t", Value: int64(8)}}, "serve -ngl 99 -t 8"},
		// What is no parameter stays, such as the braces of JSON; a value is not searched for places.
		{`serve --o '{"a":1}' {x}`, artifact.Object{{Key: "x", Value: "{yy}"}, {Key: "yy", Value: "1"}},
			`serve --o '{"a":1}' ` + quoted(t, "{yy}") + " --yy 1"},
		{"serve", artifact.Object{{Key: "rope", Value: artifact.Object{{Key: "factor", Value: 4.5}}}},
			"serve --rope " + quoted(t, `{"factor":4.5}`)},
	} {
		got, err := server.CommandLine(c.command, c.params)
		if err != nil || got != c.want {
			t.Errorf("%s with %v: %s (%v), want %s", c.command, c.params, got, err, c.want)
		}
	}
}

// quoted is a text, other than a plain one, as a word of the system's shell.
func quoted(t *testing.T, s string) string {
	t.Helper()
	switch {
	case runtime.GOOS != "windows":
		return "'" + s + "'"
	case strings.ContainsAny(s, "\"%\r\n"):
		t.Skip("cmd.exe cannot quote " + s)
	}
	return `"` + s + `"`
}

func TestLastLines(t *testing.T) {
	// The bounds of what is shown.
	const tailLines, tailWidth = 15, 300
	path := t.TempDir() + "/server.log"
	text := "# 2026-02-03T04:05:06Z $ x\n" + strings.Repeat("filler\n", 10_000) +
		"loading 10%\rloading 100%\r\n\n\x1b[31mkey s3cret\n" +
		strings.Repeat("ä", 2*tailWidth)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	lines := server.LastLines(path, func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") })
	if len(lines) != tailLines || lines[0] != "filler" {
		t.Fatalf("%d lines from %q", len(lines), lines[0])
	}
	got := lines[tailLines-3:]
	if got[0] != "loading 100%" || strings.Contains(got[1], "\x1b") || !strings.Contains(got[1], "***") ||
		len([]rune(got[2])) != tailWidth+1 {
		t.Errorf("%q", got)
	}
}
