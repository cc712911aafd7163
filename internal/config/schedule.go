package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// Schedule says which part of a recording is replayed and where its time begins.
type Schedule struct {
	// AutoOffset makes the first recorded time the start of the phase.
	AutoOffset bool
	// StartMS and EndMS are the window of recorded time, both included; nil is open. StartMS is also
	// the start of the phase.
	StartMS, EndMS *int64
	// Rows of the file that are not blank.
	Rows int64
}

// Synthesis says how a trace is changed before it is replayed.
type Synthesis struct {
	SpeedupRatio, PrefixLenMultiplier, PromptLenMultiplier, OutputLenMultiplier float64
	PrefixRootMultiplier                                                        int
	// MaxISL leaves rows out, MaxOSL caps their output; 0 is no limit.
	MaxISL, MaxOSL int
}

// Reshapes reports whether anything but the filters was asked for.
func (s Synthesis) Reshapes() bool {
	return s.SpeedupRatio != 1 || s.PrefixLenMultiplier != 1 || s.PromptLenMultiplier != 1 ||
		s.OutputLenMultiplier != 1 || s.PrefixRootMultiplier != 1
}

func (d *draft) schedule() *Schedule {
	return &Schedule{
		AutoOffset: d.p.Bool("fixed-schedule-auto-offset"),
		StartMS:    d.p.Int("fixed-schedule-start-offset"), EndMS: d.p.Int("fixed-schedule-end-offset"),
		Rows: d.lines,
	}
}

func (d *draft) synthesis() Synthesis {
	p := d.p
	return Synthesis{
		SpeedupRatio:         *p.Float("synthesis-speedup-ratio"),
		PrefixLenMultiplier:  *p.Float("synthesis-prefix-len-multiplier"),
		PromptLenMultiplier:  *p.Float("synthesis-prompt-len-multiplier"),
		OutputLenMultiplier:  *p.Float("synthesis-output-len-multiplier"),
		PrefixRootMultiplier: int(*p.Int("synthesis-prefix-root-multiplier")),
		MaxISL:               intOr0(p.Int("synthesis-max-isl")),
		MaxOSL:               intOr0(p.Int("synthesis-max-osl")),
	}
}

// timedByType are the formats whose every row has a time, so that no row is looked at.
func timedByType() []string {
	return []string{"burst_gpt_trace", "sagemaker_data_capture", "baseten_trace", traceLab, dynamoTrace}
}

// followsTrace reports whether a trace with timestamps turns the fixed schedule on by itself.
func (d *draft) followsTrace() bool {
	file := d.p.Text("input-file")
	if file == "" || d.p.Bool("no-fixed-schedule") || d.p.Bool("ignore-trace-delays") {
		return false
	}
	format := d.datasetFormat(file)
	if !slices.Contains(traceFormats(), format) {
		return false
	}
	trace := d.readRows(file, format)
	if !trace.timed && !slices.Contains(timedByType(), format) {
		return false
	}
	d.lines = trace.rows
	d.info("%s holds timestamps, so requests follow its schedule; --no-fixed-schedule prevents this", file)
	return true
}

// datasetFormat is the format that the user names or the file shows.
func (d *draft) datasetFormat(file string) string {
	if format := d.p.Text("custom-dataset-type"); format != "" {
		return format
	}
	return d.catalog.DatasetFormat(file)
}

func (d *draft) readRows(file, format string) traceFacts {
	if format == "baseten_trace" && filepath.Ext(file) != ".jsonl" {
		return traceFacts{} // no lines to count
	}
	trace := readTrace(file)
	if format == "burst_gpt_trace" {
		trace.rows = max(0, trace.rows-1) // the header
	}
	return trace
}

func (d *draft) checkSchedule() {
	start, end := d.p.Int("fixed-schedule-start-offset"), d.p.Int("fixed-schedule-end-offset")
	if start != nil && d.p.Bool("fixed-schedule-auto-offset") {
		d.fault("V3", "%s and %s cannot be used together", d.flag("fixed-schedule-start-offset"),
			d.flag("fixed-schedule-auto-offset"))
	}
	if start != nil && end != nil && *start > *end {
		d.fault("V4", "%s %d must be at most %s %d", d.flag("fixed-schedule-start-offset"), *start,
			d.flag("fixed-schedule-end-offset"), *end)
	}
	if d.mode != FixedSchedule {
		if flags := d.givenOf("fixed-schedule-auto-offset", "fixed-schedule-start-offset",
			"fixed-schedule-end-offset"); len(flags) > 0 {
			d.fault("V5", "%s can only be used together with --fixed-schedule", strings.Join(flags, ", "))
		}
		return
	}
	if order := d.p.Text("dataset-sampling-strategy"); order != "" && order != "sequential" {
		d.fault("V26", "%s %s is not compatible with a fixed schedule, which sends every conversation exactly once, in order", d.flag("dataset-sampling-strategy"), order)
	}
	if d.given("request-rate-ramp-duration") {
		d.fault("V25", "%s is not compatible with a fixed schedule, which has no rate",
			d.flag("request-rate-ramp-duration"))
	}
	if !d.p.Bool("fixed-schedule") {
		if flags := d.givenOf("request-rate", "request-rate-series", "user-centric-rate", "num-users",
			"arrival-smoothness"); len(flags) > 0 {
			d.fault("", "%s cannot be used here: the trace holds timestamps, so requests follow its schedule; "+
				"--no-fixed-schedule prevents this", strings.Join(flags, ", "))
		}
		return
	}
	if flags := d.givenOf("request-rate", "request-rate-series", "arrival-pattern",
		"user-centric-rate"); len(flags) > 0 {
		d.warn("%s has no effect with --fixed-schedule: requests go out at their recorded times",
			strings.Join(flags, ", "))
	}
}

// checkTraces refuses what only traces know where the data is none.
func (d *draft) checkTraces() {
	format := d.p.Text("custom-dataset-type")
	var flags []string
	for _, o := range table().options {
		if strings.HasPrefix(o.Name, "synthesis-") && d.given(o.Name) && d.p.Value(o.Name) != defaultValue(o) {
			flags = append(flags, d.flag(o.Name))
		}
	}
	fromFile := d.given("input-file") || d.given("public-dataset")
	switch {
	case len(flags) > 0 && format != "" && !slices.Contains(traceFormats(), format):
		d.fault("V8", "%s require a trace dataset type, not %s %s", strings.Join(flags, ", "),
			d.flag("custom-dataset-type"), format)
	case len(flags) > 0 && !fromFile:
		d.fault("V8", "%s require a trace: give one with --input-file", strings.Join(flags, ", "))
	}
	if idle := d.givenOf("isl-block-size", "ignore-trace-delays"); len(idle) > 0 && !fromFile {
		d.warn("%s has no effect without a trace: give one with --input-file", strings.Join(idle, ", "))
	}
}
