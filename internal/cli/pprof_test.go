package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/cli/command"
)

func TestProfileOfTheProgramItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "self")
	e := &command.Env{LookupEnv: func(name string) (string, bool) { return path, name == "AIPERF_PPROF" }}
	if code := profiled(e, func() int { return 7 }); code != 7 {
		t.Errorf("exit code %d", code)
	}
	for _, name := range []string{path, path + ".heap", path + ".allocs"} {
		data, err := os.ReadFile(name)
		if err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) { // gzip, as profiles are
			t.Errorf("%s: %v, %d bytes", name, err, len(data))
		}
	}
}
