package resolve

import (
	"strings"
	"testing"

	"aiperf/internal/config/parse"
)

// The word dashboard is exact, the names of the local collectors are not.
func TestTrapDashboardIsAnExactWord(t *testing.T) {
	for _, item := range []string{"Dashboard", "DASHBOARD", " dashboard", "dash"} {
		if got, err := parse.GPU([]string{item}); err == nil ||
			!strings.HasPrefix(err.Error(),
				"Invalid GPU telemetry item: "+item+
					". Valid options are: 'pynvml', 'amdsmi', 'dashboard', '.csv' file, and URLs.") {
			t.Errorf("%q: %+v, %v", item, got, err)
		}
	}
	if got, err := parse.GPU([]string{"dashboard"}); err != nil || !got.Dashboard || got.Collector != "" ||
		got.Exporters != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	for item, want := range map[string]string{"pynvml": "pynvml", "PYNVML": "pynvml", "PyNVML": "pynvml",
		"amdsmi": "amdsmi", "AMDSMI": "amdsmi"} {
		if got, err := parse.GPU([]string{item}); err != nil || got.Collector != want || got.Dashboard {
			t.Errorf("%s: %+v, %v", item, got, err)
		}
	}
	// The order of the tests: a name that ends in .csv is a file, whatever else it looks like.
	if _, err := parse.GPU([]string{"http://n1:9400/pynvml.csv"}); err == nil ||
		!strings.HasPrefix(err.Error(), "GPU metrics file not found: ") {
		t.Errorf("got %v", err)
	}
}
