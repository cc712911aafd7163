package dashboard

import (
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/publish/progress"
)

// spinner are the steps of the mark of what goes on.
var spinnerSteps = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// isOver reports whether the load of the run is over, so that only its records are missing.
func isOver(f *frame, p *progress.Phase) bool {
	return p.State == progress.PhaseComplete && (f.run == nil || p.Index == len(f.run.Phases)-1 || p.WasCancelled)
}

// inGrace reports whether requests are waited for after the time of a phase.
func inGrace(p *progress.Phase) bool {
	return p.State == progress.PhaseSendingComplete && p.TimeoutTriggered
}

// phaseHeader returns the name of what a phase does, and how far it is.
func phaseHeader(f *frame, p *progress.Phase) (name string, share float64, known bool) {
	name, grace := "Profiling", "Grace Period"
	if p.Kind == progress.WarmupKind {
		name, grace = "Warmup", "Warmup Grace"
	}
	switch {
	case isOver(f, p) && f.snap.Measured() > 0:
		return "Records", float64(f.snap.Records.Requests()) / float64(f.snap.Measured()), true
	case inGrace(p):
		return grace, returned(p), true
	}
	if p.Name != "" && p.Name != p.Kind {
		name += " " + p.Name
	}
	return name, p.Progress, p.Progress >= 0
}

// returned is the share of the requests sent that have returned or were cut off.
func returned(p *progress.Phase) float64 {
	if p.RequestsSent == 0 {
		return 1
	}
	return float64(p.RequestsCompleted+p.RequestsCancelled) / float64(p.RequestsSent)
}

// status is what goes on that the bar of a phase does not say, and its style; "" for nothing.
func status(f *frame, p *progress.Phase) (string, style) {
	switch {
	case f.ending != nil || f.snap.Stage == progress.Exporting || f.snap.Stage == progress.Done:
		return "Complete", bold | green
	case isOver(f, p):
		return "Processing", bold | green
	case inGrace(p):
		name, _, _ := phaseHeader(f, p)
		return name, bold | yellow
	}
	return "", 0
}

// errorStyle is the colour of a number of errors.
func errorStyle(p *progress.Phase) style {
	switch share := errorShare(p); {
	case share == 0:
		return green
	case share <= 0.1:
		return yellow
	}
	return red
}

func errorShare(p *progress.Phase) float64 {
	if p.RequestErrors == 0 {
		return 0
	}
	return float64(p.RequestErrors) / float64(max(1, p.RequestsCompleted))
}

// progressText says how far a phase is, in a long form and a short one.
func progressText(p *progress.Phase) []string {
	ratio := func(done, of int64, unit string) []string {
		share := percent(float64(done) / float64(max(of, 1)))
		return []string{fmt.Sprintf("%s / %s %s (%s)", count(done), count(of), unit, share),
			fmt.Sprintf("%s/%s (%s)", count(done), count(of), share), share}
	}
	requests, sessions := p.RequestsCompleted+p.RequestsCancelled, p.CompletedSessions+p.CancelledSessions
	// Of two limits the one that is nearer ends the phase.
	ofSessions := p.ExpectedSessions > 0 && (p.ExpectedRequests == 0 ||
		float64(sessions)/float64(p.ExpectedSessions) > float64(requests)/float64(p.ExpectedRequests))
	switch {
	case inGrace(p):
		return ratio(requests, p.RequestsSent, "requests returned")
	case ofSessions:
		return ratio(sessions, p.ExpectedSessions, "user sessions")
	case p.ExpectedRequests > 0:
		return ratio(requests, p.ExpectedRequests, "requests")
	case p.ExpectedDuration > 0:
		share := percent(p.Elapsed.Seconds() / p.ExpectedDuration.Seconds())
		now, of := min(p.Elapsed, p.ExpectedDuration).Seconds(), p.ExpectedDuration.Seconds()
		return []string{fmt.Sprintf("%.1f / %.1f seconds (%s)", now, of, share),
			fmt.Sprintf("%.0f/%.0f s (%s)", now, of, share), share}
	}
	return []string{count(p.RequestsCompleted) + " requests", count(p.RequestsCompleted)}
}

// fitting returns the first text that fits into so many columns, the last if none does.
func fitting(columns int, texts ...string) string {
	for _, t := range texts {
		if terminal.Width(t) <= columns {
			return t
		}
	}
	return texts[len(texts)-1]
}

// progressLines is the content of the pane of the phases.
func progressLines(f *frame, columns, rows int) []line {
	if f.snap == nil || f.snap.Current() == nil {
		return []line{{{"Waiting for profile data...", dim}}}
	}
	var lines []line
	for i := range f.snap.Phases {
		if p := &f.snap.Phases[i]; p.State != progress.PhaseCreated {
			lines = append(lines, phaseLine(f, p, columns))
		}
	}
	if n := max(1, rows/3); len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return append(lines, figures(f, f.snap.Current(), columns, rows-len(lines))...)
}

// phaseName is the name of a phase as its bar has it.
func phaseName(p *progress.Phase) string {
	switch {
	case p.Name != "" && p.Name != p.Kind:
		return p.Name
	case p.Kind == progress.WarmupKind:
		return "Warmup"
	}
	return "Profiling"
}

// phaseLine is the bar of a phase.
func phaseLine(f *frame, p *progress.Phase, columns int) line {
	share := max(p.Progress, 0)
	if inGrace(p) {
		share = returned(p)
	}
	mark, colour := spinnerSteps[f.spinner%len(spinnerSteps)], style(yellow)
	if p.State == progress.PhaseComplete {
		mark, colour, share = "✔", green, max(share, 0)
		if !p.WasCancelled {
			share = 1
		}
	}
	name := phaseName(p)
	labels := min(max(10, columns/4), 16)
	name = fitted(name, labels)
	text := fmt.Sprintf("%4.0f%%", 100*min(share, 1))
	length := max(0, columns-2-labels-1-len(text))
	return line{{mark + " ", colour}, {name + strings.Repeat(" ", labels-terminal.Width(name)) + " ", 0}, {bar(share, length), colour},
		{text, 0}}
}

// figures are the two columns below the bars.
func figures(f *frame, p *progress.Phase, columns, rows int) (lines []line) {
	narrow := columns < 40
	labels := 18
	if narrow {
		labels = 12
	}
	room := columns - labels
	put := func(long, brief string, s style, texts ...string) {
		label := long
		if narrow {
			label = brief
		}
		lines = append(lines, line{{fmt.Sprintf("%-*s", labels, label), dim}, {fitting(room, texts...), s}})
	}
	if text, s := status(f, p); text != "" {
		put("Status", "Status", s, text)
	}
	put("Progress", "Progress", 0, progressText(p)...)
	n := count(p.RequestsInFlight())
	put("Live Concurrency", "In flight", 0, n+" requests in flight", n+" requests", n)
	errors := fmt.Sprintf("%s / %s (%s)", count(p.RequestErrors), count(p.RequestsCompleted), percent(errorShare(p)))
	put("Errors", "Errors", errorStyle(p), errors, percent(errorShare(p)))
	if a := f.snap.Accuracy; a != nil && a.Total > 0 {
		put("Accuracy", "Accuracy", 0, fmt.Sprintf("%s (%s of %s right)", percent(a.Rate()), count(a.Correct), count(a.Total)),
			percent(a.Rate()))
	}
	put("Request Rate", "Requests", 0, oneDecimal(p.CompletedRate)+" requests/s", oneDecimal(p.CompletedRate)+"/s")
	if p.TargetRate > 0 && rows > 8 {
		put("Target Rate", "Target", 0, oneDecimal(p.TargetRate)+" requests/s", oneDecimal(p.TargetRate)+"/s")
	}
	// Records are made as fast as requests end, unless the client falls behind.
	records := recordRate(f, p)
	if behind := f.snap.Measured() - f.snap.Records.Requests(); isOver(f, p) || float64(behind) > records {
		put("Processing Rate", "Records", 0, oneDecimal(records)+" records/s", oneDecimal(records)+"/s")
	}
	switch {
	case isOver(f, p):
		put("Elapsed", "Elapsed", 0, elapsed(p.Elapsed))
		if missing := f.snap.Measured() - f.snap.Records.Requests(); missing > 0 && records > 0 {
			put("Records ETA", "Records ETA", 0,
				remaining(time.Duration(float64(missing)/records*float64(time.Second))))
		}
	case inGrace(p):
		put("Grace Period", "Grace", 0, elapsed(p.Draining))
	default:
		put("Elapsed", "Elapsed", 0, elapsed(p.Elapsed))
		if p.Remaining >= 0 {
			put("ETA", "ETA", 0, remaining(p.Remaining))
		}
	}
	if p.Search != nil {
		put("Search", "Search", cyan, searchText(p.Search))
	}
	for _, v := range briefServers(f) {
		put(v.long, v.brief, 0, v.text)
	}
	if f.snap.Records.Skipped > 0 {
		put("Skipped", "Skipped", yellow, count(f.snap.Records.Skipped)+" too long", count(f.snap.Records.Skipped))
	}
	return lines
}

// recordRate is the number of records made per second of the profiling phases.
func recordRate(f *frame, p *progress.Phase) float64 {
	seconds := 0.0
	for i := range f.snap.Phases {
		if own := &f.snap.Phases[i]; own.Kind == progress.ProfilingKind && own.State != progress.PhaseCreated {
			seconds += own.Elapsed.Seconds()
		}
	}
	if seconds <= 0 {
		return 0
	}
	return float64(f.snap.Records.Requests()) / seconds
}

// searchText says where the search of a phase stands.
func searchText(s *progress.Search) string {
	text := strings.ReplaceAll(s.Variable, "_", " ") + " " + short(s.Value)
	switch s.Stage {
	case progress.SearchDiscovers:
		return text + " is tried"
	case progress.SearchHolds:
		return text + " is held"
	}
	return text + ", over"
}

// briefly is a figure of the servers in the pane of the phases.
type briefly struct{ long, brief, text string }

// briefServers are the figures of the servers that stand below those of the phases.
func briefServers(f *frame) (list []briefly) {
	if f.figures == nil {
		return nil
	}
	running := figureOf(f.figures.Servers, "server_requests_running")
	waiting := figureOf(f.figures.Servers, "server_requests_waiting")
	if !math.IsNaN(running) && !math.IsNaN(waiting) {
		list = append(list, briefly{"Server Queue", "Queue", short(running) + " run, " + short(waiting) + " wait"})
	}
	if v := figureOf(f.figures.Servers, "server_kv_cache_usage_percent"); !math.IsNaN(v) {
		list = append(list, briefly{"KV Cache", "KV cache", fmt.Sprintf("%.1f %%", v)})
	}
	return list
}
