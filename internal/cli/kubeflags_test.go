package cli

import (
	"testing"

	"aiperf/internal/cli/kube"
)

// --no-detach follows a benchmark where there is no terminal, too.
func TestNoDetachFollows(t *testing.T) {
	for text, want := range map[string]bool{"--no-detach": false, "--detach": true, "-d": true} {
		var o kube.Deploy
		own, rest := kube.SplitFlags(o.ProfileTable(), []string{"--no-operator", text, "--engine", "jobset", "--no-wait"})
		if _, err := o.ProfileTable().Parse(own); err != nil || o.Detach == nil || *o.Detach != want || len(rest) > 0 {
			t.Errorf("%s: %v, %v, %v", text, own, rest, err)
		}
	}
}
