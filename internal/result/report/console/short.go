package console

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/trust"
	"aiperf/internal/wire/api"
)

// Fact is a line of the short report: its name and its text.
type Fact struct{ Name, Text string }

// timeToFirst is the metric that only streamed replies have.
const timeToFirst = "time_to_first_token"

// The layout of the short report in columns.
const (
	shortIndent = 2
	// shortName is the width of the names with the spaces behind them.
	shortName = 13
	// shortNarrow is the width below which names have a line of their own.
	shortNarrow = 48
	// shortWidest is the width from which on lines grow no longer.
	shortWidest = 120
)

// The most that the short report shows of one kind.
const (
	shortErrors   = 3
	shortWarnings = 4
	// shortMessage is the length of an error's message in characters.
	shortMessage = 160
)

// RenderShort writes the answer of a run in about ten lines: what was measured, how fast it was, how sure that is, what
// limited it and where the files are. Of a run in which every request failed it writes the errors and what to try.
func RenderShort(w io.Writer, r *summary.Result, o Options) error {
	p := newPage(&o)
	p.width = min(p.width, shortWidest)
	p.blank(1)
	asked := configured(r.InputConfig)
	p.headline(r, &asked)
	p.state(r)
	judged := r.Judge()
	p.judgement(&judged)
	p.errorLines(r, o.URLs)
	switch {
	case r.Counts.AllFailed():
		o.Files.Text, o.More = "", nil // which have nothing to show
	case o.Part:
		p.throughputLine(r)
		p.latencyLines(r, false)
		p.doubts(r)
	default:
		p.throughputLine(r)
		p.latencyLines(r, true)
		p.unstreamed(Whole(asked.EndpointType, asked.Streaming), metrics.Find(r.Metrics, timeToFirst) != nil)
		p.timeLine(r)
		p.jobLines(r)
		p.shareLines(r)
		p.accuracyLines(r.Accuracy)
		p.twinLine(&judged)
		p.row("limited by", only(judged.Brief()))
		p.clientLine(r)
		p.warningLines(r, &o)
	}
	if !o.Part {
		p.fileLines(&o)
		p.more(o.More)
	}
	_, err := w.Write(p.bytes(o.Styles))
	return err
}

// configured returns what a configuration says.
func configured(input artifact.Object) summary.Configured {
	text, err := artifact.AppendJSON(nil, input)
	if err != nil {
		return summary.Configured{}
	}
	return summary.ParseConfigured(text)
}

// only returns the only part of a row; nil for no text.
func only(s string) []span {
	if s == "" {
		return nil
	}
	return []span{{safe(s), plain}}
}

// row appends a name with parts beside it, three spaces apart, which never end beyond the page: a part that does not
// fit the line begins another one. Without parts there is no row.
func (p *page) row(name string, parts []span) { p.rowWith(name, "   ", parts) }

func (p *page) rowWith(name, between string, parts []span) {
	if len(parts) == 0 {
		return
	}
	indent := shortIndent + shortName
	line := []span{{pad(shortIndent), plain}, {name, cyan}, {pad(shortName - columns(name)), plain}}
	if p.width < shortNarrow {
		indent = 2 * shortIndent
		p.line(line[:2]...)
		line = []span{{pad(indent), plain}}
	}
	p.flow(line, indent, between, parts)
}

// flow appends parts to a line that ends at the column of the indentation.
func (p *page) flow(line []span, indent int, between string, parts []span) {
	used, empty := indent, true
	next := func() {
		p.line(line...)
		line, used, empty = []span{{pad(indent), plain}}, indent, true
	}
	for _, part := range parts {
		size := columns(part.text)
		if !empty && used+columns(between)+size > p.width {
			next()
		}
		if !empty {
			line, used = append(line, span{between, plain}), used+columns(between)
		}
		lines := []string{part.text}
		if used+size > p.width {
			lines = wrap(part.text, p.width-used)
		}
		for i, text := range lines {
			if i > 0 {
				next()
			}
			line, used, empty = append(line, span{text, part.style}), used+columns(text), false
		}
	}
	p.line(line...)
}

// headline appends what was measured.
func (p *page) headline(r *summary.Result, asked *summary.Configured) {
	parts := identity(*asked)
	if len(parts) == 0 {
		parts = []span{{r.EndpointTitle, bold}}
	}
	c := &r.Counts
	requests := count(c.Completed(), "request")
	if seconds, ok := duration(r); ok {
		requests += " in " + lasted(seconds)
	}
	look := green
	if c.Errors > 0 {
		look = alert
	}
	parts = append(parts, span{requests, plain}, span{integer(c.Errors) + " failed", look})
	p.flow(nil, 0, " · ", parts)
}

// identity returns the parts of a headline that say what was measured.
func identity(asked summary.Configured) (parts []span) {
	add := func(s string, look style) {
		if s != "" {
			parts = append(parts, span{safe(s), look})
		}
	}
	add(strings.Join(asked.Models, ", "), bold)
	add(asked.EndpointType, plain)
	if asked.Streaming {
		add("streaming", plain)
	}
	add(asked.Load, plain)
	return parts
}

func count(n int64, of string) string {
	if n != 1 {
		of += "s"
	}
	return integer(n) + " " + of
}

// lasted writes a time.
func lasted(seconds float64) string {
	if seconds < 60 {
		return significant(seconds) + " s"
	}
	return answer.Took(time.Duration(seconds * float64(time.Second)))
}

// significant writes a figure with three digits that matter.
func significant(v float64) string { return cmp.Or(artifact.Significant(v), notAvailable) }

// state appends why the figures are not those of a whole run.
func (p *page) state(r *summary.Result) {
	if r.Incomplete != "" {
		p.row("INCOMPLETE", []span{{safe(r.Incomplete) + ". " + judge.PartOnly, alert}})
	}
	if r.WasCancelled {
		p.row("cancelled", []span{{"early: the figures cover the requests until then", yellow}})
	}
	for _, early := range []struct {
		name string
		end  *summary.EarlyEnd
	}{{"ended early", r.EndedEarly}, {"warm-up", r.WarmupEndedEarly}} {
		if early.end != nil {
			p.row(early.name, only(early.end.String()))
		}
	}
}

// judgement appends the state of a run where no other line says it.
func (p *page) judgement(j *judge.Judgement) {
	switch j.State.Code {
	case judge.StateFailed, judge.StateSomeFailed, judge.StateMissed, judge.StateWarm:
		first := j.First()
		p.row("state", []span{{safe(first.Text), looks[j.State.Level]}})
	}
}

// errorLines appends the most frequent errors and what to try.
func (p *page) errorLines(r *summary.Result, urls []string) {
	list := r.ErrorKinds()
	slices.SortStableFunc(list, func(a, b summary.ErrorKind) int { return cmp.Compare(b.Count, a.Count) })
	name := "errors"
	for i := range list[:min(len(list), shortErrors)] {
		p.row(name, []span{{shortError(&list[i]), red}})
		name = ""
	}
	var failures []*record.Error
	for i := range r.Errors {
		failures = append(failures, &r.Errors[i].Error)
	}
	if more := len(list) - shortErrors; more > 0 {
		p.row("", only(fmt.Sprintf("and %s; all are in the files", count(int64(more), "other kind"))))
	}
	hints := hint.ForAll(failures)
	if r.Counts.AllFailed() && len(urls) > 0 {
		p.row("asked", only(strings.Join(urls, ", ")))
	}
	for i, h := range hints {
		if i < shortErrors {
			p.row("try", only(h.Cause+": "+h.Try))
		}
	}
}

// shortError describes a kind of errors on one line.
func shortError(e *summary.ErrorKind) string {
	parts := []string{integer(e.Count) + " ×"}
	if e.Error.HasCode {
		parts = append(parts, strconv.Itoa(e.Error.Code))
	}
	if e.Error.Type != "" {
		parts = append(parts, safe(e.Error.Type))
	}
	message := strings.Join(strings.FieldsFunc(errorMessage(e.Error.Message), unicode.IsSpace), " ")
	if cut := []rune(message); len(cut) > shortMessage {
		message = string(cut[:shortMessage]) + "…"
	}
	kind := strings.Join(parts, " ")
	if message != "" && len(parts) > 1 {
		kind += ":"
	}
	return strings.TrimSpace(strings.TrimSpace(kind+" "+message) + " " + e.Texts())
}

// rates are the metrics of the line of throughput with their units.
var rates = [...]struct{ tag, unit string }{
	{"request_throughput", "req/s"}, {"output_token_throughput", "tok/s out"}, {"input_token_throughput", "tok/s in"},
	{"image_throughput", "images/s"},
}

func (p *page) throughputLine(r *summary.Result) {
	var parts []span
	for _, rate := range rates {
		if v, ok := r.Value(rate.tag); ok && artifact.Finite(v) {
			parts = append(parts, span{significant(v) + " " + rate.unit, plain})
		}
	}
	p.row("throughput", parts)
}

// latencies are the distributions of the short report.
var latencies = [...]struct{ tag, name string }{
	{"time_to_first_token", "TTFT"}, {"inter_token_latency", "ITL"}, {"request_latency", "latency"},
}

var shortRanks = [...]float64{50, 90, 99}

// unstreamed says what the report lacks because the replies came whole, if they could have been streamed; measured
// reports that it lacks nothing.
func (p *page) unstreamed(whole, measured bool) {
	if whole && !measured {
		p.row("streaming", only("off: no time to first token and no inter token latency; --streaming measures them"))
	}
}

// Whole reports whether replies of an endpoint type came whole though they can be streamed.
func Whole(endpointType string, streaming bool) bool {
	about, known := api.Lookup(endpointType)
	return !streaming && known && about.Streams && about.ProducesTokens
}

// latencyLines appends percentiles in columns; remarks asks for which of them there are few samples.
func (p *page) latencyLines(r *summary.Result, remarks bool) {
	type line struct {
		name  string
		cells []string
		few   string
	}
	var lines []line
	widths := make([]int, len(shortRanks))
	for _, l := range latencies {
		m := metrics.Find(r.Metrics, l.tag)
		if m == nil || !m.Distribution || !artifact.Finite(m.Percentile(50)) {
			continue
		}
		own, divisor, unit := line{name: l.name}, 1.0, m.Unit
		if unit == "ms" && m.Percentile(50) >= 1000 {
			divisor, unit = 1000, "s"
		}
		var few []string
		for i, rank := range shortRanks {
			cell := metrics.RankKey(rank) + " " + significant(m.Percentile(rank)/divisor) + " " + unit
			widths[i] = max(widths[i], columns(cell))
			own.cells = append(own.cells, cell)
			if remarks && fewFor(m, rank) {
				few = append(few, metrics.RankKey(rank))
			}
		}
		if few != nil {
			own.few = "few samples for " + strings.Join(few, ", ")
		}
		lines = append(lines, own)
	}
	for _, l := range lines {
		var parts []span
		for i, cell := range l.cells {
			if p.width >= shortNarrow && (i < len(l.cells)-1 || l.few != "") {
				cell += pad(widths[i] - columns(cell))
			}
			parts = append(parts, span{cell, plain})
		}
		if l.few != "" {
			parts = append(parts, span{l.few, dim})
		}
		p.row(l.name, parts)
	}
}

// fewFor reports that a percentile has too few samples for an upper bound.
func fewFor(m *metrics.Metric, rank float64) bool {
	return slices.ContainsFunc(m.Bounds, func(b metrics.Bound) bool { return b.Rank == rank && math.IsNaN(b.High) })
}

// jobLines appends how long jobs took, what their critical path was made of, and how many are done in an hour.
func (p *page) jobLines(r *summary.Result) {
	m := metrics.Find(r.Metrics, "job_latency")
	if m == nil || !(m.Stats.Avg > 0) {
		return
	}
	divisor, unit := 1.0, m.Unit
	if unit == "ms" && m.Percentile(50) >= 1000 {
		divisor, unit = 1000, "s"
	}
	line := fmt.Sprintf("p50 %s %s   p95 %s %s", significant(m.Percentile(50)/divisor), unit,
		significant(m.Percentile(95)/divisor), unit)
	for i, of := range [...]struct{ tag, name string }{{"job_model_time", "model"}, {"job_tool_time", "tools"},
		{"job_waiting_time", "waiting"}} {
		if v, ok := r.Value(of.tag); ok {
			line += [...]string{": ", " · ", " · "}[i] + artifact.Trimmed(100*v/m.Stats.Avg, 1) + " % " + of.name
		}
	}
	p.row("jobs", only(line))
	var parts []string
	for _, of := range [...]struct{ tag, unit string }{{"jobs_per_hour", "jobs/h"},
		{"jobs_per_hour_per_user", "per user"}, {"jobs_per_hour_per_gpu", "per GPU"}} {
		if v, ok := r.Value(of.tag); ok {
			parts = append(parts, significant(v)+" "+of.unit)
		}
	}
	line = strings.Join(parts, "   ")
	for _, of := range [...]struct{ tag, name string }{
		{"failed_job_count", "failed"}, {"unfinished_job_count", "cut short"},
	} {
		if v, ok := r.Value(of.tag); ok && v > 0 {
			line += fmt.Sprintf("   %.0f %s", v, of.name)
		}
	}
	p.row("", only(line))
	if v, ok := r.Value("job_goodput"); ok {
		line := significant(v) + " jobs/h"
		if share, ok := r.Value("good_job_fraction"); ok {
			line += ": " + artifact.Trimmed(100*share, 1) + " % of the jobs met every objective"
		}
		p.row("job goodput", only(line))
	}
}

// shareLines appends goodput, the share of prompts that a cache answered, and what the output cost.
func (p *page) shareLines(r *summary.Result) {
	if v, ok := r.Value("goodput"); ok {
		line := significant(v) + " req/s"
		if share, ok := r.Value("good_request_fraction"); ok {
			line += ": " + artifact.Trimmed(100*share, 1) + " % of the requests met every objective"
		}
		p.row("goodput", only(line))
	}
	if share, by, ok := promptCache(r); ok {
		p.row("prompt cache", only(artifact.Trimmed(share, 1)+" % of the prompt tokens came from the server's cache"+by))
	}
	if v, ok := r.Value("cost_per_million_output_tokens"); ok {
		p.row("cost", only(significant(v)+" for a million output tokens"))
	}
}

// promptCache returns which percentage of the prompt tokens came from the server's cache: by its replies, or where they
// do not say so by its counters, if these found anything there.
func promptCache(r *summary.Result) (share float64, by string, ok bool) {
	if share, ok := r.Value("overall_usage_prompt_cache_read_pct"); ok && r.CacheReported {
		return share, "", true
	}
	if r.Cached == nil || !(r.Cached.Share > 0) {
		return 0, "", false
	}
	return 100 * r.Cached.Share, ", by its counters", true
}

// doubts appends the verdict on the client unless it is valid.
func (p *page) doubts(r *summary.Result) {
	if summary.ParseClient(r.ClientHealth).Verdict != trust.Valid {
		p.clientLine(r)
	}
}

// clientLine appends the verdict on the client with its share in the headline metric.
func (p *page) clientLine(r *summary.Result) {
	client := summary.ParseClient(r.ClientHealth)
	if client.Verdict == "" {
		return
	}
	parts := []span{{safe(strings.ReplaceAll(string(client.Verdict), "_", " ")), looks[judge.ClientLevel(client.Verdict)]}}
	for _, l := range latencies {
		b, ok := client.Bounds.Get(l.tag)
		if ok && l.name != "ITL" {
			parts = append(parts, span{fmt.Sprintf("its share of %s ≤ %s %s", l.name, significant(b.Value), b.Unit), plain})
			break
		}
	}
	for _, reason := range client.Reasons {
		if reason.LeadsTo == client.Verdict && client.Verdict != trust.Valid {
			parts = append(parts, span{safe(reason.Message + "; " + reason.Advice), plain})
			break
		}
	}
	p.row("client", parts)
}

// warningLines appends what a reader of the figures should know.
func (p *page) warningLines(r *summary.Result, o *Options) {
	var list []string
	for i := range o.Searches {
		s := &o.Searches[i]
		p.row("search", only(searchOutcome(s, strings.ReplaceAll(s.Variable, "_", " "))))
	}
	for _, reason := range summary.ParseClient(r.ClientHealth).Reasons {
		quiet := reason.Code == trust.TotalsDiffer && r.Reconciliation != nil && r.Reconciliation.Quiet()
		if trust.OfCourse(reason.Code) && !quiet {
			list = append(list, reason.Message+"; "+reason.Advice)
		}
	}
	if head, ok := share(r, "osl_mismatch_count"); ok {
		advice := "--extra-inputs ignore_eos:true"
		if recoded(r) || asksFor(r.InputConfig, "ignore_eos") {
			advice = "--use-server-token-count"
		}
		list = append(list, head+" got another output length than asked for: "+advice)
	}
	if head, ok := share(r, "usage_discrepancy_count"); ok && (!recoded(r) || promptsDiffer(r, o.Thresholds)) {
		list = append(list, head+" have other token counts by the server than by the client: --use-server-token-count, "+
			"or the model's --tokenizer")
	}
	if n := r.Counts.Skipped; n > 0 {
		list = append(list, count(n, "request")+" skipped: the context was too long for the server")
	}
	if s := r.Submission; s != nil && len(s.Reasons) > 0 {
		list = append(list, "the run does not comply with the scenario "+s.Scenario+": "+strings.Join(s.Reasons, ", "))
	}
	for i, warning := range list {
		if i == shortWarnings {
			p.row("", only(fmt.Sprintf("and %s; all are in the log", count(int64(len(list)-i), "other warning"))))
			break
		}
		p.row("warning", []span{{safe(warning), yellow}})
	}
}

// fileLines appends where the results are. Paths are never wrapped, so that they can be copied.
func (p *page) fileLines(o *Options) {
	if o.Dir != "" {
		p.path("files", o.Dir+string(filepath.Separator))
	}
	p.row("earlier", only(o.Earlier))
	p.path("tables", o.Files.Text)
	p.path("page", o.Files.HTML)
}

// Shown returns a path as people want to read it: relative to the working directory if it is below it.
func Shown(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(dir, absolute(path))
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}

// path appends the path of a file.
func (p *page) path(name, path string) {
	if path == "" {
		return
	}
	shown := Shown(path)
	if os.IsPathSeparator(path[len(path)-1]) && shown != path {
		shown += string(filepath.Separator)
	}
	if p.width < shortNarrow {
		p.line(span{pad(shortIndent), plain}, span{name, cyan})
		p.line(span{safe(shown), plain})
		return
	}
	p.line(span{pad(shortIndent), plain}, span{name, cyan}, span{pad(shortName - columns(name)), plain},
		span{safe(shown), plain})
}
