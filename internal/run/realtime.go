package run

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/servermetrics"
)

// realtime is what the log's block of figures remembers of the block before.
type realtime struct {
	successes, atNS int64 // atNS is 0 before the first block
}

// figures are what a block shows.
type figures struct {
	elapsed time.Duration
	seen    metrics.Snapshot
	// rps is the rate of successes since the block before, nil before the first.
	rps     *float64
	results []metrics.Result
	servers servermetrics.Live
}

// realtimeTags are the metrics that a block shows.
var realtimeTags = []string{
	"request_throughput", "input_token_throughput", "output_token_throughput", "total_isl", "total_osl",
	"time_to_first_token", "inter_token_latency", "request_latency", "output_token_throughput_per_user",
	"input_sequence_length", "output_sequence_length", prefixCacheTag,
}

// prefixCacheTag is the share of the prompts that a cache without end would hold, of a recording.
const prefixCacheTag = "theoretical_prefix_cache_hit"

// log writes a block of the records of a run so far; none before the first record.
func (r *realtime) log(e *execution) {
	seen := e.records.profiling.Snapshot()
	if seen.Requests() == 0 {
		return
	}
	now := e.clock.NowNS()
	f := figures{
		elapsed: time.Duration(max(0, e.clock.WallNS(now)-seen.StartNS)), seen: seen,
		results: e.records.profiling.ResultsOf(realtimeTags...),
	}
	if passed := now - r.atNS; r.atNS > 0 && passed > 0 {
		rps := float64(seen.Successes-r.successes) / time.Duration(passed).Seconds()
		f.rps = &rps
	}
	r.atNS, r.successes = now, seen.Successes
	if e.servers != nil {
		f.servers = e.servers.collector.Store().Live(e.servers.mark.Load())
	}
	for _, line := range f.lines() {
		e.log.Info(line)
	}
}

// scalar returns a metric that is one number, nil if it is unknown.
func (f *figures) scalar(tag string) *float64 {
	if r := metrics.Find(f.results, tag); r != nil {
		return &r.Stats.Avg
	}
	return nil
}

// lines are the block: its head, and the rows.
func (f *figures) lines() []string {
	seconds := int64(f.elapsed / time.Second)
	avg := f.scalar("request_throughput")
	rps := f.rps
	if rps == nil {
		rps = avg
	}
	lines := []string{
		fmt.Sprintf("[realtime %02d:%02d profiling]", seconds/60, seconds%60),
		fmt.Sprintf("  rps=%s (avg %s)  tput_in=%s  tput_out=%s  done=%d ok=%d err=%d", twoDecimals(rps),
			twoDecimals(avg),
			perSecond(f.scalar("input_token_throughput")), perSecond(f.scalar("output_token_throughput")),
			f.seen.Requests(), f.seen.Successes, f.seen.Errors),
	}
	lines = append(lines, f.distributions()...)
	var totals []string
	for _, t := range []struct{ name, tag string }{{"in", "total_isl"}, {"out", "total_osl"}} {
		if v := f.scalar(t.tag); v != nil {
			totals = append(totals, t.name+"="+whole(*v))
		}
	}
	if len(totals) > 0 {
		lines = append(lines, "  tot  "+strings.Join(totals, " "))
	}
	if share := f.scalar(prefixCacheTag); share != nil {
		lines = append(lines, "  trace "+prefixCacheTag+"="+percentage(*share))
	}
	if parts := serverParts(&f.servers); len(parts) > 0 {
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

// distributions are the rows of percentiles that there are, values in columns.
func (f *figures) distributions() []string {
	var rows []distribution
	var values [][4]string
	var label int
	var widths [4]int
	for _, d := range distributionRows {
		r := metrics.Find(f.results, d.tag)
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

// serverParts are the known figures of the servers.
func serverParts(l *servermetrics.Live) (parts []string) {
	for _, figure := range []struct {
		name  string
		value *float64
		text  func(float64) string
	}{
		{"prefix_cache_hit", l.PrefixCacheHit, percentage},
		{"unique_in_srv", l.UniqueTokens, whole},
		{"ext_cache_hit", l.ExternalCacheHit, percentage},
		{"kv_usage", l.KVUsage, percentage},
		{"cpu_kv_usage", l.CPUKVUsage, percentage},
	} {
		if figure.value != nil {
			parts = append(parts, figure.name+"="+figure.text(*figure.value))
		}
	}
	if l.Running != nil && l.Waiting != nil {
		parts = append(parts, fmt.Sprintf("queue=%sr/%sw", whole(*l.Running), whole(*l.Waiting)))
	}
	for _, rate := range []struct {
		name  string
		value *float64
	}{{"tput_in_srv", l.InputRate}, {"tput_out_srv", l.OutputRate}} {
		if rate.value != nil {
			parts = append(parts, rate.name+"="+perSecond(rate.value))
		}
	}
	return parts
}

// unknown stands for a figure that there is none of.
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
	return whole(*v) + "/s"
}

func percentage(v float64) string { return fmt.Sprintf("%.1f%%", v) }

// whole returns the nearest whole number, its thousands separated.
func whole(v float64) string {
	if !artifact.Finite(v) {
		return unknown
	}
	return artifact.GroupThousands(strconv.FormatFloat(math.RoundToEven(v), 'f', 0, 64))
}
