package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/timesplit"
)

const (
	// fullCache is the use of the KV cache, in percent, from which it is full.
	fullCache = 95
	// queued is the least average of waiting requests that is a queue, and queuedPart their least part of the running
	// ones.
	queued, queuedPart = 1, 0.05
	// kept is the part of a concurrency that was on average in flight if the load was that concurrency.
	kept = 0.75
	// delivered is the part of a planned rate from which it was sent.
	delivered = 0.98
)

// refused are requests that the server, or a gateway, refused because there were too many.
func (f *view) refused() (Finding, bool) {
	n := int64(0)
	name := ""
	for i := range f.Failures {
		if e := &f.Failures[i]; e.tooMany() {
			n += e.Count
			if name == "" {
				name = e.Name
			}
		}
	}
	share := float64(n) / float64(max(f.Ended(), 1))
	return Finding{Code: CodeRateLimit, Level: FailedLevel(share), Title: "Requests refused", Confidence: Certain,
		Text: fmt.Sprintf("%s of %s requests (%s) were refused because there were too many, most with %s.", count(n),
			count(f.Ended()), percent(share), terminal.Text(name)),
		Brief:    fmt.Sprintf("a limit of the server: %s of the requests were refused", percent(share)),
		Evidence: []Evidence{{Metric: "error_request_count", Value: float64(n), Unit: "requests"}},
		Advice:   f.switchOf(needLimit),
		Confirm:  "the error's text and Retry-After name the limit; half the load is not refused",
	}, n > 0 && FailedLevel(share) != Good && 2*n >= f.Failed
}

// tooMany reports whether an error says that there were too many requests.
func (e *Failure) tooMany() bool {
	switch e.Code {
	case 429, 529:
		return true
	case 503:
		text := strings.ToLower(e.Name + " " + e.Message)
		return slices.ContainsFunc(busyWords, func(word string) bool { return strings.Contains(text, word) })
	}
	return false
}

// busyWords are in messages of servers that refuse because they have too much to do.
var busyWords = []string{"queue", "overload", "capacity", "too many", "busy", "rate limit"}

// Overloaded is the title of a run whose server fell behind, whoever found it.
const Overloaded = "Server overloaded"

// overload is an open load beyond what the server can take.
func (f *view) overload() (Finding, bool) {
	g := &f.growth
	l := Finding{Code: CodeOverload, Level: Bad, Title: Overloaded}
	if !g.grows {
		return l, false
	}
	l.Text = fmt.Sprintf("It completed %s of %s requests/s, and the requests in flight grew from %s to %s while "+
		"requests were sent; %s rose from %s to %s ms with them.", short(g.completed), short(g.sent),
		count(g.from), count(g.to), f.waitName(), short(g.early), short(g.late))
	l.Brief = fmt.Sprintf("the server: it completed %s of %s req/s, and the requests in flight grew", short(g.completed),
		short(g.sent))
	l.Text += f.because()
	l.Advice = fmt.Sprintf("latencies depend on how long such a run lasts: lower --request-rate below "+
		"%s, or let aiperf capacity find what the server takes", short(g.completed))
	if _, full := f.fullCache(); full {
		l.Advice += "; " + f.switchOf(needCache)
	} else if s := f.Servers; s != nil && s.WaitingMax != nil && *s.WaitingMax >= queued {
		l.Advice += "; " + f.switchOf(needSlots)
	}
	l.Confidence = Certain
	l.Evidence = []Evidence{{Metric: "completed requests", Value: g.completed, Unit: "requests/sec", Window: "after the first quarter"},
		{Metric: "sent requests", Value: g.sent, Unit: "requests/sec", Window: "after the first quarter"},
		{Metric: "requests in flight", Value: float64(g.to), Unit: "requests", Window: "end of sending"}}
	l.Confirm = "repeat for twice as long: latencies grow further"
	return l, true
}

// waitName is what a trend measures, in words.
func (f *view) waitName() string {
	if metrics.Find(f.Metrics, "time_to_first_token") != nil {
		return "the time to the first token"
	}
	return "the latency"
}

// because says what the servers' metrics show of a queue.
func (f *view) because() string {
	s := f.Servers
	if s == nil {
		return ""
	}
	if full, ok := f.fullCache(); ok {
		return " The KV cache was full (" + full + ")."
	}
	if s.WaitingMax != nil && *s.WaitingMax >= queued {
		text := fmt.Sprintf(" Up to %s requests waited at the server", short(*s.WaitingMax))
		if s.RunningMax != nil && *s.RunningMax >= 1 {
			text += fmt.Sprintf(", which ran %s at most", short(*s.RunningMax))
		}
		return text + "."
	}
	return ""
}

// fullCache describes a KV cache that was full.
func (f *view) fullCache() (string, bool) {
	s := f.Servers
	if s == nil {
		return "", false
	}
	var parts []string
	if s.KVUsageMax != nil && *s.KVUsageMax >= fullCache {
		parts = append(parts, "up to "+short(*s.KVUsageMax)+" % in use")
	}
	if s.Preemptions != nil && *s.Preemptions > 0 {
		parts = append(parts, count(int64(math.Round(*s.Preemptions)))+" preemptions")
	}
	return strings.Join(parts, ", "), len(parts) > 0
}

func (f *view) cache() (Finding, bool) {
	full, ok := f.fullCache()
	l := Finding{Code: CodeKVCache, Level: Warn, Title: "KV cache", Confidence: Certain,
		Text:  "The server's KV cache was full: " + full + ". Requests then wait, or are computed again.",
		Brief: "the server's KV cache: " + full, Advice: f.switchOf(needCache),
		Confirm: "repeat with half the concurrency or half the lengths: the cache is not full, and no request is preempted"}
	if !ok || f.growth.grows { // which names the cache as the cause
		return l, false
	}
	for _, of := range []struct {
		metric, unit string
		value        *float64
	}{{"KV cache usage", "%", f.Servers.KVUsageMax}, {"preemptions", "requests", f.Servers.Preemptions}} {
		if of.value != nil {
			l.Evidence = append(l.Evidence, Evidence{Metric: of.metric, Value: *of.value, Unit: of.unit, Window: "at most"})
		}
	}
	return l, true
}

// queue is a queue at the server.
func (f *view) queue() (Finding, bool) {
	s := f.Servers
	if s == nil || s.Waiting == nil || f.growth.grows {
		return Finding{}, false
	}
	running := 0.0
	if s.Running != nil {
		running = *s.Running
	}
	l := Finding{Code: CodeQueue, Level: Warn, Title: "Server queue"}
	l.Text = fmt.Sprintf("%s requests waited at the server on average", short(*s.Waiting))
	if s.WaitingMax != nil {
		l.Text += fmt.Sprintf(", %s at most", short(*s.WaitingMax))
	}
	l.Brief = "the server's queue: " + l.Text
	if running >= 1 {
		l.Text += fmt.Sprintf(", while %s ran", short(running))
	}
	l.Text += ": its batch was full, and more load only lengthens the queue."
	l.Advice, l.Confidence = f.switchOf(needSlots), Likely
	l.Confirm = "repeat with as many requests in flight as ran: nothing waits, and TTFT falls"
	l.Evidence = []Evidence{{Metric: "waiting requests", Value: *s.Waiting, Unit: "requests"},
		{Metric: "running requests", Value: running, Unit: "requests"}}
	if ms, share := part(f.ttft(), timesplit.Queue); ms > 0 {
		l.Text += fmt.Sprintf(" Waiting took %s of the time to the first token.", percent(share))
		l.Evidence = append(l.Evidence, stageEvidence(f.ttft(), timesplit.Queue)...)
	}
	return l, *s.Waiting >= max(queued, queuedPart*running)
}

// cap is an open load that the cap of its concurrency held back.
func (f *view) cap() (Finding, bool) {
	l := Finding{Code: CodeCap, Level: Warn, Title: "Cap on the concurrency", Confidence: Certain,
		Evidence: []Evidence{{Metric: "delivered_rate", Value: f.DeliveredRate, Unit: "requests/sec"},
			{Metric: "target_rate", Value: f.TargetRate, Unit: "requests/sec"}},
		Advice: "raise --concurrency if the rate is to be reached"}
	sent := fmt.Sprintf("%s of %s requests/s were sent", short(f.DeliveredRate), short(f.TargetRate))
	l.Brief = "the cap on the concurrency: " + sent
	if n := f.SkippedArrivals; n > 0 {
		l.Text = count(n) + " arrivals found no free slot and were skipped, so that " + sent + "."
		return l, true
	}
	busy, known := f.Value("effective_concurrency")
	l.Text = fmt.Sprintf("%s requests were in flight on average, of %s at most, so that %s.", short(busy),
		short(f.Concurrency), sent)
	return l, f.Concurrency > 0 && known && busy >= kept*f.Concurrency &&
		f.DeliveredRate < delivered*f.TargetRate
}

// prefillLimit is a limit of the requests that wait for their first token, which held the others back.
func (f *view) prefillLimit() (Finding, bool) {
	limit := f.PrefillConcurrency
	waiting, known := f.Value("effective_prefill_concurrency")
	text := fmt.Sprintf("%s of at most %s requests waited for their first token on average", short(waiting), short(limit))
	return Finding{Code: CodePrefillLimit, Level: Warn, Title: "Limit of prefills", Confidence: Certain,
		Evidence: []Evidence{{Metric: "effective_prefill_concurrency", Value: waiting, Unit: "requests"}}, Brief: "--prefill-concurrency: " + text,
		Text:   text + ", which kept the others from being sent.",
		Advice: "raise --prefill-concurrency if the server is to have more to do"}, limit > 0 && known && waiting >= kept*limit
}

// load says that the load itself was the limit, as far as that is known, where nothing else was found.
func (f *view) load() (Finding, bool) {
	if f.caused() || f.failedShare() >= mostlyFailed {
		return Finding{}, false
	}
	l, more := f.asked()
	if more == "" {
		return l, true
	}
	l.Advice = "try " + more + ", or let aiperf capacity find the server's limit"
	known := f.Servers != nil && f.Servers.Waiting != nil
	keptUp := l.Code == CodeRate && f.growth.known
	if good, of, asked := f.good(); asked && good < someMissed {
		l.Level, l.Advice = Plain, "let aiperf capacity find the largest load within limits"
		l.Text += "; " + percent(1-good) + " of the " + of + " missed the service level objectives."
		return l, true
	}
	switch {
	case (known || keptUp) && FailedLevel(f.failedShare()) != Good:
		l.Level, l.Advice = Plain, "find out why requests fail before you raise the load"
		l.Text += "."
	case known:
		l.Text += ", and the server had no queue: it may take more."
	case keptUp:
		l.Text += "; it may take more."
	case f.FileOnly:
		return Finding{Code: CodeNotKnown, Level: Plain, Title: "The limit is not known", Brief: l.Brief, Advice: find,
			Text: l.Text + "; the summary does not say whether requests waited at the server."}, true
	default:
		return Finding{Code: CodeNotKnown, Level: Plain, Title: "The limit is not known", Brief: l.Brief, Advice: find,
			Text: l.Text + "; no metrics of the server say whether requests waited there."}, true
	}
	return l, true
}

// asked says which load was asked for, without a full stop, and what more would be; "" where the server was not given
// as much as was asked for.
func (f *view) asked() (l Finding, more string) {
	l = Finding{Level: Good, Title: "The load that was asked for", Confidence: Certain}
	avg, known := f.Value("effective_concurrency")
	switch asked := f.Concurrency; {
	case f.TargetRate > 0:
		l.Code, l.Evidence = CodeRate, []Evidence{{Metric: "delivered_rate", Value: f.DeliveredRate, Unit: "requests/sec"}}
		l.Text = short(f.TargetRate) + " requests/s were asked for"
		l.Brief = "the request rate: " + short(f.TargetRate) + " req/s were asked for"
		if f.DeliveredRate >= delivered*f.TargetRate {
			l.Brief = "the request rate: all of " + short(f.TargetRate) + " req/s was sent"
		}
		if f.growth.known {
			l.Text = "The server kept up with the " + short(f.TargetRate) + " requests/s that were asked for"
		}
		return l, "a higher --request-rate"
	case asked > 0 && known && avg >= kept*asked:
		l.Code, l.Evidence = CodeConcurrency, []Evidence{{Metric: "effective_concurrency", Value: avg, Unit: "requests"}}
		l.Text = "A concurrency of " + short(asked) + " was kept up all the time"
		l.Brief = "concurrency " + short(asked) + ", always in use; aiperf capacity finds the largest load within limits"
		return l, "a higher --concurrency"
	}
	l = Finding{Code: CodeNotKnown, Level: Plain, Title: "The limit is not known", Advice: find}
	l.Text = "Nothing shows that the server could not keep up with the load."
	if f.FileOnly {
		l.Text = "The summary does not say what limited the run."
	}
	return l, ""
}

// tooFew are requests that did not keep up the concurrency that was asked for.
func (f *view) tooFew() (Finding, bool) {
	avg, known := f.Value("effective_concurrency")
	asked := f.Concurrency
	return Finding{Code: CodeTooFew, Level: Plain, Title: "Too few requests", Confidence: Likely,
		Evidence: []Evidence{{Metric: "effective_concurrency", Value: avg, Unit: "requests"}},
		Text: fmt.Sprintf("On average %s requests were in flight, of a concurrency of %s: pauses between turns, "+
			"or the end of the run, left the server idle.", short(avg), short(asked)),
		Brief:  fmt.Sprintf("too few requests for concurrency %s: %s in flight on average", short(asked), short(avg)),
		Advice: "send more requests, or without pauses, to see the server's limit",
	}, asked > 0 && known && f.TargetRate <= 0 && avg < kept*asked && !f.caused() && !f.Running
}

// find is how the limit of a server is found.
const find = "the server's metrics page shows its queue and KV cache (--server-metrics URL), and aiperf capacity finds " +
	"what the server takes"
