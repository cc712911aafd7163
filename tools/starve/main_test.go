//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test be a busy loop, which is this program started again.
func TestMain(m *testing.M) {
	if limit, err := time.ParseDuration(os.Getenv(spin)); err == nil {
		loop(limit)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestFailuresAndHangsAreNamed(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module m\n",
		"good/a_test.go": "package good\nimport \"testing\"\nfunc TestGood(*testing.T) {}\n",
		"none/a.go":      "package none\n",
		"bad/a_test.go": "package bad\nimport (\"os\"; \"testing\")\n" +
			"func TestBad(t *testing.T) { t.Log(os.Getenv(\"AIPERF_TEST_FULL\"), \"reason\"); t.Fail() }\n",
		"stuck/a_test.go": "package stuck\nimport \"testing\"\nfunc TestStuck(*testing.T) { select {} }\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	failed, err := starve(context.Background(), options{root: root, packages: []string{"./..."}, runs: 2, loops: 1,
		limit: 5 * time.Second, tail: 9, full: true}, &out)
	if err != nil || !failed {
		t.Fatal(err, failed)
	}
	for _, want := range []string{"m/good ", "2 runs, 0 failed", "2 runs, 2 failed", "6 runs, 4 failed",
		"m/bad, run 2 of 2", "--- FAIL: TestBad", "1 reason", "m/stuck, run 1 of 2", "panic: test timed out after 5s",
		"of a core"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "m/none") {
		t.Error("a package without tests is there")
	}
}

func TestAnInterruptEndsLoopsAndTests(t *testing.T) {
	root := t.TempDir()
	began := filepath.Join(root, "began")
	for name, text := range map[string]string{"go.mod": "module m\n", "a_test.go": "package m\n" +
		"import (\"os\"; \"testing\")\nfunc TestStuck(*testing.T) { os.WriteFile(\"began\", nil, 0o666); select {} }\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			if _, err := os.Stat(began); err == nil {
				cancel()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var out strings.Builder
	// It returns when all have ended.
	if _, err := starve(ctx, options{root: root, packages: []string{"."}, runs: 2, loops: 2, limit: 10 * time.Minute},
		&out); err == nil {
		t.Errorf("no error; it says\n%s", out.String())
	}
}
