package pemfile_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/pemfile"
)

func TestAuthorities(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.pem", "a comment\n"+string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	for _, c := range []struct{ path, says string }{
		{good, ""},
		{file("bad.pem", "no certificate"), "bad.pem contains no certificate in PEM format"},
		{filepath.Join(dir, "none.pem"), "none.pem: "},
	} {
		pool, err := pemfile.Authorities(c.path)
		switch {
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: error %v, want %q", c.path, err, c.says)
		case c.says == "" && (err != nil || pool == nil):
			t.Errorf("%s: %v", c.path, err)
		}
	}
}
