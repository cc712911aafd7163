package sweep_test

import (
	"fmt"
	"testing"

	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/sweep"
)

// variants expands the variants of a command line.
func variants(t *testing.T, texts ...string) (*sweep.Plan, error) {
	t.Helper()
	args := []string{"--model", "m"}
	for _, text := range texts {
		args = append(args, "--variant="+text)
	}
	p, err := settings.Parse(args, none)
	if err != nil {
		t.Fatal(err)
	}
	return sweep.FromFlags(p, nil)
}

func TestVariantsNameFlags(t *testing.T) {
	for text, want := range map[string]string{
		"few: concurrency=2, osl=8":  "few",
		"request_rate=2.5":           "v3",
		"--isl=64, --request-rate=1": "v3",
	} {
		p, err := variants(t, "a: concurrency=1", "b: concurrency=2", "c: concurrency=3", text)
		if err != nil || len(p.Variations) != 4 || p.Variations[3].Label != want {
			t.Errorf("%q: %+v, %v; want the label %q", text, p, err, want)
		}
	}
	for text, want := range map[string]string{
		"few: concurency=2":            "there is no flag --concurency",
		"concurrency=2, concurrency=3": "concurrency is given twice",
		"few:":                         "it sets nothing; write key=value, with the names of flags as keys",
		"few: concurrency":             `"concurrency" is not key=value`,
		"../few: concurrency=2":        "the name cannot be that of a folder",
	} {
		want = fmt.Sprintf("--variant %q: %s", text, want)
		if _, err := variants(t, text); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
