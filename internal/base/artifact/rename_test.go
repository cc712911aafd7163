package artifact_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"aiperf/internal/base/artifact"
)

// A page may read a file just when it is replaced. On Windows that waits for the reader.
func TestFileThatIsBeingReadIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	a, err := artifact.CreateAtomic(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Abort()
	if _, err := a.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { reader.Close() })
	if err := a.Commit(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
}
