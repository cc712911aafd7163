package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/cli/command"
)

// A port that somebody else has is one line, before anything is sent or written.
func TestAPortThatIsInUse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	dir := t.TempDir()
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	// The server would not answer: nothing is sent to it.
	code := Main([]string{"profile", "--model", "m", "--url", "http://127.0.0.1:1", "--concurrency", "1", "--tokenizer",
		"builtin", "--ui", "none", "--artifact-dir", filepath.Join(dir, "out"),
		"--metrics-listen", port}, said, said)
	text, err := os.ReadFile(said.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := "--metrics-listen: cannot listen on 127.0.0.1:" + port + ": "
	if code != command.ExitFailure || strings.Count(string(text), want) != 1 || strings.Contains(string(text), "benchmark_id") {
		t.Errorf("code %d:\n%s", code, text)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("something was written")
	}
}
