package trust

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// short formats a figure with two or three significant digits.
func short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.01:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// words of the verdicts for the console.
var words = map[Verdict]string{Valid: "valid", ClientLimited: "client limited", Inconclusive: "inconclusive"}

// Lines returns the report for the console: the verdict with the client's shares in the headline metrics, and
// what was seen: the weightiest finding with its advice, or the figures where there is none.
func (r *Report) Lines() [2]string {
	var shares []string
	for i := range r.Bounds {
		if b := &r.Bounds[i]; b.Unit == "ms" {
			shares = append(shares, fmt.Sprintf("%s p99 %s ms, client share ≤ %s ms", b.Label, short(b.Metric.P99),
				short(b.Value)))
		}
	}
	first := "Client: " + words[r.Verdict]
	if len(shares) > 0 {
		first += " — " + strings.Join(shares, "; ")
	}
	for _, reason := range r.Reasons {
		if !reason.course && (reason.Leads == r.Verdict || r.Verdict == Valid && reason.Leads == Valid) {
			return [2]string{first, "  " + reason.Message + "; " + reason.Advice}
		}
	}
	return [2]string{first, "  " + strings.Join(r.figures(), ", ")}
}

func (r *Report) figures() []string {
	h := r.Health
	out := []string{"time stamps: " + r.Inputs.TimestampSource}
	for _, f := range []struct {
		name string
		lags Lags
	}{{"send lag", r.ToolLag}, {"read lag", r.ReadLag}, {"timer delay", h.Probe}} {
		if f.lags.Count > 0 {
			out = append(out, fmt.Sprintf("%s p99 %s ms", f.name, short(f.lags.P99)))
		}
	}
	if n := r.Inputs.Together; n > 0 {
		out = append(out, fmt.Sprintf("the first %d requests left within %s ms", n,
			short(float64(r.Inputs.TogetherSpread)/1e6)))
	}
	if n := r.Inputs.Resent; n > 0 {
		out = append(out, fmt.Sprintf("%d requests sent again", n))
	}
	if !math.IsNaN(h.CPUShare) {
		out = append(out, fmt.Sprintf("CPU %.0f %% of %s cores", 100*h.CPUShare, short(h.CPUQuota)))
	}
	return out
}

// Warnings returns the findings that led to the verdict and those on the run's course, each with its advice.
func (r *Report) Warnings() []string {
	var out []string
	for _, reason := range r.Reasons {
		if reason.Leads != Valid || reason.course && !reason.quiet {
			out = append(out, reason.Message+"; "+reason.Advice)
		}
	}
	return out
}
