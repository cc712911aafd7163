package resolve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/settings"
	"aiperf/internal/workload/recipe"
)

// fakeCatalog describes a few metrics.
type fakeCatalog struct{}

func (fakeCatalog) Metric(tag string) (config.MetricFacts, bool) {
	switch tag {
	case "ttft":
		tag = "time_to_first_token"
		fallthrough
	case "request_latency", "inter_token_latency", "time_to_first_token":
		return config.MetricFacts{Tag: tag, Unit: time.Millisecond}, true
	case "goodput", "request_throughput":
		return config.MetricFacts{Tag: tag, Derived: true}, true
	}
	return config.MetricFacts{}, false
}

func (fakeCatalog) MetricTags() []string {
	return []string{"request_latency", "inter_token_latency", "time_to_first_token"}
}

// DatasetRoots finds as many as the name of the file says.
func (fakeCatalog) DatasetRoots(path string) (n int64) {
	fmt.Sscanf(filepath.Base(path), "roots%d", &n)
	return n
}

// Table knows no tables.
func (fakeCatalog) Table(string, []recipe.Column) (rows int64, timed, lengths bool) {
	return 0, false, false
}

func (fakeCatalog) TableRoles() []string { return []string{"text", "timestamp"} }

func (fakeCatalog) TableRole(name string) (role string, known bool) {
	if name == "prompt" {
		name = "text"
	}
	return name, name == "text" || name == "timestamp"
}

// Threshold refuses those that begin with an exclamation mark.
func (fakeCatalog) Threshold(text string, _ []float64) error {
	if strings.HasPrefix(text, "!") {
		return errors.New(text + " is not a threshold")
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

func mustParse(t *testing.T, line string, env ...string) *settings.Settings {
	t.Helper()
	p, err := settings.Parse(configtest.Words(line), configtest.Environ(env...))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return p
}

func mustResolve(t *testing.T, line string) (*config.Run, []fault.Warning) {
	t.Helper()
	run, warnings, err := Resolve(mustParse(t, line), fakeCatalog{})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return run, warnings
}

func parseError(t *testing.T, line string, env ...string) fault.List {
	t.Helper()
	_, err := settings.Parse(configtest.Words(line), configtest.Environ(env...))
	return faultsOf(t, line, err)
}

// resolveError resolves a line that parses but is refused.
func resolveError(t *testing.T, line string) fault.List {
	t.Helper()
	_, _, err := Resolve(mustParse(t, line), fakeCatalog{})
	return faultsOf(t, line, err)
}

func faultsOf(t *testing.T, line string, err error) fault.List {
	t.Helper()
	var faults fault.List
	if !errors.As(err, &faults) {
		t.Fatalf("%s: got %v, want faults", line, err)
	}
	return faults
}

// check applies all rules without looking at what is built, for what this release parses but cannot do.
func check(t *testing.T, line string) *resolution {
	t.Helper()
	r := newResolution(&asked{p: mustParse(t, line), catalog: fakeCatalog{}, found: &found{}})
	r.decide()
	for _, rule := range r.rules() {
		rule()
	}
	return r
}
