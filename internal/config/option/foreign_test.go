package option_test

import (
	"strings"
	"testing"

	"aiperf/internal/config/option"
)

func TestForeignFlagsHaveNamesHere(t *testing.T) {
	for typed, want := range map[string]string{
		"-n": "--request-count", "-c": "--concurrency", "--rate": "--request-rate", "--duration": "--benchmark-duration",
		"--timeout": "--request-timeout-seconds", "--target": "--url", "--base-url": "--url", "--base_url": "--url",
		"--random-input-len": "--isl", "--random-output-len": "--osl", "--vus": "--concurrency",
		"--max-seconds": "--benchmark-duration", "--qps": "--request-rate", "--max-concurrency": "--concurrency",
		"--dataset-name": "--public-dataset NAME", "--unheard-of": "", "-x": "", "--n": "--request-count",
	} {
		got := option.Foreign(typed)
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
		if flag, _, _ := strings.Cut(got, " "); strings.HasPrefix(flag, "--") {
			if _, ok := option.Find(flag); !ok {
				t.Errorf("%s: there is no %s", typed, flag)
			}
		}
		if _, ours := option.Find(typed); ours {
			t.Errorf("%s is a flag here", typed)
		}
	}
}
