package option_test

import (
	"strings"
	"testing"

	"aiperf/internal/config/option"
)

func TestForeignFlagsHaveNamesHere(t *testing.T) {
	const calls = "aiperf calls this "
	for line, want := range map[string]string{
		"-n 100": "--request-count 100", "-c 10": "--concurrency 10", "--rate 5": "--request-rate 5",
		"--duration 1m": "--benchmark-duration 1m", "--timeout 30s": "--request-timeout-seconds 30s",
		"--target h:1": "--url h:1", "--base-url": "--url", "--base_url http://u:p@h": "--url http://<redacted>@h",
		"--random-input-len 100": "--isl 100", "--random-output-len x": "--osl", "--vus 3": "--concurrency 3",
		"--max-seconds 30": "--benchmark-duration 30", "--qps 5": "--request-rate 5", "--n": "--request-count",
		"--max-concurrency 7": "--concurrency 7", "--dataset-name sharegpt": "--public-dataset NAME",
		"--backend vllm": "--endpoint-type", "--backend chat": "--endpoint-type chat", "--ignore-eos": "--extra-inputs ignore_eos:true",
		"--temperature 0": "--extra-inputs temperature:0", "--top-p 0.9": "--extra-inputs top_p:0.9", "--unheard-of": "", "-x": "",
	} {
		typed, value, _ := strings.Cut(line, " ")
		got := option.Foreign(typed, value)
		text, called := strings.CutPrefix(got, calls)
		if want == "" && got != "" || want != "" && (!called || text != want && !strings.HasPrefix(text, want+" ")) {
			t.Errorf("%s: %q, want %q", line, got, calls+want)
		}
		if flag, _, _ := strings.Cut(text, " "); called {
			if _, ok := option.Find(flag); !ok {
				t.Errorf("%s: there is no %s", typed, flag)
			}
		}
		if _, ours := option.Find(typed); ours {
			t.Errorf("%s is a flag here", typed)
		}
	}
	if got := option.Foreign("--threads", "4"); !strings.HasPrefix(got, "it is not needed") {
		t.Error(got)
	}
}
