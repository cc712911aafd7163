package config

import (
	"slices"

	"aiperf/internal/workload/recipe"
)

func basetenFlags() []string {
	return []string{
		"trace-session-sample-ratio", "max-idle-gap-cap-seconds", "replay-speedup",
		"open-loop-replay", "open-loop-strict", "omit-kv-hints", "force-min-tokens",
	}
}

func (d *draft) baseten() recipe.Baseten {
	p := d.p
	milliseconds := func(name string) float64 {
		if seconds := p.Float(name); seconds != nil {
			return *seconds * 1000
		}
		return 0
	}
	b := recipe.Baseten{
		SessionColumn: p.Env.Dataset.BasetenSessionColumn,
		ThinkTimes:    !p.Bool("open-loop-replay"), Alone: p.Bool("open-loop-strict"),
		IdleCapMS:   milliseconds("max-idle-gap-cap-seconds"),
		NoMinTokens: !p.Bool("force-min-tokens"), NoHints: p.Bool("omit-kv-hints"),
	}
	if p.Float("inter-turn-delay-cap-seconds") != nil && !d.branching {
		limit := milliseconds("inter-turn-delay-cap-seconds")
		b.DelayCapMS = &limit
	}
	if speedup := p.Float("replay-speedup"); speedup != nil {
		b.Speedup = *speedup
	}
	if share := p.Float("trace-session-sample-ratio"); share != nil && *share < 1 {
		b.Share = *share
	}
	return b
}

// checkBaseten refuses what only baseten traces know where the data is none.
func (d *draft) checkBaseten() {
	format := d.p.Text("custom-dataset-type")
	var flags []string
	for _, name := range basetenFlags() {
		if d.given(name) && d.p.Value(name) != defaultValue(option(name)) {
			flags = append(flags, d.flag(name))
		}
	}
	for _, flag := range flags {
		if format != "" && format != "baseten_trace" {
			d.fault("", "%s can only be used with --custom-dataset-type baseten_trace, not with %s", flag, format)
		} else if !d.given("input-file") {
			d.fault("", "%s needs a baseten trace: give one with --input-file", flag)
		}
	}
	// Only sessions whose turns wait for replies have a delay to cap.
	closed := []string{"", "dag_jsonl", "weka_trace", traceLab, dynamoTrace}
	if d.given("inter-turn-delay-cap-seconds") && d.p.Bool("open-loop-replay") && !slices.Contains(closed, format) {
		d.warn("%s has no effect without --no-open-loop-replay: recorded times are followed",
			d.flag("inter-turn-delay-cap-seconds"))
	}
	if d.active("open-loop-strict") && d.given("open-loop-replay") && !d.p.Bool("open-loop-replay") {
		d.fault("V47", "%s and %s cannot be used together", d.flag("open-loop-strict"), d.flag("open-loop-replay"))
	}
}
