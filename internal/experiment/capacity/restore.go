package capacity

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Restore takes the verdicts of the runs of an earlier start from search_history.json, so that runs that are taken over
// say to the search what they said then.
func (s *Judges) Restore(history []byte) error {
	var file struct {
		Iterations []struct {
			Verdict *VerdictDocument `json:"verdict"`
		} `json:"iterations"`
	}
	if err := json.Unmarshal(history, &file); err != nil {
		return fmt.Errorf("the verdicts of the first start cannot be read: %w", err)
	}
	s.earlier = nil
	for _, it := range file.Iterations {
		s.earlier = append(s.earlier, it.Verdict)
	}
	return nil
}

// restored returns the verdict of an earlier start at an iteration; false if there is none.
func (s *Judges) restored(iteration int) (Verdict, bool) {
	if iteration < 0 || iteration >= len(s.earlier) || s.earlier[iteration] == nil {
		return Verdict{}, false
	}
	return s.earlier[iteration].verdict(s), true
}

// verdict returns the verdict that a file has.
func (d *VerdictDocument) verdict(s *Judges) Verdict {
	v := Verdict{Decision: d.Decision, Confidence: d.Confidence, Requests: d.Requests, Saturated: d.Saturated,
		Refused: d.Refused, ClientLimited: d.ClientLimited, EndedEarly: d.EndedEarly, Reason: d.Reason,
		Saved: time.Duration(d.SavedSeconds * float64(time.Second)), Binding: -1}
	if d.Evidence != nil {
		v.Evidence = *d.Evidence
	}
	for i := range d.Filters {
		f := &d.Filters[i]
		of := FilterVerdict{Decision: f.Decision, Confidence: f.Confidence, Value: f.Value, Margin: f.Margin,
			StandardError: f.StandardError, Inflation: 1, Judged: f.Judged}
		if f.Inflation != nil {
			of.Inflation = *f.Inflation
		}
		if i < len(s.limits) {
			of.Filter = s.limits[i]
		}
		v.Filters = append(v.Filters, of)
	}
	if d.Binding != nil {
		v.Binding = slices.IndexFunc(d.Filters, func(f FilterVerdictDocument) bool { return f.Filter == *d.Binding })
	}
	return v
}
