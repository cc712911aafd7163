package capacity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/result/judge"
)

// Port is a port on which servers usually listen.
type Port struct {
	Number int
	Names  string
}

// Ports are the usual ones.
var Ports = []Port{
	{8000, "vLLM, TensorRT-LLM, Triton"}, {8001, "Triton"}, {30000, "SGLang"}, {8080, "llama.cpp"},
	{11434, "Ollama"}, {1234, "LM Studio"},
}

// QuickLimit is a bound on a percentile of a latency.
type QuickLimit struct {
	// Percentile is that of metrics, such as 95.
	Percentile int
	// Milliseconds is the bound.
	Milliseconds float64
}

// ParseQuickLimit reads MILLISECONDS or pNN:MILLISECONDS; without a percentile it is the 95th.
func ParseQuickLimit(text string) (QuickLimit, error) {
	l := QuickLimit{Percentile: 95}
	number := text
	if rank, rest, ranked := strings.Cut(text, ":"); ranked {
		p, err := strconv.Atoi(strings.TrimPrefix(rank, "p"))
		if err != nil || !strings.HasPrefix(rank, "p") || (p != 50 && p != 75 && p != 90 && p != 95 && p != 99) {
			return l, fmt.Errorf("%q: the percentile is p50, p75, p90, p95 or p99", text)
		}
		l.Percentile, number = p, rest
	}
	v, err := latency(number)
	if err != nil {
		return l, fmt.Errorf("%q: the limit is milliseconds above 0, as in 500 or p99:500", text)
	}
	l.Milliseconds = v
	return l, nil
}

// Stat is the name of the percentile.
func (l QuickLimit) Stat() string { return fmt.Sprintf("p%d", l.Percentile) }

// QuickLimits are those of a stage.
type QuickLimits struct{ TTFT, ITL QuickLimit }

// texts are the limits in words.
func (l QuickLimits) texts() []string {
	return []string{"TTFT " + l.TTFT.Stat() + " <= " + milliseconds(l.TTFT.Milliseconds),
		"ITL " + l.ITL.Stat() + " <= " + milliseconds(l.ITL.Milliseconds)}
}

// maxErrorShare is the share of failed requests up to which a stage holds.
const maxErrorShare = 0.01

// Stage is what a run showed. Times are milliseconds; a figure that the run does not have is NaN.
type Stage struct {
	Users int
	// TTFT and ITL are averages, TTFTLimited and ITLLimited the percentiles that are limited.
	TTFT, ITL, TTFTLimited, ITLLimited float64
	// PerUser and Total are output tokens per second; Requests is their number, Failed the share that failed.
	PerUser, Total   float64
	Requests, Failed float64
	// Throughput is in requests per second, Latency the mean of a request.
	Throughput, Latency float64
	// HalfWidth is that of the 95 % intervals of the figures, relative to them; 0 or NaN where it is not known.
	HalfWidth float64
	// Judged is what is to be thought of the run; it has no findings where the run has no results.
	Judged judge.Judgement
	// Error is the most frequent one.
	Error string
}

// Holds reports whether the stage meets the limits.
func (s *Stage) Holds(l QuickLimits) bool {
	return !s.ClientLimited() && s.Failed <= maxErrorShare && s.TTFTLimited <= l.TTFT.Milliseconds &&
		!(s.ITLLimited > l.ITL.Milliseconds) // a reply of one token has none
}

// ClientLimited reports that the client was the bottleneck, so that the stage says nothing about the server.
func (s *Stage) ClientLimited() bool { return s.Judged.Has(judge.CodeClient) }

// room is how many times the figures could grow, at least, until a limit breaks.
func (s *Stage) room(l QuickLimits) float64 {
	room := l.TTFT.Milliseconds / s.TTFTLimited
	if s.ITLLimited > 0 {
		room = min(room, l.ITL.Milliseconds/s.ITLLimited)
	}
	return room
}

// Line says what the stage showed, for the progress.
func (s *Stage) Line(l QuickLimits) string {
	return fmt.Sprintf("%4d at once: TTFT %s %s, ITL %s %s, %s tokens/s in total", s.Users, l.TTFT.Stat(),
		milliseconds(s.TTFTLimited), l.ITL.Stat(), milliseconds(s.ITLLimited), number(s.Total))
}

// NextUsers returns the number of users of the next stage, at most most; false when the answer is as good as short runs
// make it. A stage in which the client was the bottleneck only says that more users cannot be measured.
func NextUsers(stages []Stage, l QuickLimits, most int) (users int, more bool) {
	holds, fails := bounds(stages, l)
	top := 0 // the least number of users that is too many, or cannot be measured; 0 for none
	if fails != nil {
		top = fails.Users
	}
	for i := range stages {
		s := &stages[i]
		if s.ClientLimited() && (top == 0 || s.Users < top) && (holds == nil || s.Users > holds.Users) {
			top = s.Users
		}
	}
	switch {
	case len(stages) == 0:
		return 1, true
	case holds == nil:
		// What more users change is worth a look; with one user alone there is nothing between.
		return min(4, most), len(stages) == 1 && fails != nil && most > 1
	case top == 0 && holds.Users >= most:
		return 0, false
	case top == 0:
		factor := 2
		if holds.room(l) > 4 {
			factor = 4
		}
		return min(holds.Users*factor, most), true
	case top-holds.Users <= max(1, holds.Users/8):
		return 0, false
	case fails == nil && 2*top <= 3*holds.Users:
		return 0, false // nearer to what cannot be measured here is no limit to find
	}
	middle := int(math.Round(math.Sqrt(float64(holds.Users) * float64(top))))
	return min(max(middle, holds.Users+1), top-1), true
}

// judged is what the stages say together.
func judged(stages []Stage, l QuickLimits) judge.SweepAnswer {
	of := judge.Loads{Name: "users", Counted: true, Effort: true, Objectives: l.texts()}
	for i := range stages {
		s := &stages[i]
		of.Cells = append(of.Cells, judge.Load{Value: float64(s.Users), Throughput: s.Throughput, Goodput: math.NaN(),
			Good: math.NaN(), TTFT: s.TTFT, ITL: s.ITL, Latency: s.Latency, ClientLimited: s.ClientLimited(),
			Missed: !s.Holds(l)})
	}
	return judge.Sweep(&of)
}

// bounds returns the stage with the most users that holds, and the smallest beyond it that fails; nil where there is
// none.
func bounds(stages []Stage, l QuickLimits) (holds, fails *Stage) {
	if at := judged(stages, l).Allowed; at >= 0 {
		holds = &stages[at]
	}
	for i := range stages {
		s := &stages[i]
		if !s.Holds(l) && !s.ClientLimited() && (holds == nil || s.Users > holds.Users) &&
			(fails == nil || s.Users < fails.Users) {
			fails = s
		}
	}
	return holds, fails
}

// BestStage is the number of users of the answer, 0 if not even one is served within the limits.
func BestStage(stages []Stage, l QuickLimits) int {
	if holds, _ := bounds(stages, l); holds != nil {
		return holds.Users
	}
	return 0
}

// QuickFacts are what the answer says beside the stages.
type QuickFacts struct {
	// Server names the server with its address and model.
	Server string
	Limits QuickLimits
	// Took is the time of all stages.
	Took time.Duration
	// Command repeats the measurement in full.
	Command string
}

// QuickAnswer returns the five lines.
func QuickAnswer(stages []Stage, f QuickFacts) []string {
	l := f.Limits
	holds, fails := bounds(stages, l)
	requests := 0.0
	for _, s := range stages {
		requests += s.Requests
	}
	limits := strings.Join(l.texts(), " and ")
	lines := []string{fmt.Sprintf("Server:    %s (%d runs, %.0f requests, %.0f s)", f.Server, len(stages), requests,
		f.Took.Seconds())}
	if first := &stages[0]; math.IsNaN(first.TTFT) {
		lines = append(lines, "One user:  no request succeeded"+because(first.Error))
	} else {
		lines = append(lines, "One user:  "+speed(first)+first.sure())
	}
	switch {
	case holds == nil:
		lines = append(lines, fmt.Sprintf("At once:   0 users within %s", limits))
	case fails == nil:
		lines = append(lines, fmt.Sprintf("At once:   at least %s within %s: %s", users(holds.Users), limits, shared(holds)))
	default:
		lines = append(lines, fmt.Sprintf("At once:   %s within %s: %s", users(holds.Users), limits, shared(holds)))
	}
	lines = append(lines, "Beyond:    "+beyond(stages, holds, fails, l))
	return append(lines, "Repeat:    "+f.Command)
}

func users(n int) string {
	if n == 1 {
		return "1 user"
	}
	return fmt.Sprintf("%d users", n)
}

// speed describes what one user sees.
func speed(s *Stage) string {
	text := "first token after " + milliseconds(s.TTFT)
	if rate := s.perUser(); rate > 0 {
		text += fmt.Sprintf(", then %s tokens/s (one every %s)", number(rate), milliseconds(1000/rate))
	}
	return text
}

// sure says how narrow the intervals of the figures are; "" where that is not known.
func (s *Stage) sure() string {
	if !(s.HalfWidth > 0) || math.IsInf(s.HalfWidth, 0) {
		return ""
	}
	return fmt.Sprintf("; 95 %%: ±%s %%", number(math.Ceil(1000*s.HalfWidth)/10))
}

// perUser returns the tokens per second that a user sees, from the mean time between two: the mean of the requests' own
// rates is drawn up by those whose tokens come at once. 0 where all tokens of a reply did.
func (s *Stage) perUser() float64 {
	switch {
	case !(s.PerUser > 0):
		return 0
	case s.ITL > 0:
		return 1000 / s.ITL
	}
	return s.PerUser
}

// shared describes what all users of a stage get.
func shared(s *Stage) string {
	rate := s.perUser()
	if rate == 0 { // all tokens of a reply came at once
		return fmt.Sprintf("%s tokens/s in total", number(s.Total)) + s.sure()
	}
	return fmt.Sprintf("%s tokens/s each after the first, %s in total", number(rate), number(s.Total)) + s.sure()
}

// beyond describes the smallest stage that fails, and why, as the judgement of its run has it, or where that says nothing
// the curves of all stages.
func beyond(stages []Stage, holds, fails *Stage, l QuickLimits) string {
	whole := judged(stages, l)
	if fails == nil {
		if limited, found := whole.Find(judge.CodeLoadsLimited); found {
			return "not known: " + limited.Words() + ". Next: " + limited.Advice
		}
		return fmt.Sprintf("not reached: the limits hold at %s; a longer run (--seconds) or more users (--max-users) find "+
			"the end", users(stages[len(stages)-1].Users))
	}
	if fails.Requests == 0 || fails.Failed == 1 {
		return fmt.Sprintf("at %s no request succeeded%s", users(fails.Users), because(fails.Error))
	}
	text := fmt.Sprintf("at %s TTFT %s is %s and ITL %s %s", users(fails.Users), l.TTFT.Stat(),
		milliseconds(fails.TTFTLimited), l.ITL.Stat(), milliseconds(fails.ITLLimited))
	why, found := fails.Judged.Explains()
	if !found {
		why, found = whole.Shape()
	}
	if !found && holds == nil {
		why, found = whole.Find(judge.CodeNoneAllowed)
	}
	if !found {
		return text
	}
	return text + ". " + said(&why)
}

// said writes a finding with what to do, without a full stop.
func said(f *judge.Finding) string {
	text := f.Title + ": " + f.Text
	if f.Advice == "" {
		return strings.TrimSuffix(text, ".")
	}
	return text + " Next: " + f.Advice
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// milliseconds writes a time with three digits.
func milliseconds(ms float64) string {
	switch {
	case math.IsNaN(ms), math.IsInf(ms, 0):
		return "not known"
	case ms >= 1000:
		return number(ms/1000) + " s"
	}
	return number(ms) + " ms"
}

// number writes a figure with three digits.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case v >= 100:
		return artifact.GroupThousands(strconv.FormatFloat(v, 'f', 0, 64))
	case v >= 10:
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
