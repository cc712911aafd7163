package resolve

import (
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/workload/recipe"
)

// traces decides how recorded requests are changed before they are replayed.
type traces struct {
	*asked
	file *datafile
}

func (tr *traces) synthesis() config.Synthesis {
	p := tr.p
	return config.Synthesis{
		SpeedupRatio:         *p.Float("synthesis-speedup-ratio"),
		PrefixLenMultiplier:  *p.Float("synthesis-prefix-len-multiplier"),
		PromptLenMultiplier:  *p.Float("synthesis-prompt-len-multiplier"),
		OutputLenMultiplier:  *p.Float("synthesis-output-len-multiplier"),
		PrefixRootMultiplier: int(*p.Int("synthesis-prefix-root-multiplier")),
		MaxISL:               intOr0(p.Int("synthesis-max-isl")),
		MaxOSL:               intOr0(p.Int("synthesis-max-osl")),
	}
}

func basetenFlags() []string {
	return []string{
		"trace-session-sample-ratio", "max-idle-gap-cap-seconds", "replay-speedup",
		"open-loop-replay", "open-loop-strict", "omit-kv-hints", "force-min-tokens",
	}
}

func (tr *traces) baseten() recipe.Baseten {
	p := tr.p
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
	if p.Float("inter-turn-delay-cap-seconds") != nil && !tr.file.branching {
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

// check refuses what only traces know where the data is none.
func (tr *traces) check() {
	format := tr.p.Text("custom-dataset-type")
	var flags []string
	for _, o := range option.All() {
		if strings.HasPrefix(o.Name, "synthesis-") && tr.given(o.Name) && tr.p.Value(o.Name) != o.DefaultValue() {
			flags = append(flags, tr.flag(o.Name))
		}
	}
	fromFile := !tr.file.generated()
	if name := tr.file.published.name(); name != "" && !tr.file.published.ofWeka() {
		flags = append(flags, tr.activeOf("isl-block-size")...)
		if len(flags) > 0 {
			tr.fault("V8", "%s cannot be used with the data set %s, which is no trace of lengths and blocks",
				strings.Join(flags, ", "), name)
		}
		return
	}
	switch {
	case len(flags) > 0 && format != "" && !slices.Contains(option.TraceFormats(), format):
		tr.fault("V8", "%s require a trace dataset type, not %s %s", strings.Join(flags, ", "),
			tr.flag("custom-dataset-type"), format)
	case len(flags) > 0 && !fromFile:
		tr.fault("V8", "%s require a trace: give one with --input-file", strings.Join(flags, ", "))
	}
	if idle := tr.givenOf("isl-block-size", "ignore-trace-delays"); len(idle) > 0 && !fromFile {
		tr.warn("%s has no effect without a trace: give one with --input-file", strings.Join(idle, ", "))
	}
}

// checkBaseten refuses what only baseten traces know where the data is none.
func (tr *traces) checkBaseten() {
	format := tr.p.Text("custom-dataset-type")
	var flags []string
	for _, name := range basetenFlags() {
		if tr.given(name) && tr.p.Value(name) != option.Named(name).DefaultValue() {
			flags = append(flags, tr.flag(name))
		}
	}
	for _, flag := range flags {
		if format != "" && format != "baseten_trace" {
			tr.fault("", "%s can only be used with --custom-dataset-type baseten_trace, not with %s", flag, format)
		} else if !tr.given("input-file") {
			tr.fault("", "%s needs a baseten trace: give one with --input-file", flag)
		}
	}
	// Only sessions whose turns wait for replies have a delay to cap.
	closed := []string{"", "dag_jsonl", "weka_trace", option.TraceLab, option.DynamoTrace}
	if tr.given("inter-turn-delay-cap-seconds") && tr.p.Bool("open-loop-replay") && !slices.Contains(closed, format) {
		tr.warn("%s has no effect without --no-open-loop-replay: recorded times are followed",
			tr.flag("inter-turn-delay-cap-seconds"))
	}
	if tr.active("open-loop-strict") && tr.given("open-loop-replay") && !tr.p.Bool("open-loop-replay") {
		tr.fault("V47", "%s and %s cannot be used together", tr.flag("open-loop-strict"), tr.flag("open-loop-replay"))
	}
}
