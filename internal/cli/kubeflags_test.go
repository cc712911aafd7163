package cli

import "testing"

// --no-detach follows a benchmark where there is no terminal, too.
func TestNoDetachFollows(t *testing.T) {
	for text, want := range map[string]bool{"--no-detach": false, "--detach": true, "-d": true} {
		var o kubeDeploy
		own, rest := splitFlags(o.profileTable(), []string{"--no-operator", text, "--engine", "jobset", "--no-wait"})
		if _, err := o.profileTable().Parse(own); err != nil || o.detach == nil || *o.detach != want || len(rest) > 0 {
			t.Errorf("%s: %v, %v, %v", text, own, rest, err)
		}
	}
}
