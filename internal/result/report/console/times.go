package console

import (
	"cmp"
	"slices"
	"strings"

	"aiperf/internal/measure/timesplit"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/summary"
)

// leastShown is the part of the whole below which a stage is not worth a place on the line.
const leastShown = 0.001

// timeLine appends where the time to the first token went, of replies that were not streamed that of the whole request:
// the longest stage first, what is not known last.
func (p *page) timeLine(r *summary.Result) {
	t := r.Times()
	if t == nil {
		return
	}
	line := timeText(t)
	if t.Note != "" {
		line += "; " + t.Note
	}
	p.row("time", only(line))
}

// timeText says where the time to the first token went, or where that is not known that of the whole request.
func timeText(t *timesplit.Times) string {
	name, split := "TTFT", t.TTFT
	if split == nil {
		name, split = "latency", t.Latency
	}
	parts := slices.Clone(split.Parts)
	slices.SortStableFunc(parts, func(a, b timesplit.Part) int {
		if a.Known != b.Known {
			return map[bool]int{true: -1, false: 1}[a.Known]
		}
		return cmp.Compare(b.Milliseconds, a.Milliseconds)
	})
	var words []string
	for i := range parts {
		if of := &parts[i]; of.Share >= leastShown {
			words = append(words, of.Stage.Name()+" "+significant(of.Milliseconds))
		}
	}
	return name + " " + significant(split.Milliseconds) + " ms on average: " + strings.Join(words, " · ")
}

// mostTimes is the number of cells whose times are shown.
const mostTimes = 8

// cellTimes appends where the time of each cell went.
func (p *page) cellTimes(s *answer.Sweep) {
	name, n := "time", 0
	for i := range s.Cells {
		t := s.Cells[i].Times
		if t.OfTTFT() == nil && t.OfLatency() == nil {
			continue
		}
		if n++; n > mostTimes {
			continue
		}
		p.row(name, only(s.Cells[i].Label+": "+timeText(t)))
		name = ""
	}
	if n > mostTimes {
		p.row("", only("and "+count(int64(n-mostTimes), "other cell")))
	}
}
