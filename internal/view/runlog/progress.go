package runlog

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/progress"
)

// Progress logs a run: a line for each change of a phase's state, and a block of current figures at an interval. It
// implements [progress.PhaseObserver].
type Progress struct {
	log      *slog.Logger
	interval time.Duration
	// due is when the next block is due, from the start of the run.
	due time.Duration
	// last are the figures of the block before, nil before the first.
	last *progress.Figures
}

// NewProgress returns an observer that writes to a log. An interval of 0 is for no blocks.
func NewProgress(l *Log, interval time.Duration) *Progress {
	return &Progress{log: l.Logger("run"), interval: interval}
}

// Begin implements progress.Observer.
func (p *Progress) Begin(*progress.Run) progress.Needs {
	p.due, p.last = p.interval, nil
	return progress.Needs{Metrics: blockMetrics, Servers: true, Every: p.interval}
}

// End implements progress.Observer.
func (p *Progress) End(*progress.Ending) {}

// Show implements progress.Observer. It writes a block when one is due; none before the first record.
func (p *Progress) Show(s *progress.Snapshot) {
	if p.interval == 0 || s.Elapsed < p.due || s.Figures == p.last {
		return
	}
	for p.due <= s.Elapsed {
		p.due += p.interval
	}
	b := block{Figures: s.Figures, accuracy: s.Accuracy}
	if now := s.Current(); now != nil && now.Kind == progress.ProfilingKind {
		b.phase = now.Name
	}
	if p.last != nil {
		if passed := s.Figures.At.Sub(p.last.At); passed > 0 {
			rps := float64(s.Figures.Records.Successes-p.last.Records.Successes) / passed.Seconds()
			b.rps = &rps
		}
	}
	p.last = s.Figures
	for _, line := range b.lines() {
		p.log.Info(line)
	}
}

// PhaseChanged implements progress.PhaseObserver.
func (p *Progress) PhaseChanged(s *progress.Phase) {
	parts := []string{fmt.Sprintf("Phase %s %s", s.Name, strings.ReplaceAll(string(s.State), "_", " "))}
	switch s.State {
	case progress.PhaseStarted:
		if s.ExpectedRequests > 0 {
			parts = append(parts, fmt.Sprintf("requests=%d", s.ExpectedRequests))
		}
		if s.ExpectedSessions > 0 {
			parts = append(parts, fmt.Sprintf("sessions=%d", s.ExpectedSessions))
		}
		if s.ExpectedDuration > 0 {
			parts = append(parts, fmt.Sprintf("duration=%s", s.ExpectedDuration))
		}
		if s.TargetRate > 0 {
			parts = append(parts, fmt.Sprintf("rate=%g/s", s.TargetRate))
		}
	case progress.PhaseSendingComplete:
		parts = append(parts, fmt.Sprintf("sent=%d, completed=%d, in_flight=%d", s.RequestsSent, s.RequestsCompleted,
			s.RequestsInFlight()))
		if s.GraceLeft > 0 && s.RequestsInFlight() > 0 {
			parts = append(parts, fmt.Sprintf("waiting at most %.1f s for them", s.GraceLeft.Seconds()))
		}
	case progress.PhaseComplete:
		parts = append(parts, fmt.Sprintf("completed=%d, cancelled=%d, errors=%d", s.RequestsCompleted,
			s.RequestsCancelled, s.RequestErrors))
		if s.OldestCutOff > 0 {
			parts = append(parts, fmt.Sprintf("oldest_cut_off=%.2fs", s.OldestCutOff.Seconds()))
		}
	}
	if s.TotalSessionTurns > s.SentSessions {
		parts = append(parts, fmt.Sprintf("sessions sent=%d, completed=%d", s.SentSessions, s.CompletedSessions))
	}
	parts = append(parts, fmt.Sprintf("elapsed=%.2fs", s.Elapsed.Seconds()))
	for _, flag := range []struct {
		on   bool
		name string
	}{
		{s.TimeoutTriggered, "timeout_triggered"},
		{s.GracePeriodTimeoutTriggered, "grace_period_timeout_triggered"},
		{s.WasCancelled, "was_cancelled"},
	} {
		if flag.on {
			parts = append(parts, flag.name)
		}
	}
	p.log.Log(context.Background(), LevelNotice, strings.Join(parts, " | "))
}

// block is a block of figures.
type block struct {
	*progress.Figures
	// rps is the rate of successes since the block before, nil before the first.
	rps *float64
	// accuracy is nil where no answers are graded.
	accuracy *progress.Accuracy
	// phase is the name of the current phase; the figures are those of all profiling phases so far.
	phase string
}

// blockMetrics are the metrics that a block shows.
var blockMetrics = []string{
	"request_throughput", "input_token_throughput", "output_token_throughput", "total_isl", "total_osl",
	"time_to_first_token", "inter_token_latency", "request_latency", "output_token_throughput_per_user",
	"input_sequence_length", "output_sequence_length", prefixCacheTag,
}

// prefixCacheTag is the part of a recording's prompts that an unlimited cache would hold.
const prefixCacheTag = "theoretical_prefix_cache_hit"

// scalar returns a metric that is one number, nil if it is unknown.
func (b *block) scalar(tag string) *float64 {
	if r := b.Metric(tag); r != nil {
		return &r.Stats.Avg
	}
	return nil
}

// lines returns the head of the block and its rows.
func (b *block) lines() []string {
	seconds := int64(b.Elapsed / time.Second)
	avg := b.scalar("request_throughput")
	rps := b.rps
	if rps == nil {
		rps = avg
	}
	lines := []string{
		fmt.Sprintf("[realtime %02d:%02d %s]", seconds/60, seconds%60,
			cmp.Or(b.phase, progress.ProfilingKind)),
		fmt.Sprintf("  rps=%s (avg %s)  tput_in=%s  tput_out=%s  done=%d ok=%d err=%d", twoDecimals(rps),
			twoDecimals(avg),
			perSecond(b.scalar("input_token_throughput")), perSecond(b.scalar("output_token_throughput")),
			b.Records.Requests(), b.Records.Successes, b.Records.Errors),
	}
	lines = append(lines, b.distributions()...)
	var totals []string
	for _, t := range []struct{ name, tag string }{{"in", "total_isl"}, {"out", "total_osl"}} {
		if v := b.scalar(t.tag); v != nil {
			totals = append(totals, t.name+"="+whole(*v))
		}
	}
	if len(totals) > 0 {
		lines = append(lines, "  tot  "+strings.Join(totals, " "))
	}
	if a := b.accuracy; a != nil && a.Total > 0 {
		lines = append(lines, fmt.Sprintf("  acc  right=%d of %d (%s) unparsed=%d", a.Correct, a.Total, percentage(100*a.Rate()),
			a.Unparsed))
	}
	if share := b.scalar(prefixCacheTag); share != nil {
		lines = append(lines, "  trace "+prefixCacheTag+"="+percentage(*share))
	}
	if parts := b.servers(); len(parts) > 0 {
		lines = append(lines, "  srv "+strings.Join(parts, " "))
	}
	return lines
}

// distribution is a row of percentiles.
type distribution struct {
	label, tag, unit, suffix string
	ranks                    [4]float64
}

var (
	latencyRanks = [4]float64{50, 75, 95, 99}
	lengthRanks  = [4]float64{50, 75, 90, 99}
)

var distributionRows = []distribution{
	{"ttft", "time_to_first_token", "ms", "", latencyRanks},
	{"itl", "inter_token_latency", "ms", "", latencyRanks},
	{"e2e", "request_latency", "ms", "", latencyRanks},
	{"intvty", "output_token_throughput_per_user", "", " (1/tpot tok/s)", latencyRanks},
	{"isl", "input_sequence_length", "", " (tokens)", lengthRanks},
	{"osl", "output_sequence_length", "", " (tokens)", lengthRanks},
}

// distributions returns the rows of known percentiles, with aligned columns.
func (b *block) distributions() []string {
	var rows []distribution
	var values [][4]string
	var label int
	var widths [4]int
	for _, d := range distributionRows {
		r := b.Metric(d.tag)
		if r == nil {
			continue
		}
		var cells [4]string
		for i, rank := range d.ranks {
			cells[i] = whole(r.Stats.Percentiles.At(rank)) + d.unit
			widths[i] = max(widths[i], len(cells[i]))
		}
		label = max(label, len(d.label))
		rows, values = append(rows, d), append(values, cells)
	}
	var lines []string
	for n, d := range rows {
		line := fmt.Sprintf("  %-*s", label, d.label)
		for i, rank := range d.ranks {
			line += fmt.Sprintf("  p%g=%*s", rank, widths[i], values[n][i])
		}
		lines = append(lines, line+d.suffix)
	}
	return lines
}

// serverFigures are the figures of the servers in a block. Two of them make up its queue.
var serverFigures = []struct {
	name, figure string
	text         func(float64) string
}{
	{"prefix_cache_hit", "server_prefix_cache_hit_percent", percentage},
	{"unique_in_srv", "server_unique_prompt_tokens", whole},
	{"ext_cache_hit", "server_external_cache_hit_percent", percentage},
	{"kv_usage", "server_kv_cache_usage_percent", percentage},
	{"cpu_kv_usage", "server_cpu_kv_cache_usage_percent", percentage},
	{"queue", "", nil},
	{"tput_in_srv", "server_input_tokens_per_second", rate},
	{"tput_out_srv", "server_output_tokens_per_second", rate},
}

// servers returns the known figures of the servers.
func (b *block) servers() (parts []string) {
	known := map[string]float64{}
	for _, f := range b.Servers {
		known[f.Name] = f.Value
	}
	for _, f := range serverFigures {
		if f.text == nil {
			running, hasRunning := known["server_requests_running"]
			waiting, hasWaiting := known["server_requests_waiting"]
			if hasRunning && hasWaiting {
				parts = append(parts, fmt.Sprintf("%s=%sr/%sw", f.name, whole(running), whole(waiting)))
			}
		} else if v, ok := known[f.figure]; ok {
			parts = append(parts, f.name+"="+f.text(v))
		}
	}
	return parts
}

// unknown is shown for an unknown figure.
const unknown = "-"

func twoDecimals(v *float64) string {
	if v == nil {
		return unknown
	}
	return strconv.FormatFloat(*v, 'f', 2, 64)
}

func perSecond(v *float64) string {
	if v == nil {
		return unknown
	}
	return rate(*v)
}

func rate(v float64) string { return whole(v) + "/s" }

func percentage(v float64) string { return fmt.Sprintf("%.1f%%", v) }

// whole returns the nearest whole number, its thousands separated.
func whole(v float64) string {
	if !artifact.Finite(v) {
		return unknown
	}
	return artifact.GroupThousands(strconv.FormatFloat(math.RoundToEven(v), 'f', 0, 64))
}
