package console

import (
	"cmp"
	"fmt"
	"strings"

	"aiperf/internal/result/summary"
)

// searchReasons says why searches end, by the words that files have for it.
var searchReasons = map[string]string{
	"sustain_duration_completed":                   "held",
	"max_control_value_reached_without_saturation": "the largest load of the search met all limits: raise control.max",
	"no_sustainable_concurrency_found":             "the smallest load missed a limit: lower control.min or relax the limits",
	"sustain_failed_after_recovery":                "not held: a limit was missed again after a step down",
	"sustain_failed_sla_unrecoverable":             "not held: a limit was missed at the smallest load",
	"phase_stopped":                                "the phase ended before the search: raise its duration",
}

// searches appends a table for each search of a load: its limits with what was measured on both sides of the boundary,
// and what the search came to.
func (p *page) searches(all []summary.Search) {
	for i := range all {
		p.search(&all[i])
	}
}

func (p *page) search(s *summary.Search) {
	name := strings.ReplaceAll(s.Variable, "_", " ")
	t := table{
		title: product + " | Adaptive Scale: " + safe(s.Phase), titleStyle: title,
		columns: []column{{header: "Limit", left: true, style: cyan, wraps: true},
			{header: headerAt(name, s.LastPassing, "passing"), style: green},
			{header: headerAt(name, s.FirstFailing, "failing"), style: yellow}},
	}
	for _, l := range s.Limits {
		limit := strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", l.Metric, l.Stat, comparisons[l.Op],
			shortest(l.Threshold), l.Unit))
		t.rows = append(t.rows, []cell{{text: safe(limit)}, measured(l.Passing), measured(l.Failing)})
	}
	t.print(p)
	for _, line := range wrap(safe(searchOutcome(s, name)), p.width) {
		p.line(span{line, plain})
	}
}

// comparisons are those of limits as they are shown.
var comparisons = map[string]string{"lt": "<", "le": "≤", "gt": ">", "ge": "≥"}

// searchOutcome says in one sentence what a search came to.
func searchOutcome(s *summary.Search, name string) string {
	var parts []string
	if s.LastPassing != nil {
		parts = append(parts, fmt.Sprintf("%s %s met all limits at %s requests/s", name, shortest(*s.LastPassing),
			fixed2(s.Throughput)))
	}
	ending := cmp.Or(searchReasons[s.Reason], s.Reason)
	if s.SustainWindows > 0 {
		ending += fmt.Sprintf("; %d of %d windows passed while it was held", s.SustainPassed, s.SustainWindows)
	}
	return "Search " + s.Status + ": " + strings.Join(append(parts, ending), "; ") +
		fmt.Sprintf(" (windows: %d)", s.Windows)
}

func headerAt(name string, value *float64, verdict string) string {
	if value == nil {
		return "None " + verdict
	}
	return strings.ToUpper(name[:1]) + name[1:] + " " + shortest(*value) + ", " + verdict
}

func measured(v *float64) cell {
	if v == nil {
		return cell{text: notAvailable}
	}
	return cell{text: fixed2(*v)}
}
