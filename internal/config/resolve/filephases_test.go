package resolve

import (
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/config/settings"
)

// TestPhasesOfAFileEndByThemselves: the duration of one phase ends no other.
func TestPhasesOfAFileEndByThemselves(t *testing.T) {
	base := mustParse(t, "-m m --tokenizer builtin")
	base.Phases = []settings.Phase{
		{Name: "warmup", Kind: "warmup", Type: "concurrency",
			Settings: mustParse(t, "-m m --tokenizer builtin --concurrency 1 --request-count 4")},
		{Name: "short", Kind: "profiling", Type: "concurrency",
			Settings: mustParse(t, "-m m --tokenizer builtin --concurrency 1 --benchmark-duration 2")},
		{Name: "long", Kind: "profiling", Type: "concurrency",
			Settings: mustParse(t, "-m m --tokenizer builtin --concurrency 1 --benchmark-duration 5")},
		{Name: "counted", Kind: "profiling", Type: "concurrency",
			Settings: mustParse(t, "-m m --tokenizer builtin --concurrency 1 --request-count 7")},
	}
	run, _, err := Resolve(base, fakeCatalog{})
	if err != nil {
		t.Fatal(err)
	}
	two, five := 2*time.Second, 5*time.Second
	for i, want := range []*time.Duration{nil, &two, &five, nil} {
		got := run.Phases[i]
		if (got.Duration == nil) != (want == nil) || want != nil && *got.Duration != *want {
			t.Errorf("%s: duration %v, want %v", got.Name, got.Duration, want)
		}
	}
	if run.Phases[0].Kind != config.WarmupPhase {
		t.Errorf("%+v", run.Phases[0])
	}
}
