package config

import "strings"

// The formats whose sessions branch.
const (
	dagJSONL  = "dag_jsonl"
	wekaTrace = "weka_trace"
	traceLab  = "tracelab"

	dynamoTrace = "dynamo_trace"
)

// decideRoots looks for a file of branching sessions. Without a count each root of a dag_jsonl file is played once.
func (d *draft) decideRoots() {
	path := d.p.Text("input-file")
	if path == "" {
		return
	}
	format := d.datasetFormat(path)
	d.coders, d.ofBaseten = format == wekaTrace || format == traceLab, format == "baseten_trace"
	d.recorded = d.coders || format == dynamoTrace
	// At recorded times the sub-agents of these traces begin by themselves.
	timed := d.mode == FixedSchedule && (format == traceLab || format == dynamoTrace)
	d.branching = (d.recorded || format == dagJSONL) && !timed
	if format != dagJSONL || d.requests != nil || d.sessions != nil || d.mode == AgenticReplay {
		return
	}
	if d.roots = d.catalog.DatasetRoots(path); d.roots > 0 {
		d.sessions = &d.roots
		d.info("%s has %d root sessions and no count is given: running with --num-sessions %d", path, d.roots, d.roots)
	}
}

// checkRoots refuses the timing modes that play conversations as lists of turns, and options that only recorded
// agents know.
func (d *draft) checkRoots() {
	if flags := d.activeOf("use-think-time-only", "max-context-length"); len(flags) > 0 && !d.recorded {
		d.fault("", "%s can only be used with a %s, %s or %s file", strings.Join(flags, ", "), wekaTrace, traceLab,
			dynamoTrace)
	}
	if flags := d.activeOf("inter-turn-delay-cap-seconds"); len(flags) > 0 && !d.branching && !d.ofBaseten &&
		!d.recorded {
		d.fault("", "%s can only be used with a baseten_trace, %s, %s, %s or %s file", strings.Join(flags, ", "),
			wekaTrace, traceLab, dynamoTrace, dagJSONL)
	}
	if flags := d.activeOf("use-think-time-only", "inter-turn-delay-cap-seconds"); len(flags) > 0 && d.recorded &&
		d.mode == FixedSchedule && !d.branching {
		d.warn("%s has no effect in a fixed schedule, which keeps the recorded times: give --no-fixed-schedule",
			strings.Join(flags, ", "))
	}
	if !d.branching || d.mode != UserCentric && d.mode != FixedSchedule {
		return
	}
	mode := "--user-centric-rate"
	if d.mode == FixedSchedule {
		mode = "a fixed schedule"
	}
	d.fault("", "%s cannot be used with the branching sessions of %s: give --concurrency or --request-rate", mode,
		d.p.Text("input-file"))
}

// corpus is what texts are cut from: code for agents that were recorded at work, unless the user names another.
func (d *draft) corpus() string {
	if d.coders && !d.given("prompt-corpus") {
		return "coding"
	}
	return d.p.Text("prompt-corpus")
}
