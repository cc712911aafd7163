package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/tools/programs"
)

// sample is a release whose program is a few bytes.
func sample(t *testing.T) *release {
	texts := []file{{"LICENSE", 0o644, []byte("licence")}, {"NOTICE", 0o644, []byte("notice")}, {thirdParty, 0o644, []byte("all")},
		{"README.md", 0o644, []byte("readme")}}
	return &release{version: "0.1.0+1a2b", date: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), work: t.TempDir(),
		texts: texts, completions: []file{{"aiperf.bash", 0o644, []byte("complete")}, {"_aiperf", 0o644, []byte("compdef")},
			{"aiperf.fish", 0o644, []byte("fish")}, {"aiperf.ps1", 0o644, []byte("ps1")}},
		manual: []file{{"aiperf.1", 0o644, []byte(".TH aiperf 1\n")}}}
}

// read returns the modes and the contents of a tar.gz or a zip file.
func read(t *testing.T, name string, data []byte) (map[string]string, map[string]os.FileMode) {
	t.Helper()
	files, modes := map[string]string{}, map[string]os.FileMode{}
	if !strings.HasSuffix(name, ".tar.gz") {
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name], modes[f.Name] = string(content), f.Mode()
		}
		return files, modes
	}
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(packed); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, modes
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name], modes[h.Name] = string(content), os.FileMode(h.Mode)
	}
}

func TestArchivesOfAllPlatforms(t *testing.T) {
	r := sample(t)
	for _, p := range programs.Released {
		binaries := []file{{"aiperf" + p.Exe(), 0o755, []byte("program")}}
		name, data, err := r.archive(p, binaries)
		if err != nil {
			t.Fatal(err)
		}
		if again, same, _ := r.archive(p, binaries); again != name || !bytes.Equal(data, same) {
			t.Errorf("%s: two archives differ", p)
		}
		end := ".tar.gz"
		if p.OS == "windows" {
			end = ".zip"
		}
		folder := "aiperf_0.1.0+1a2b_" + p.OS + "_" + p.Arch
		if name != folder+end {
			t.Errorf("%s: the archive is %s", p, name)
		}
		files, modes := read(t, name, data)
		for _, want := range []string{"LICENSE", "NOTICE", thirdParty, "README.md", "completions/aiperf.bash", "completions/_aiperf",
			"completions/aiperf.fish", "completions/aiperf.ps1", "man/man1/aiperf.1"} {
			if files[folder+"/"+want] == "" {
				t.Errorf("%s lacks %s", name, want)
			}
		}
		if mode := modes[folder+"/aiperf"+p.Exe()]; mode.Perm() != 0o755 {
			t.Errorf("%s: the program has the mode %o", name, mode)
		}
	}
}

// TestWheels compares the record of each wheel with its files, as installers do.
func TestWheels(t *testing.T) {
	r := sample(t)
	for _, p := range programs.Released {
		name, data, err := r.wheel(p, []byte("program"))
		if err != nil {
			t.Fatal(err)
		}
		if _, same, _ := r.wheel(p, []byte("program")); !bytes.Equal(data, same) {
			t.Errorf("%s: two wheels differ", p)
		}
		files, modes := read(t, name, data)
		const base = "aiperf_go-0.1.0+1a2b"
		script := base + ".data/scripts/aiperf" + p.Exe()
		if modes[script].Perm() != 0o755 || files["aiperf_go/__init__.py"] == "" || files["aiperf_go/__main__.py"] == "" {
			t.Errorf("%s has %v", name, modes)
		}
		rows, err := csv.NewReader(strings.NewReader(files[base+".dist-info/RECORD"])).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(files) {
			t.Errorf("%s: the record has %d of %d files", name, len(rows), len(files))
		}
		for _, row := range rows {
			content, there := files[row[0]]
			sum := sha256.Sum256([]byte(content))
			want := "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:])
			if isRecord := strings.HasSuffix(row[0], "/RECORD"); !there || !isRecord && (row[1] != want ||
				row[2] != fmt.Sprint(len(content))) {
				t.Errorf("%s: %v", name, row)
			}
		}
		// Each tag of the name is in the file WHEEL, expanded.
		parts := strings.Split(strings.TrimSuffix(name, ".whl"), "-")
		for tag := range strings.SplitSeq(parts[len(parts)-1], ".") {
			if !strings.Contains(files[base+".dist-info/WHEEL"], "\nTag: py3-none-"+tag+"\n") {
				t.Errorf("%s: WHEEL lacks %s", name, tag)
			}
		}
		if !strings.Contains(files[base+".dist-info/METADATA"], "Name: aiperf-go\nVersion: 0.1.0+1a2b\n") {
			t.Errorf("%s: %s", name, files[base+".dist-info/METADATA"])
		}
	}
}

func TestPackagesAreTheSameTwice(t *testing.T) {
	p := programs.Platform{OS: "linux", Arch: "arm64"}
	for format, want := range map[string]string{"deb": "aiperf_0.1.0+1a2b-1_arm64.deb", "rpm": "aiperf-0.1.0+1a2b-1.aarch64.rpm"} {
		var first []byte
		for range 2 {
			name, data, err := sample(t).systemPackage(format, p, []file{{"aiperf", 0o755, []byte("program")}})
			if err != nil {
				t.Fatal(err)
			}
			if name != want {
				t.Errorf("the package is %s, want %s", name, want)
			}
			if first != nil && !bytes.Equal(first, data) {
				t.Errorf("%s: two packages differ", format)
			}
			first = data
		}
	}
}

func TestFlagsAreReadFromThePage(t *testing.T) {
	parts := readFlags("# Command line\n\n## Load\n\n| Flag | Value | Default | Limits | Meaning |\n|---|---|---|---|---|\n" +
		"| `-c` `--concurrency` | INT | 1 | at least 1 | Sessions at once, see [load](load.md). |\n\n# Other commands\n\n" +
		"## aiperf config init\n\n| Flag | Value | Meaning |\n|---|---|---|\n| `--to` | a\\|b | where to |\n\n## aiperf licenses\n")
	if got := fmt.Sprint(parts["profile"]); got !=
		"[{Load [{-c, --concurrency INT Sessions at once, see load. Default: 1. Limits: at least 1.}]}]" {
		t.Errorf("profile: %s", got)
	}
	if got := fmt.Sprint(parts["config"]); got != "[{aiperf config init [{--to a|b where to}]}]" {
		t.Errorf("config: %s", got)
	}
	if got := roff(`.a-b\c`); got != `\&.a\-b\ec` {
		t.Errorf("roff: %s", got)
	}
}

// TestThePageHasFlagsOfCommands reads the real page, whose form may change.
func TestThePageHasFlagsOfCommands(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("../..", "docs/cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := readFlags(string(page))
	for command, flag := range map[string]string{"profile": "--concurrency", "quick": "--seconds", "kube": "--image"} {
		found := false
		for _, part := range parts[command] {
			found = found || slices.ContainsFunc(part.flags, func(f manualFlag) bool { return strings.Contains(f.names, flag) })
		}
		if !found {
			t.Errorf("aiperf %s lacks %s", command, flag)
		}
	}
}

func TestOnlyReleasedPlatformsAreChosen(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != 6 {
		t.Errorf("without a list: %v, %v", all, err)
	}
	if two, err := choose("linux/amd64, windows/arm64"); err != nil || fmt.Sprint(two) != "[linux/amd64 windows/arm64]" {
		t.Errorf("two: %v, %v", two, err)
	}
	for _, bad := range []string{"linux", "plan9/amd64"} {
		if _, err := choose(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestAFolderOfOtherFilesStays asks for a folder that holds something else.
func TestAFolderOfOtherFilesStays(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "thesis.tex")
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := empty(dir); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("emptied: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
