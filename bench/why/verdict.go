package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// finding is what a run's summary says of it.
type finding struct {
	Code, Kind, Level, Title, Text, Advice string
}

// alarming reports whether it warns.
func (f finding) alarming() bool { return f.Level == "warn" || f.Level == "bad" }

// verdict are the findings of a run in their order, and figures of its client.
type verdict struct {
	state    string
	findings []finding
	client   map[string]stats
}

// stats are those of a metric.
type stats struct {
	Unit          string
	Avg, P50, P99 float64
}

// readVerdict reads the summary of a run: its judgement, or, of programs before there was one, what limited it.
func readVerdict(dir string) (v verdict, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err != nil {
		return v, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return v, err
	}
	v.client = map[string]stats{}
	for name, text := range all {
		var s stats
		if json.Unmarshal(text, &s) == nil && s.Unit != "" {
			v.client[name] = s
		}
	}
	var judged struct {
		State    finding
		Findings []finding
	}
	if text, ok := all["judgement"]; ok {
		err = json.Unmarshal(text, &judged)
		v.state, v.findings = judged.State.Code, judged.Findings
		return v, err
	}
	if text, ok := all["limited_by"]; ok {
		err = json.Unmarshal(text, &v.findings)
		for i := range v.findings {
			v.findings[i].Kind = "cause"
		}
	}
	return v, err
}

// outcomes are the findings on what became of the requests that are a cause themselves.
var outcomes = []string{"errors", "many_errors", "all_failed", "warm_cache"}

// cause returns the first cause. An outcome is one where nothing else explains it.
func (v *verdict) cause() (finding, bool) {
	i := slices.IndexFunc(v.findings, func(f finding) bool { return f.Kind == "cause" })
	failed := slices.IndexFunc(v.findings, func(f finding) bool { return slices.Contains(outcomes, f.Code) })
	if failed >= 0 && (i < 0 || !v.findings[i].alarming()) {
		i = failed
	}
	if i < 0 {
		return finding{}, false
	}
	return v.findings[i], true
}

// text shows the findings in one line.
func (v *verdict) text() string {
	var parts []string
	for _, f := range v.findings {
		parts = append(parts, f.Kind+" "+f.Code+" ("+f.Level+")")
	}
	text := strings.Join(parts, ", ")
	if first, ok := v.cause(); ok {
		text += "; says: " + first.Text + " Advice: " + first.Advice
	}
	return "state " + v.state + "; findings: " + text
}
