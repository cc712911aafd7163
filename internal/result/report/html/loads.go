package html

import (
	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
)

// loadsView is the answer of a sweep over one parameter. Level is that of its first finding.
type loadsView struct {
	Fixed, Asked, Headline, Level string
	Text                          string
	Findings                      []judge.Finding
}

// loadViews are the boxes at the top of the page of a sweep.
func loadViews(s *answer.Sweep, list []answer.Loads) (out []loadsView) {
	for i := range list {
		l := &list[i]
		first, ok := l.Headline()
		if !ok {
			continue
		}
		v := loadsView{Fixed: l.Fixed, Level: string(first.Level), Headline: first.Title, Text: first.Text,
			Findings: l.Findings[1:]}
		name := s.Parameters[l.Parameter].Name
		switch first.Kind {
		case judge.Outcome:
			v.Asked = "The largest " + name + " within the objectives"
		default:
			v.Asked = "What the server makes of more " + name
		}
		if l.Fixed != "" {
			v.Asked += ", " + l.Fixed
		}
		out = append(out, v)
	}
	return out
}
