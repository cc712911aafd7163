package mockserver

import (
	"strings"
	"testing"
)

func TestHelpNamesEveryFault(t *testing.T) {
	for _, k := range faultKeys {
		if !strings.Contains(FaultsHelp, k.name) {
			t.Errorf("fault %s is not in the help", k.name)
		}
	}
	_, metrics, _ := strings.Cut(FaultsHelp, "--metrics-fault SPEC)")
	for _, k := range metricsFaultKeys {
		if !strings.Contains(metrics, " "+k.name) {
			t.Errorf("fault %s of metrics pages is not in the help", k.name)
		}
	}
}
