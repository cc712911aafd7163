package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeCatalog describes a few metrics.
type fakeCatalog struct{}

func (fakeCatalog) Metric(tag string) (MetricFacts, bool) {
	switch tag {
	case "ttft":
		tag = "time_to_first_token"
		fallthrough
	case "request_latency", "inter_token_latency", "time_to_first_token":
		return MetricFacts{Tag: tag, Unit: time.Millisecond}, true
	case "goodput", "request_throughput":
		return MetricFacts{Tag: tag, Derived: true}, true
	}
	return MetricFacts{}, false
}

func (fakeCatalog) MetricTags() []string {
	return []string{"request_latency", "inter_token_latency", "time_to_first_token"}
}

// DatasetRoots finds as many as the name of the file says.
func (fakeCatalog) DatasetRoots(path string) (n int64) {
	fmt.Sscanf(filepath.Base(path), "roots%d", &n)
	return n
}

// Threshold refuses those that begin with an exclamation mark.
func (fakeCatalog) Threshold(text string, _ []float64) error {
	if strings.HasPrefix(text, "!") {
		return errors.New(text + " is no threshold")
	}
	return nil
}

// DatasetFormat knows traces by one key.
func (fakeCatalog) DatasetFormat(path string) string {
	if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), `"input_length"`) {
		return "mooncake_trace"
	}
	return ""
}

// environ makes a Lookup of NAME=value entries.
func environ(entries ...string) Lookup {
	return func(name string) (string, bool) {
		for _, e := range entries {
			if key, value, _ := strings.Cut(e, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
}

// words splits a command line at blanks; a part in single quotes stays whole.
func words(line string) []string {
	var args []string
	var word strings.Builder
	open, quoted := false, false
	flush := func() {
		if open {
			args = append(args, word.String())
		}
		word.Reset()
		open = false
	}
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, open = !quoted, true
		case r == ' ' && !quoted:
			flush()
		default:
			word.WriteRune(r)
			open = true
		}
	}
	flush()
	return args
}

func mustParse(t *testing.T, line string, env ...string) *Parsed {
	t.Helper()
	p, err := Parse(words(line), environ(env...))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return p
}

func mustResolve(t *testing.T, line string) (*Run, []Warning) {
	t.Helper()
	run, warnings, err := Resolve(mustParse(t, line), fakeCatalog{})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return run, warnings
}

func parseError(t *testing.T, line string, env ...string) Faults {
	t.Helper()
	_, err := Parse(words(line), environ(env...))
	return faultsOf(t, line, err)
}

// resolveError resolves a line that parses but is refused.
func resolveError(t *testing.T, line string) Faults {
	t.Helper()
	_, _, err := Resolve(mustParse(t, line), fakeCatalog{})
	return faultsOf(t, line, err)
}

func faultsOf(t *testing.T, line string, err error) Faults {
	t.Helper()
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatalf("%s: got %v, want faults", line, err)
	}
	return faults
}

// check applies all rules without looking at what is built, for what this release parses but cannot do.
func check(t *testing.T, line string) *resolution {
	t.Helper()
	r := newResolution(&asked{p: mustParse(t, line), catalog: fakeCatalog{}})
	r.decide()
	for _, rule := range r.rules() {
		rule()
	}
	return r
}

func wantText(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q does not contain %q", what, text, part)
		}
	}
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func texting(warnings []Warning) string {
	var lines []string
	for _, w := range warnings {
		lines = append(lines, string(w.Level)+" "+w.Text)
	}
	return strings.Join(lines, "\n")
}
