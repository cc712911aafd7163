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
		SpeedupRatio:         p.SynthesisSpeedupRatio.Get(),
		Users:                p.SynthesisUsers.Get(),
		PrefixLenMultiplier:  p.SynthesisPrefixLenMultiplier.Get(),
		PromptLenMultiplier:  p.SynthesisPromptLenMultiplier.Get(),
		OutputLenMultiplier:  p.SynthesisOutputLenMultiplier.Get(),
		PrefixRootMultiplier: int(p.SynthesisPrefixRootMultiplier.Get()),
		MaxISL:               int(p.SynthesisMaxISL.Get()),
		MaxOSL:               int(p.SynthesisMaxOSL.Get()),
	}
}

// basetenOnly are the options that only traces of Baseten know.
func basetenOnly(p *option.Tree) []option.Field {
	return []option.Field{&p.TraceSessionSampleRatio, &p.MaxIdleGapCapSeconds, &p.ReplaySpeedup, &p.OpenLoopReplay,
		&p.OpenLoopStrict, &p.OmitKVHints, &p.ForceMinTokens}
}

// synthesizing are the options that change a trace before it is replayed.
func synthesizing(p *option.Tree) []option.Field {
	return []option.Field{&p.SynthesisSpeedupRatio, &p.SynthesisUsers, &p.SynthesisPrefixLenMultiplier, &p.SynthesisPrefixRootMultiplier,
		&p.SynthesisPromptLenMultiplier, &p.SynthesisOutputLenMultiplier, &p.SynthesisMaxISL, &p.SynthesisMaxOSL}
}

// changedOf lists the flags of those options that were given another value than the default.
func changedOf(options ...option.Field) (flags []string) {
	for _, o := range options {
		if o.Given() && o.Value() != o.Row().DefaultValue() {
			flags = append(flags, o.Flag())
		}
	}
	return flags
}

func (tr *traces) baseten() recipe.Baseten {
	p := tr.p
	b := recipe.Baseten{
		SessionColumn: p.Env.Dataset.BasetenSessionColumn,
		ThinkTimes:    !p.OpenLoopReplay.Get(), Alone: p.OpenLoopStrict.Get(),
		IdleCapMS: p.MaxIdleGapCapSeconds.Get() * 1000, Speedup: p.ReplaySpeedup.Get(),
		NoMinTokens: !p.ForceMinTokens.Get(), NoHints: p.OmitKVHints.Get(),
	}
	if seconds := p.InterTurnDelayCapSeconds.Pointer(); seconds != nil && !tr.file.branching {
		limit := *seconds * 1000
		b.DelayCapMS = &limit
	}
	if share := p.TraceSessionSampleRatio.Pointer(); share != nil && *share < 1 {
		b.Share = *share
	}
	return b
}

// check refuses what only traces know where the data is none.
func (tr *traces) check() {
	format := tr.p.CustomDatasetType.Get()
	flags := changedOf(synthesizing(&tr.p.Tree)...)
	fromFile := !tr.file.generated()
	if name := tr.file.published.name(); name != "" && !tr.file.published.ofWeka() {
		flags = append(flags, activeOf(&tr.p.ISLBlockSize)...)
		if len(flags) > 0 {
			tr.fault("V8", "%s cannot be used with the data set %s, which is no trace of lengths and blocks",
				strings.Join(flags, ", "), name)
		}
		return
	}
	switch {
	case len(flags) > 0 && format != "" && !slices.Contains(option.TraceFormats(), format):
		tr.fault("V8", "%s require a trace dataset type, not %s %s", strings.Join(flags, ", "),
			tr.p.CustomDatasetType.Flag(), format)
	case len(flags) > 0 && !fromFile:
		tr.fault("V8", "%s require a trace: give one with --input-file", strings.Join(flags, ", "))
	}
	if idle := givenOf(&tr.p.ISLBlockSize, &tr.p.IgnoreTraceDelays); len(idle) > 0 && !fromFile {
		tr.warn("%s has no effect without a trace: give one with --input-file", strings.Join(idle, ", "))
	}
}

// checkBaseten refuses what only baseten traces know where the data is none.
func (tr *traces) checkBaseten() {
	format := tr.p.CustomDatasetType.Get()
	only := basetenOnly(&tr.p.Tree)
	if tr.recorded() != nil {
		only = slices.DeleteFunc(only, func(f option.Field) bool { return f == option.Field(&tr.p.ForceMinTokens) })
	}
	for _, flag := range changedOf(only...) {
		if format != "" && format != "baseten_trace" {
			tr.fault("", "%s can only be used with --custom-dataset-type baseten_trace, not with %s", flag, format)
		} else if !tr.p.InputFile.Given() {
			tr.fault("", "%s needs a baseten trace: give one with --input-file", flag)
		}
	}
	// Only sessions whose turns wait for replies have a delay to cap.
	closed := []string{"", "dag_jsonl", "weka_trace", option.TraceLab, option.DynamoTrace, option.Recording}
	if tr.p.InterTurnDelayCapSeconds.Given() && tr.p.OpenLoopReplay.Get() && !slices.Contains(closed, format) {
		tr.warn("%s has no effect without --no-open-loop-replay: recorded times are followed",
			tr.p.InterTurnDelayCapSeconds.Flag())
	}
	if active(&tr.p.OpenLoopStrict) && tr.p.OpenLoopReplay.Given() && !tr.p.OpenLoopReplay.Get() {
		tr.fault("V47", "%s and %s cannot be used together", tr.p.OpenLoopStrict.Flag(), tr.p.OpenLoopReplay.Flag())
	}
}
