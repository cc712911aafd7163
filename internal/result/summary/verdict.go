package summary

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/watch/trust"
)

// The codes of findings: what limited a run ([Explain]) and how sure its figures are ([Sure]).
const (
	CodeAllFailed     = "all_failed"
	CodeClient        = "client"
	CodeErrors        = "errors"
	CodeOverload      = "overload"
	CodeKVCache       = "kv_cache"
	CodeQueue         = "queue"
	CodeCap           = "concurrency_cap"
	CodeConcurrency   = "concurrency"
	CodePrefill       = "prefill_concurrency"
	CodeRate          = "rate"
	CodeNotKnown      = "not_known"
	CodeInterrupted   = "interrupted"
	CodeDoubtful      = "doubtful"
	CodeManyErrors    = "many_errors"
	CodeClientShare   = "client_share"
	CodeIntervals     = "intervals"
	CodeTooFew        = "too_few"
	CodeObjectives    = "objectives_missed"
	CodeNotObserved   = "not_observed"
	CodeContradiction = "totals_differ"
)

// The thresholds.
const (
	// mostlyFailed is the share of failed requests from which they are what limited the run, manyFailed that from which
	// they are the first thing to say, someFailed that from which they are said at all.
	mostlyFailed, manyFailed, someFailed = 0.5, 0.05, 0.01
	// fullCache is the use of the KV cache, in percent, from which it is full.
	fullCache = 95
	// queued is the least average of waiting requests that is a queue, and queuedPart their least part of the running
	// ones.
	queued, queuedPart = 1, 0.05
	// mostlyMissed is the share of good requests below which the objectives are the first thing to say, someMissed that
	// below which the server does not hold them with more load.
	mostlyMissed, someMissed = 0.5, 0.95
	// kept is the part of a concurrency that was on average in flight if the load was that concurrency.
	kept = 0.75
	// delivered is the part of a planned rate from which it was sent.
	delivered = 0.98
)

// Explain returns what limited a run, the weightiest first; there is always one line.
func Explain(r *Result) []Finding {
	f := factsOf(r)
	if r.Counts.AllFailed() {
		return []Finding{f.allFailed()}
	}
	failures := found(f.mostErrors, f.manyErrors)
	causes := found(f.client, f.overload, f.cache, f.queue, f.cap, f.prefill)
	if len(causes) == 0 && f.errorShare() < mostlyFailed {
		causes = append(causes, f.load())
	}
	return slices.Concat(failures, found(f.objectives), causes, found(f.someErrors))
}

// FailedLevel is how a share of failed requests is to be taken, from 0 to 1.
func FailedLevel(share float64) Level {
	switch {
	case share >= manyFailed:
		return Bad
	case share >= someFailed:
		return Warn
	}
	return Good
}

// Brief says on one line what limited a run; "" if nothing shows it.
func Brief(r *Result) string {
	for _, line := range Explain(r) {
		if line.Brief != "" {
			return line.Brief
		}
	}
	return ""
}

// found returns the lines of the rules that find something.
func found(rules ...func() (Finding, bool)) []Finding {
	var out []Finding
	for _, rule := range rules {
		if line, ok := rule(); ok {
			out = append(out, line)
		}
	}
	return out
}

// facts are what the rules read.
type facts struct {
	*Result
	health trust.Document
	asked  Configured
	growth growth
}

func factsOf(r *Result) *facts {
	f := &facts{Result: r, growth: growthOf(r)}
	if text, err := artifact.AppendJSON(nil, r.InputConfig); err == nil {
		f.asked = ParseConfigured(text)
	}
	if text, err := artifact.AppendJSON(nil, r.ClientHealth); err != nil || json.Unmarshal(text, &f.health) != nil {
		f.health = trust.Document{} // nothing can be said of what has another shape
	}
	return f
}

func (f *facts) allFailed() Finding {
	l := Finding{Code: CodeAllFailed, Level: Bad, Title: "All requests failed"}
	l.Text = fmt.Sprintf("None of %s requests succeeded: %s.", count(f.Counts.Completed()), f.commonError())
	return l
}

// commonError names the most frequent error with its count.
func (f *facts) commonError() string {
	if len(f.Result.Errors) == 0 {
		return "the errors are not known"
	}
	kinds := f.Result.ErrorKinds()
	most := &kinds[0]
	for i := range kinds {
		if kinds[i].Count > most.Count {
			most = &kinds[i]
		}
	}
	name := most.Error.Type
	if most.Error.HasCode {
		name = strings.TrimSpace(fmt.Sprintf("%d %s", most.Error.Code, name))
	}
	return fmt.Sprintf("%s × %s", count(most.Count), terminal.Text(name))
}

func (f *facts) errorShare() float64 {
	all := f.Counts.Completed()
	if all == 0 {
		return 0
	}
	return float64(f.Counts.Errors) / float64(all)
}

func (f *facts) mostErrors() (Finding, bool) {
	return Finding{Code: CodeManyErrors, Level: Bad, Title: "Most requests failed",
		Brief: fmt.Sprintf("errors: %s of %s requests failed, most with %s", count(f.Counts.Errors),
			count(f.Counts.Completed()), f.commonError()),
		Text: fmt.Sprintf("%s of %s requests failed (%s), most with %s; the figures are of the others.",
			count(f.Counts.Errors), count(f.Counts.Completed()), percent(f.errorShare()), f.commonError()),
		Advice: "remove the errors before you read the figures"}, f.errorShare() >= mostlyFailed
}

// good is the share of requests that met the service level objectives, if there are any.
func (f *facts) good() (float64, bool) { return f.Value("good_request_fraction") }

func (f *facts) objectives() (Finding, bool) {
	good, asked := f.good()
	text := percent(good) + " of the requests met the service level objectives"
	return Finding{Code: CodeObjectives, Level: Bad, Title: "Objectives missed", Text: "Only " + text + ".",
		Advice: "lower the load; aiperf capacity finds the largest one within limits"}, asked && good < mostlyMissed
}

func (f *facts) manyErrors() (Finding, bool) {
	l := f.errors()
	l.Brief = fmt.Sprintf("errors: %s of the requests failed, most with %s", percent(f.errorShare()), f.commonError())
	return l, l.Level == Bad && f.errorShare() < mostlyFailed
}

func (f *facts) someErrors() (Finding, bool) {
	l := f.errors()
	return l, l.Level == Warn
}

// errors says which part of the requests failed.
func (f *facts) errors() Finding {
	share := f.errorShare()
	l := Finding{Code: CodeErrors, Level: FailedLevel(share), Title: percent(share) + " of the requests failed",
		Text: fmt.Sprintf("%s of %s requests failed (%s), most with %s.", count(f.Counts.Errors),
			count(f.Counts.Completed()), percent(share), f.commonError())}
	if f.tooMany() {
		l.Title, l.Text = "Refused requests", "The server refused requests: "+l.Text
		l.Advice = "lower --request-rate or --concurrency: 429 says that the server takes no more"
	}
	return l
}

// tooMany reports whether the server said that there were too many requests.
func (f *facts) tooMany() bool {
	for i := range f.Result.Errors {
		if e := &f.Result.Errors[i].Error; e.HasCode && e.Code == 429 {
			return true
		}
	}
	return false
}

func (f *facts) client() (Finding, bool) {
	l := Finding{Code: CodeClient, Level: Bad, Title: "This client",
		Text:  "The client was the bottleneck; the server may be faster than the figures say.",
		Brief: "this client: the server may be faster than the figures"}
	for _, why := range f.health.Reasons {
		if why.LeadsTo == trust.ClientLimited {
			l.Text = "The client was the bottleneck, so that the server may be faster than the figures say: " +
				why.Message + "."
			l.Advice = why.Advice
			break
		}
	}
	return l, f.health.Verdict == trust.ClientLimited
}

// overload is an open load beyond what the server can take.
func (f *facts) overload() (Finding, bool) {
	g := &f.growth
	l := Finding{Code: CodeOverload, Level: Bad, Title: "Server overloaded"}
	if !g.grows {
		return l, false
	}
	l.Text = fmt.Sprintf("It completed %s of %s requests/s, and the requests in flight grew from %s to %s while "+
		"requests were sent; %s rose from %s to %s ms with them.", short(g.completed), short(g.sent),
		count(g.from), count(g.to), f.waitName(), short(g.early), short(g.late))
	l.Brief = fmt.Sprintf("the server: it completed %s of %s req/s, and the requests in flight grew", short(g.completed),
		short(g.sent))
	l.Text += f.because()
	l.Advice = fmt.Sprintf("latencies depend on how long such a run lasts: send less than %s requests/s, or let "+
		"aiperf capacity find what the server takes", short(g.completed))
	return l, true
}

// waitName is what a trend measures, in words.
func (f *facts) waitName() string {
	if _, ok := f.Find("time_to_first_token"); ok {
		return "the time to the first token"
	}
	return "the latency"
}

// because says what the servers' metrics show of a queue.
func (f *facts) because() string {
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
func (f *facts) fullCache() (string, bool) {
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

func (f *facts) cache() (Finding, bool) {
	full, ok := f.fullCache()
	l := Finding{Code: CodeKVCache, Level: Warn, Title: "KV cache", Text: "The server's KV cache was full: " + full +
		". Requests then wait, or are computed again.",
		Brief:  "the server's KV cache: " + full,
		Advice: "lower the concurrency or the lengths, or give the server more memory for its cache"}
	return l, ok && !f.growth.grows // which names the cache as the cause
}

func (f *facts) queue() (Finding, bool) {
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
	l.Advice = "raise the server's batch size (of vLLM --max-num-seqs), or lower the load"
	return l, *s.Waiting >= max(queued, queuedPart*running)
}

// cap is an open load that the cap of its concurrency held back.
func (f *facts) cap() (Finding, bool) {
	l := Finding{Code: CodeCap, Level: Warn, Title: "Cap on the concurrency",
		Advice: "raise --concurrency if the rate is to be reached"}
	sent := fmt.Sprintf("%s of %s requests/s were sent", short(f.Counts.DeliveredRate), short(f.Counts.TargetRate))
	l.Brief = "the cap on the concurrency: " + sent
	if n := f.Counts.SkippedArrivals; n > 0 {
		l.Text = count(n) + " arrivals found no free slot and were skipped, so that " + sent + "."
		return l, true
	}
	busy, known := f.Value("effective_concurrency")
	l.Text = fmt.Sprintf("%s requests were in flight on average, of %s at most, so that %s.", short(busy),
		short(f.asked.Concurrency), sent)
	return l, f.asked.Concurrency > 0 && known && busy >= kept*f.asked.Concurrency &&
		f.Counts.DeliveredRate < delivered*f.Counts.TargetRate
}

// prefill is a limit of the requests that wait for their first token, which held the others back.
func (f *facts) prefill() (Finding, bool) {
	limit := f.asked.PrefillConcurrency
	waiting, known := f.Value("effective_prefill_concurrency")
	text := fmt.Sprintf("%s of at most %s requests waited for their first token on average", short(waiting), short(limit))
	return Finding{Code: CodePrefill, Level: Warn, Title: "Limit of prefills", Brief: "--prefill-concurrency: " + text,
		Text:   text + ", which kept the others from being sent.",
		Advice: "raise --prefill-concurrency if the server is to have more to do"}, limit > 0 && known && waiting >= kept*limit
}

// load says that the load itself was the limit, as far as that is known.
func (f *facts) load() Finding {
	notKnown := Finding{Code: CodeNotKnown, Level: Plain, Title: "The limit is not known", Advice: find}
	l := Finding{Level: Good, Title: "The load that was asked for"}
	avg, known := f.Value("effective_concurrency")
	more := ""
	switch asked := f.asked.Concurrency; {
	case f.Counts.TargetRate > 0:
		l.Code, more = CodeRate, "a higher --request-rate"
		l.Text = short(f.Counts.TargetRate) + " requests/s were asked for"
		l.Brief = "the request rate: " + short(f.Counts.TargetRate) + " req/s were asked for"
		if f.Counts.DeliveredRate >= delivered*f.Counts.TargetRate {
			l.Brief = "the request rate: all of " + short(f.Counts.TargetRate) + " req/s was sent"
		}
		if f.growth.known {
			l.Text = "The server kept up with the " + short(f.Counts.TargetRate) + " requests/s that were asked for"
		}
	case asked > 0 && known && avg >= kept*asked:
		l.Code, more = CodeConcurrency, "a higher --concurrency"
		l.Text = "A concurrency of " + short(asked) + " was kept up all the time"
		l.Brief = "concurrency " + short(asked) + ", always in use; aiperf capacity finds the largest load within limits"
	case asked > 0 && known:
		notKnown.Text = fmt.Sprintf("On average %s requests were in flight, of a concurrency of %s: pauses between turns, "+
			"or the end of the run, left the server idle.", short(avg), short(asked))
		notKnown.Brief = fmt.Sprintf("too few requests for concurrency %s: %s in flight on average", short(asked), short(avg))
		notKnown.Advice = "send more requests, or without pauses, to see the server's limit"
		return notKnown
	default:
		notKnown.Text = "Nothing shows that the server could not keep up with the load."
		return notKnown
	}
	l.Advice = "try " + more + ", or let aiperf capacity find the server's limit"
	if good, asked := f.good(); asked && good < someMissed {
		l.Level, l.Advice = Plain, "let aiperf capacity find the largest load within limits"
		l.Text += "; " + percent(1-good) + " of the requests missed the service level objectives."
		return l
	}
	known = f.Servers != nil && f.Servers.Waiting != nil
	switch {
	case (known || l.Code == CodeRate && f.growth.known) && FailedLevel(f.errorShare()) != Good:
		l.Level, l.Advice = Plain, "find out why requests fail before you raise the load"
		l.Text += "."
	case known:
		l.Text += ", and the server had no queue: it may take more."
	case l.Code == CodeRate && f.growth.known:
		l.Text += "; it may take more."
	default:
		notKnown.Brief = l.Brief
		notKnown.Text = l.Text + "; no metrics of the server say whether requests waited there."
		return notKnown
	}
	return l
}

// find is how the limit of a server is found.
const find = "the server's metrics page shows its queue and KV cache (--server-metrics URL), and aiperf capacity finds " +
	"what the server takes"

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func short(v float64) string { return artifact.Short(v) }

func count(n int64) string { return artifact.GroupThousands(fmt.Sprint(n)) }

// percent writes a share.
func percent(share float64) string { return short(100*share) + " %" }
