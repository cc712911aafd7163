package upload_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/publish/upload"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.json", "b.csv", ".hidden.json", "sub/c.json", "sub/deep/d.png", "plots/e.png",
		"f.txt"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "f.txt"), filepath.Join(dir, "link.json")); err != nil {
		t.Log(err) // not everywhere allowed
	}
	for patterns, want := range map[string]string{
		"*.json":           ".hidden.json a.json",
		"**/*.png":         "plots/e.png sub/deep/d.png",
		"**/*.json *.json": ".hidden.json a.json sub/c.json",
		"sub/**":           "sub/c.json sub/deep/d.png",
		"sub/*":            "sub/c.json",
		"*.csv *":          "b.csv .hidden.json a.json f.txt",
		"none":             "",
	} {
		got, err := upload.Find(dir, strings.Fields(patterns))
		if err != nil || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, %v; want %s", patterns, got, err, want)
		}
	}
	if _, err := upload.Find(filepath.Join(dir, "nowhere"), []string{"*"}); err == nil {
		t.Error("a folder that does not exist is no error")
	}
}

func FuzzMatches(f *testing.F) {
	f.Add("**/*.png", "a/b/c.png")
	f.Add("**/**/**/x", "a/a/a/a/a/a/y")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if strings.Count(pattern, "**") > 4 || len(name) > 200 {
			t.Skip()
		}
		if upload.Matches(pattern, name) && !upload.Matches("**", name) {
			t.Errorf("%q matches %q, ** does not", pattern, name)
		}
	})
}

func TestKindsOfFiles(t *testing.T) {
	for name, picture := range map[string]bool{"a.png": true, "a.HTML": true, "a.svg": true, "a.json": false,
		"a": false} {
		if upload.IsPicture(name) != picture {
			t.Errorf("%s: %v", name, !picture)
		}
	}
}
