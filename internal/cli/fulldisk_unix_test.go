//go:build unix

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// limited starts a benchmark whose files may not grow beyond so many blocks of 512 bytes (or 1024,
// depending on the shell): a file that may not grow stands for a full disk.
func limited(t *testing.T, blocks, url string, flags ...string) *program {
	t.Helper()
	p := &program{t: t, dir: t.TempDir()}
	p.cmd = profileCommand(url, p.dir, flags...)
	p.cmd.Path, p.cmd.Args = "/bin/sh",
		append([]string{"sh", "-c", `ulimit -f "$0" && exec "$@"`, blocks}, p.cmd.Args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFullDiskEndsTheRun: the run, which would take hours, ends; what was written is kept in whole
// lines; the reports say so.
func TestFullDiskEndsTheRun(t *testing.T) {
	t.Parallel()
	p := limited(t, "128", mock(t), "--request-count", "1000000000", "--num-dataset-entries", "1", "--osl", "2")
	p.ends(1)
	p.says(p.stderr.String(), "profile_export.jsonl")
	p.says(p.stderr.String(), "file too large")
	p.says(p.stdout.String(), "The run is incomplete")
	p.says(p.stdout.String(), "LLM Metrics")
	if got := p.show("profile_export_aiperf.json", "is_complete"); got != "false" {
		t.Errorf("the summary says is_complete %s", got)
	}
	records, err := os.ReadFile(filepath.Join(p.dir, "profile_export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(records) < 32<<10 || records[len(records)-1] != '\n' {
		t.Errorf("%d bytes of records were kept, ending with a whole line: %t", len(records),
			strings.HasSuffix(string(records), "\n"))
	}
	for line := range strings.Lines(string(records)) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("broken line %q", line)
		}
	}
}

// TestReportsThatDoNotFit: each file that could not be written is named, the others are written.
func TestReportsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, blocks string
		flags        []string
		lost, kept   []string
	}{
		{"summary", "6", []string{"--num-dataset-entries", "1"},
			[]string{"profile_export_aiperf.json", "profile_export_console.txt"},
			[]string{"inputs.json", "profile_export.jsonl"}},
		{"inputs", "128", []string{"--num-dataset-entries", "2000"},
			[]string{"inputs.json"}, []string{"profile_export_aiperf.json", "profile_export_aiperf.csv",
				"profile_export.jsonl"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := limited(t, c.blocks, mock(t),
				append(c.flags, "--request-count", "1", "--osl", "2", "--log-level", "error")...)
			p.ends(1)
			p.says(p.stdout.String(), "LLM Metrics")
			for _, file := range c.lost {
				p.says(p.stderr.String(), file)
				if strings.Contains(p.stdout.String(), "Export: "+filepath.Join(p.dir, file)) {
					t.Errorf("the footer names %s, which was not written", file)
				}
			}
			for _, file := range c.kept {
				if _, err := os.Stat(filepath.Join(p.dir, file)); err != nil {
					t.Error(err)
				}
			}
			entries, err := os.ReadDir(p.dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range entries {
				if slices.Contains(c.lost, entry.Name()) || strings.Contains(entry.Name(), "tmp") {
					t.Errorf("%s was left behind", entry.Name())
				}
			}
		})
	}
}
