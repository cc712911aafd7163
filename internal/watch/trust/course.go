package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"aiperf/internal/measure/record"
)

// The thresholds of the findings on a run's course.
const (
	// coldFactor and coldExcess are by how much a request must exceed the median to be called cold.
	coldFactor, coldExcess = 5.0, 50.0
	// fewUnreached failures for lack of a connection are left to the table of errors.
	fewUnreached = 10
)

// TotalsDiffer is the code of the finding that this run and the server counted differently.
const TotalsDiffer = "totals_differ"

// Course is what a run knows of its own course that may mislead the reader of its figures.
type Course struct {
	// Unreached requests had no connection; the longest row of them lasted Outage.
	Unreached int64
	Outage    time.Duration
	// UnreachedBefore and UnreachedAfter of them failed before the first success and after the last one, where no
	// duration and no rate has them.
	UnreachedBefore, UnreachedAfter int64
	// First are the first requests in the order of sending, in milliseconds of the metric First.Tag; a negative value
	// is a request that has none.
	First FirstRequests
	// Replies are the streamed ones with several content responses.
	Replies Replies
	// Prompts is nil where it does not matter how often each of them is sent.
	Prompts *Prompts
	// WarmCache is nil where the server's prefix cache held no more than this run's own repeats.
	WarmCache *WarmCache
	// Totals is nil where this run and the server counted the same, or nothing was compared.
	Totals *Totals
}

// FirstRequests are values of one metric.
type FirstRequests struct {
	Tag    string
	Values []float64
}

// Replies count replies by how they came and ended.
type Replies struct {
	// Streamed are the streamed ones with several content responses.
	Streamed int64
	// InOnePiece arrived at one instant: they have no rate.
	InOnePiece int64
	// HeldBack brought the first two tokens together, as long after the head as this system delays an acknowledgement:
	// so does a server with Nagle's algorithm. Where acknowledgements are not delayed there are none.
	HeldBack int64
	// Unstreamed came as one body, or with one event of several tokens, although a stream was asked for.
	Unstreamed int64
	// Valid are the successful ones; of them Unfinished ended with neither a reason nor an end mark, and Cumulative
	// repeated the text so far in each event.
	Valid, Unfinished, Cumulative int64
	// Endings count the finish reasons of all replies, failed ones included; Unread the names of output that nobody
	// reads.
	Endings, Unread map[string]int64
}

// maxNames bounds the names that are counted apart: they come from the server. All others count as otherNames.
const (
	maxNames   = 24
	otherNames = "other"
)

// countName adds one to the count of a name.
func countName(counts *map[string]int64, name string) {
	if *counts == nil {
		*counts = map[string]int64{}
	}
	if _, known := (*counts)[name]; !known && len(*counts) >= maxNames {
		name = otherNames
	}
	(*counts)[name]++
}

// The time from the head of a reply to its first token that is likely the delay of an acknowledgement.
const (
	shortestDelay = 35 * time.Millisecond
	longestDelay  = 45 * time.Millisecond
)

// Come adds how the reply of a request came and ended.
func (r *Replies) Come(reply *record.Reply, f *record.Facts) {
	if reply.Ending != "" {
		countName(&r.Endings, reply.Ending)
	}
	for _, name := range reply.Unread {
		countName(&r.Unread, name)
	}
	if f.IsError() {
		return
	}
	r.Valid++
	if reply.Unfinished {
		r.Unfinished++
	}
	if reply.Unstreamed {
		r.Unstreamed++
	}
	if reply.Cumulative {
		r.Cumulative++
	}
}

// Count adds the times of the reply of a request. delayed reports whether this system may delay acknowledgements.
func (r *Replies) Count(f *record.Facts, delayed bool) {
	if f[record.Contents] < 2 || f.IsError() {
		return
	}
	r.Streamed++
	if f.InOnePiece() {
		r.InOnePiece++
	}
	head, hasHead := f.Get(record.Ack)
	first, second := f[record.FirstContent], f[record.SecondContent]
	waited := time.Duration(first - head)
	if delayed && hasHead && shortestDelay <= waited && waited <= longestDelay && second-first < int64(record.InstantError) {
		r.HeldBack++
	}
}

// Prompts count how often prompts were sent.
type Prompts struct {
	Distinct, Sent, Max int64
	// Remedy is what makes prompts unique. Announced: that they repeat was said before the load.
	Remedy    string
	Announced bool
}

// WarmCache says how much of the prompts came from the server's prefix cache though this run had not put it there.
type WarmCache struct {
	// Share and Repeats are parts of the prompt tokens, from 0 to 1: what came from the cache, and the most of that
	// which the run had sent before.
	Share, Repeats float64
	// Remedy is how a run does without it.
	Remedy string
	// Quiet: the report of the experiment that the run belongs to warns of it.
	Quiet bool
}

// Totals say how the server's totals differ from those of the run.
type Totals struct {
	Message, Advice string
	// Quiet differences change little: they are no warning.
	Quiet bool
}

// courseRules find what the reader of the figures should know of the run itself. They lead to no verdict on the client.
var courseRules = [...]struct {
	code string
	find func(r *Report) (message, advice string, found bool)
	// quiet reports whether what was found is no warning; nil = it always is one.
	quiet func(c *Course) bool
}{
	{"server_away", serverAway, nil},
	{"cold_start", coldStart, nil},
	{"held_back", heldBack, nil},
	{"in_one_piece", inOnePiece, func(c *Course) bool { return !many(c.Replies.pieces()) }},
	{"unusual_endings", unusualEndings, func(c *Course) bool { return !many(c.Replies.unusual(), c.Replies.Valid) }},
	{"closed_early", closedEarly, func(c *Course) bool { return !many(c.Replies.Unfinished, c.Replies.Valid) }},
	{"unread_output", unreadOutput, nil},
	{"cumulative_stream", cumulativeStream, nil},
	{"repeated_prompts", repeatedPrompts, func(c *Course) bool { return c.Prompts.Announced }},
	{"warm_cache", warmCache, func(c *Course) bool { return c.WarmCache.Quiet }},
	{TotalsDiffer, totalsDiffer, func(c *Course) bool { return c.Totals.Quiet }},
}

// OfCourse reports whether a code is that of a finding on the run's course.
func OfCourse(code string) bool {
	for _, rule := range courseRules {
		if rule.code == code {
			return true
		}
	}
	return false
}

// judgeCourse appends the findings on the run's course.
func (r *Report) judgeCourse() {
	for _, rule := range courseRules {
		if message, advice, found := rule.find(r); found {
			r.Reasons = append(r.Reasons, Reason{Code: rule.code, Leads: Valid, Message: message, Advice: advice,
				course: true, quiet: rule.quiet != nil && rule.quiet(&r.Inputs.Course)})
		}
	}
}

func serverAway(r *Report) (message, advice string, found bool) {
	c := &r.Inputs.Course
	return fmt.Sprintf("%d requests failed for lack of a connection, for up to %s s in a row; credits were held back "+
			"meanwhile", c.Unreached, short(c.Outage.Seconds())),
		"check the server's log of that time; " + c.outageInRates(), c.Unreached >= fewUnreached
}

// outageInRates says whether rates and durations, which reach from the first success to the last one, include the time
// without a connection.
func (c *Course) outageInRates() string {
	const neither = ", and neither rates nor durations include it"
	switch outside := c.UnreachedBefore + c.UnreachedAfter; {
	case outside == 0:
		return "rates and durations include the outage"
	case outside < c.Unreached:
		return fmt.Sprintf("rates and durations include the outage only between successes: %d of the failures came "+
			"before the first one or after the last one", outside)
	case c.UnreachedAfter == 0:
		return "the outage was before the first success" + neither
	case c.UnreachedBefore == 0:
		return "the outage was after the last success" + neither
	}
	return "the outage was before the first success and after the last one" + neither
}

// coldStart reports requests at the start that were far slower than the median, in a row from the first one on: by a
// factor and by a time, as small latencies vary by large factors.
func coldStart(r *Report) (message, advice string, found bool) {
	first := &r.Inputs.Course.First
	m, ok := r.Inputs.metric(first.Tag)
	if !ok || !(m.P50 > 0) {
		return "", "", false
	}
	n, sum := 0, 0.0
	for n < len(first.Values) && first.Values[n] > coldFactor*m.P50 && first.Values[n]-m.P50 > coldExcess {
		sum += first.Values[n]
		n++
	}
	// Where all that was examined is slow, it is not the start that is.
	if n == 0 || n == len(first.Values) {
		return "", "", false
	}
	requests := "request"
	if n > 1 {
		requests = fmt.Sprintf("%d requests", n)
	}
	return fmt.Sprintf("the first %s took %s × the median (%s %s ms on average, median %s ms)", requests,
			short(sum/float64(n)/m.P50), first.Tag, short(sum/float64(n)), short(m.P50)),
		fmt.Sprintf("keep them out of the figures with a warm-up: --warmup-request-count %d", n), true
}

// many reports whether a part of the replies is one that changes figures.
func many(n, of int64) bool { return n*100 >= of }

func heldBack(r *Report) (message, advice string, found bool) {
	n, of := r.Inputs.Course.Replies.HeldBack, r.Inputs.Course.Replies.Streamed
	return fmt.Sprintf("%d of %d replies brought their first two tokens together, 35 to 45 ms after the head: as a server "+
			"with Nagle's algorithm does while this system delays its acknowledgement", n, of),
		"their time to first token is up to 40 ms too long: --connection-reuse-strategy never avoids the delay, or let " +
			"the server set TCP_NODELAY", n > 0 && many(n, of)
}

// pieces returns how many replies came in one piece, and of how many.
func (r *Replies) pieces() (n, of int64) {
	return r.InOnePiece + r.Unstreamed, r.Streamed + r.Unstreamed
}

func inOnePiece(r *Report) (message, advice string, found bool) {
	replies := &r.Inputs.Course.Replies
	n, of := replies.pieces()
	message = fmt.Sprintf("%d of %d replies arrived in one piece", n, of)
	if replies.Unstreamed > 0 {
		message += fmt.Sprintf(", %d of them not streamed although a stream was asked for", replies.Unstreamed)
	}
	return message + ": they have no rate of tokens, and are not in the rates per user",
		"a server, a proxy or a busy client that collects tokens does that: see inter_chunk_latency", n > 0
}

// usualEndings are the reasons with which a reply is complete, or as long as it may be, in the words of the vendors in
// lower case.
var usualEndings = []string{"stop", "length", "tool_calls", "function_call", "tool_use", "end_turn", "max_tokens",
	"stop_sequence", "eos_token", "eos", "completed", "complete", "max_output_tokens", "pause_turn", "tool_call"}

// UsualEnding reports whether a reply that ended for the reason is complete, or as long as it may be.
func UsualEnding(reason string) bool { return slices.Contains(usualEndings, strings.ToLower(reason)) }

// unusual returns how many replies ended for another reason.
func (r *Replies) unusual() (n int64) {
	for name, count := range r.Endings {
		if !UsualEnding(name) {
			n += count
		}
	}
	return n
}

func unusualEndings(r *Report) (message, advice string, found bool) {
	replies := &r.Inputs.Course.Replies
	var names []string
	for _, name := range slices.Sorted(maps.Keys(replies.Endings)) {
		if !UsualEnding(name) {
			names = append(names, fmt.Sprintf("%s %d", name, replies.Endings[name]))
		}
	}
	return fmt.Sprintf("%d replies ended for another reason than that they were complete or long enough: %s",
			replies.unusual(), strings.Join(names, ", ")),
		"those with content count as successes, with what came of them", len(names) > 0
}

func closedEarly(r *Report) (message, advice string, found bool) {
	replies := &r.Inputs.Course.Replies
	return fmt.Sprintf("%d of %d replies ended with neither a finish reason nor [DONE]", replies.Unfinished, replies.Valid),
		"they may be cut short: check the server's log, and proxies with a limit of time", replies.Unfinished > 0
}

func unreadOutput(r *Report) (message, advice string, found bool) {
	unread := r.Inputs.Course.Replies.Unread
	var names []string
	for _, name := range slices.Sorted(maps.Keys(unread)) {
		names = append(names, fmt.Sprintf("%s in %d replies", name, unread[name]))
	}
	return "replies carried output that is not read: " + strings.Join(names, ", "),
		"output lengths are short of it, and times to the first token may be long: --endpoint-type template reads any member",
		len(names) > 0
}

func cumulativeStream(r *Report) (message, advice string, found bool) {
	n := r.Inputs.Course.Replies.Cumulative
	return fmt.Sprintf("each event of %d replies repeated the text so far", n), "what each added is counted", n > 0
}

func repeatedPrompts(r *Report) (message, advice string, found bool) {
	p := r.Inputs.Course.Prompts
	if _, answered := r.Inputs.metric(Latency); !answered || p == nil || p.Distinct == 0 || p.Sent == p.Distinct {
		return "", "", false
	}
	return fmt.Sprintf("%d requests sent %d different prompts, each %s times on average and at most %d times; a "+
		"prefix cache can answer repeats",
		p.Sent, p.Distinct, short(float64(p.Sent)/float64(p.Distinct)), p.Max), p.Remedy, true
}

func warmCache(r *Report) (message, advice string, found bool) {
	c := r.Inputs.Course.WarmCache
	if c == nil {
		return "", "", false
	}
	return c.Message(), c.Remedy, true
}

// Message says what a warm cache is known by, without a full stop.
func (c *WarmCache) Message() string {
	return fmt.Sprintf("%.0f %% of the prompt tokens came from the server's prefix cache, more than this run's repeats "+
		"explain (%.0f %%): an earlier run probably sent the same prompts", 100*c.Share, 100*c.Repeats)
}

func totalsDiffer(r *Report) (message, advice string, found bool) {
	t := r.Inputs.Course.Totals
	if t == nil {
		return "", "", false
	}
	return t.Message, t.Advice, true
}

// Notes returns the findings on the run's course, one line each.
func (r *Report) Notes() []string {
	var out []string
	for _, reason := range r.Reasons {
		if reason.course {
			out = append(out, "Run: "+reason.Message+"; "+reason.Advice)
		}
	}
	return out
}
