package resolve

import (
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/configtest"
	"aiperf/internal/config/option"
)

// A part of SPEED-Bench is the same published data set by either option; a file is its copy.
func TestPartsOfSpeedBenchAsFormats(t *testing.T) {
	if n := len(option.SpeedBenchNames()); n != 32 {
		t.Errorf("%d parts of SPEED-Bench, want 32", n)
	}
	file := configtest.WriteFile(t, "rows.jsonl", `{"category":"qa","turns":["x"]}`+"\n")
	for _, name := range option.SpeedBenchNames() {
		for line, path := range map[string]string{
			"--public-dataset " + name: "", "--custom-dataset-type " + name: "",
			"--custom-dataset-type " + name + " --input-file " + file:   file,
			"--custom-dataset-type " + name + " --dataset-path " + file: file,
			"--public-dataset " + name + " --dataset-path " + file:      file,
		} {
			d := resolvedRun(t, "-m m "+line).Dataset
			if d.Kind != config.PublicDataset || d.Public.Name != name || d.Public.Path != path || d.Path != "" ||
				d.Format != "" {
				t.Errorf("%s: %s %q %+v", line, d.Kind, d.Path, d.Public)
			}
		}
	}
}

// Only the sets with sub-agents keep the scenario of recorded agents.
func TestPublishedSetsOfTheAgentScenario(t *testing.T) {
	for i, name := range option.WekaSets() {
		d := check(t, "-m m --scenario inferencex-agentx-mvp --public-dataset "+name)
		if found := len(d.scenario.agentXData()) > 0; found != (i < option.WekaAlone) {
			t.Errorf("%s: violates %v", name, found)
		}
	}
}

// A model may be named several times, which gives it more shares of the turns.
func TestModelsMayBeRepeated(t *testing.T) {
	for _, line := range []string{"-m a -m a -m b", "-m a,a,b", "-m a,a,b --model-selection-strategy random"} {
		if got := resolvedRun(t, line).Models; !slices.Equal(got, []string{"a", "a", "b"}) {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// Recorded sessions of agents need a limit that the user gave, and may be played at their times.
func TestSessionsOfAgentsNeedALimit(t *testing.T) {
	for _, name := range option.AgentSets() {
		configtest.WantText(t, name, resolveError(t, "-m m --public-dataset "+name).Error(),
			"--num-conversations, --num-dataset-entries or --request-count")
		configtest.WantText(t, name, resolveError(t, "-m m --benchmark-duration 5 --public-dataset "+name).Error(),
			"needs a limit")
		for line, want := range map[string]int{
			"--num-conversations 3": 3, "--request-count 4": 4, "--num-dataset-entries 5 --request-count 9": 5,
			"--num-dataset-entries 5 --fixed-schedule": 5,
		} {
			r := resolvedRun(t, "-m m --public-dataset "+name+" "+line)
			if r.Dataset.Public.Limit != want ||
				(r.Profiling().Mode == config.FixedSchedule) != strings.Contains(line, "fixed") {
				t.Errorf("%s: limit %d, %s", line, r.Dataset.Public.Limit, r.Profiling().Mode)
			}
		}
	}
}

// No flag gives weights, so that a choice by weight is refused, with what does the same.
func TestModelsByWeightNeedWeights(t *testing.T) {
	for _, line := range []string{"-m a,b", "-m a -m b", "-m a"} {
		faults := resolveError(t, line+" --model-selection-strategy weighted")
		configtest.WantText(t, line, faults.Error(), "needs a weight for each model")
		configtest.WantText(t, line, faults.Error(), "as in a,a,b, has so many shares")
	}
}
