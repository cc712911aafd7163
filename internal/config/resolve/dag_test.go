package resolve

import (
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/workload/recipe"
)

func resolvedRun(t *testing.T, line string) *config.Run {
	t.Helper()
	r, _ := mustResolve(t, line)
	return r
}

func TestEachRootIsPlayedOnceWithoutACount(t *testing.T) {
	file := configtest.WriteFile(t, "roots3.jsonl", "{}\n")
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
	for _, line := range []string{"--fixed-schedule",
		"--user-centric-rate 1 --num-users 2 --session-turns-mean 2 --request-count 4"} {
		faults := resolveError(t, "-m m --custom-dataset-type dag_jsonl --input-file "+file+" "+line)
		configtest.WantText(t, line, faults.Error(), "branching sessions")
	}
	d := check(t, "-m m --custom-dataset-type dag_jsonl --input-file "+file+" --concurrency 4")
	if len(d.faults) > 0 || !warns(d, "--concurrency 4 has no effect beyond 3") {
		t.Errorf("more slots than roots: %v, %v", d.faults, d.warnings)
	}
}

// A tracelab recording follows its times; played otherwise, its sessions branch like those of other recorded agents.
func TestTraceLabIsARecordingOfAgents(t *testing.T) {
	line := "-m m --custom-dataset-type tracelab --input-file " + configtest.WriteFile(t, "lab.jsonl", "{}\n")
	r := resolvedRun(t, line+" --num-dataset-entries 7 --max-context-length 1000")
	if r.Profiling().Mode != config.FixedSchedule || r.Dataset.MaxTraces != 7 || r.Dataset.MaxContext != 1000 ||
		r.Dataset.Corpus != "coding" {
		t.Errorf("%s, %+v", r.Profiling().Mode, r.Dataset)
	}
	if lab := r.Env.Dataset.TraceLab; lab != (recipe.TraceLab{Join: true, JoinCodex: true,
		MinSpawn: 10 * time.Second}) {
		t.Errorf("%+v", lab)
	}
	if d := check(t, line+" --inter-turn-delay-cap-seconds 3"); len(d.faults) > 0 ||
		!warns(d, "no effect in a fixed schedule") {
		t.Errorf("%v, %v", d.faults, d.warnings)
	}
	if r := resolvedRun(t, line+" --no-fixed-schedule --use-think-time-only --inter-turn-delay-cap-seconds 3 "+
		"--concurrency 2"); r.Profiling().Mode != config.Burst || *r.Dataset.MaxDelayMS != 3000 {
		t.Errorf("%s, %+v", r.Profiling().Mode, r.Dataset)
	}
	configtest.WantText(t, line, resolveError(t,
		line+" --no-fixed-schedule --user-centric-rate 1 --num-users 2 --session-turns-mean 2 --request-count "+
			"4").Error(), "branching sessions")
}
