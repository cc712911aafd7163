package console

import (
	"fmt"
	"strings"

	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
)

// findingRows are the names of the rows of findings about loads. Those of failed runs have rows of their own.
var findingRows = map[string]string{judge.CodeBend: "bends", judge.CodeNoBend: "bends", judge.CodeLoadsLimited: "client",
	judge.CodeShapeQueue: "why", judge.CodeShapeDecode: "why", judge.CodeShapeOverload: "why", judge.CodeShapeFlat: "why",
	judge.CodeShapeFull: "why", judge.CodeAllowed: "answer", judge.CodeAllAllowed: "answer",
	judge.CodeNoneAllowed: "answer", judge.CodeNotDecided: "answer"}

// mostLoads is the number of combinations of other parameters whose answers are shown.
const mostLoads = 6

// loads appends what the cells of a sweep say together: of one combination of the other parameters all findings, of
// several the first of each.
func (p *page) loads(s *answer.Sweep) {
	list := s.Loads()
	for n := range list {
		if n == mostLoads {
			p.row("", only(fmt.Sprintf("and %d other combinations", len(list)-n)))
			break
		}
		l := &list[n]
		for i := range l.Findings {
			f := &l.Findings[i]
			name := findingRows[f.Code]
			if name == "" || f.Brief == "" || len(list) > 1 && i > 0 {
				continue
			}
			text := strings.TrimPrefix(f.Brief, name+" at ")
			if l.Fixed != "" {
				text = l.Fixed + ": " + text
			}
			p.row(name, []span{{safe(text), looks[f.Level]}})
			if name == "why" && f.Advice != "" {
				p.row("try", only(f.Advice))
			}
		}
	}
}
