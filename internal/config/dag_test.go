package config

import "testing"

func resolvedRun(t *testing.T, line string) *Run {
	t.Helper()
	r, _ := mustResolve(t, line)
	return r
}

func TestEachRootIsPlayedOnceWithoutACount(t *testing.T) {
	file := writeFile(t, "roots3.jsonl", "{}\n")
	for line, want := range map[string]int64{
		"":                       3,
		"--benchmark-duration 5": 3,
		"--request-rate 2":       3,
		"--num-sessions 7":       7,
		"--request-count 5":      0,
	} {
		r := resolvedRun(t, "-m m --custom-dataset-type dag_jsonl --input-file "+file+" "+line)
		got := int64(0)
		if s := r.Profiling().Sessions; s != nil {
			got = *s
		}
		if got != want || want > 0 && r.Profiling().Requests != nil {
			t.Errorf("%s: %d sessions, requests %v, want %d", line, got, r.Profiling().Requests, want)
		}
	}
	for _, line := range []string{"--fixed-schedule", "--user-centric-rate 1 --num-users 2 --session-turns-mean 2 --request-count 4"} {
		faults := resolveError(t, "-m m --custom-dataset-type dag_jsonl --input-file "+file+" "+line)
		wantText(t, line, faults.Error(), "branching sessions")
	}
	faults := resolveError(t, "-m m --custom-dataset-type dag_jsonl --input-file "+file+" --concurrency 4")
	if !faults.Has("V12") {
		t.Errorf("more slots than roots: %v", faults)
	}
}
