package capacity

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/experiment/series"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
)

// Opening says in two lines what is searched.
func (s *Study) Opening() string {
	var limits []string
	for _, f := range s.Limits {
		limits = append(limits, answer.LimitText(limitOf(f)))
	}
	p := s.load()
	return fmt.Sprintf("Searching the %s from %s to %s%s; probes of at most %s, %s in all\nLimits: %s", p.Largest(),
		artifact.Short(s.Min), strings.TrimSpace(artifact.Short(s.Max)+" "+p.Unit), s.context(),
		answer.Took(s.Question.Probe), answer.Took(s.Budget), strings.Join(limits, ", "))
}

// context says where the upper end of a range comes from that the server's own context gives.
func (s *Study) context() string {
	if s.Context == 0 {
		return ""
	}
	return fmt.Sprintf(" (the model's context is %s tokens)", artifact.Short(float64(s.Context)))
}

// Line says in one line what the last probe showed: whether its load meets the limits, by which figure, and how sure
// that is. number counts from 1, load is that of the probe, feasible is the judgement of the search.
func (s *Study) Line(number int, load float64, r *series.Run, feasible bool) string {
	p := s.load()
	meets, is, does := "meets", "is", "does"
	if p.Unit != "" { // several of them
		meets, is, does = "meet", "are", "do"
	}
	text := fmt.Sprintf("Probe %d: %s ", number, p.Value(load))
	beyond, uncounted := text+is+" beyond the limits", text+does+" not count: "
	v := s.verdicts[r.Info.RunLabel]
	switch {
	case v.Refused != "":
		return beyond + ": " + v.Refused
	case !r.Succeeded():
		return uncounted + r.Err
	case v.ClientLimited:
		return uncounted + judge.ClientLimited().Words()
	case v.Saturated:
		return beyond + ": " + judge.Words(judge.Overloaded) + "; " + v.Evidence
	case slices.Contains(s.unreached, load):
		return uncounted + s.tooShortIn(r)
	case feasible:
		text += meets + " the limits"
	default:
		text = beyond
	}
	if figure := s.nearest(r); figure != "" {
		text += ": " + figure
	}
	if why, found := r.Judged.Explains(); found && !feasible {
		text += "; " + why.Brief
	}
	if v.EndedEarly {
		text += fmt.Sprintf("; %s sure after %s, %s saved", confidenceText(v.Confidence),
			answer.Took(s.measured.Round(time.Second)), answer.Took(v.Saved.Round(time.Second)))
	}
	return text
}

// tooShortIn says how the replies of a run were too short.
func (s *Study) tooShortIn(r *series.Run) string {
	i := slices.IndexFunc(r.Metrics, func(m metrics.Metric) bool { return m.Tag == "output_sequence_length" })
	if i < 0 {
		return ""
	}
	return s.tooShort(loadOf(r), r.Metrics[i].Stats.Avg)
}

// confidenceText writes a confidence, which is never said to be 100 %.
func confidenceText(confidence float64) string {
	if confidence > 0.999 {
		return "over " + answer.Percent(0.999)
	}
	return answer.Percent(math.Floor(1000*confidence) / 1000)
}

// nearest returns the figure of the limit that is missed by most, or met by least, in parts of the limit.
func (s *Study) nearest(r *series.Run) string {
	text, worst := "", math.Inf(-1)
	for i, f := range s.Limits {
		j := slices.IndexFunc(r.Metrics, func(m metrics.Metric) bool { return m.Tag == f.Metric })
		if j < 0 {
			continue
		}
		v, ok := r.Metrics[j].Stat(f.Stat)
		if !ok || !artifact.Finite(v) {
			continue
		}
		margin := f.Margin(v)
		if f.Threshold != 0 {
			margin /= f.Threshold
		}
		// Limits that nobody asked for are named only where they are missed.
		if i >= len(s.Limits)-s.Implied && margin <= 0 || margin <= worst {
			continue
		}
		named := answer.NewMetric(f.Metric, f.Stat, r.Metrics[j].Unit)
		worst = margin
		text = strings.TrimSpace(fmt.Sprintf("%s %s %s", named.Title(), artifact.Short(v), named.Unit)) +
			fmt.Sprintf(" (limit %s)", strings.TrimSpace(artifact.Short(f.Threshold)+" "+named.Unit))
	}
	return text
}
