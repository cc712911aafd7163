package summary_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

const second = int64(1e9)

// server answers requests in their order, slots at a time, each in the time that service returns.
type server struct {
	slots   int
	service func(i int) int64
}

// request is when one was sent and how long it took to its first token and to its end.
type request struct{ sent, first, end int64 }

// answer returns what becomes of requests that are sent at these instants.
func (s server) answer(sent []int64) []request {
	free := make([]int64, s.slots)
	out := make([]request, len(sent))
	for i, at := range sent {
		slot := 0
		for k := range free {
			if free[k] < free[slot] {
				slot = k
			}
		}
		begin := max(at, free[slot])
		free[slot] = begin + s.service(i)
		out[i] = request{at, begin - at + second/100, free[slot] - at}
	}
	return out
}

// poisson returns the instants of so many arrivals at a rate.
func poisson(n int, rate float64) []int64 {
	random := rand.New(rand.NewPCG(5, 7))
	at, out := int64(1_700_000_000)*second, make([]int64, n)
	for i := range out {
		at += int64(random.ExpFloat64() / rate * 1e9)
		out[i] = at
	}
	return out
}

// resultOf makes the result of a run of these requests.
func resultOf(t *testing.T, list []request, failed int, e record.Error, config artifact.Object) *summary.Result {
	t.Helper()
	cfg := metrics.DefaultConfig()
	cfg.Streaming, cfg.ProducesTokens = true, true
	set, err := metrics.NewSet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	engine := set.NewEngine()
	for i, q := range list {
		r := &record.Record{Facts: record.NewFacts()}
		f := &r.Facts
		f[record.StartWall], f[record.Ack], f[record.End], f[record.OutputTokens] = q.sent, 1, q.end, 2
		f[record.FirstContent], f[record.FirstOutput], f[record.SecondContent] = q.first, q.first, q.end
		f[record.LastContent], f[record.LastResponse], f[record.Contents] = q.end, q.end, 2
		if i < failed {
			r.Err = &e
			f[record.Failed] = 1
		}
		engine.Add(r)
	}
	r := summary.Build(summary.Run{InputConfig: config, Counts: summary.Counts{Sent: int64(len(list))}}, engine, nil)
	return &r
}

// rate makes the result that of an open load.
func rate(r *summary.Result, perSecond float64) *summary.Result {
	r.Counts.TargetRate, r.Counts.DeliveredRate = perSecond, perSecond
	return r
}

func value(v float64) *float64 { return &v }

func concurrency(n int) artifact.Object {
	return artifact.Object{{Key: "phases", Value: []any{artifact.Object{{Key: "kind", Value: "profiling"},
		{Key: "concurrency", Value: n}}}}}
}

// loop keeps n requests in flight that take as long.
func loop(n, total int, takes int64) []request {
	var out []request
	for i := range total {
		out = append(out, request{1_700_000_000*second + int64(i/n)*takes + int64(i%n), second / 100, takes})
	}
	return out
}

func healthOf(verdict, code, message string) artifact.Object {
	reasons := []any{}
	if code != "" {
		leads := verdict
		if code == "totals_differ" {
			leads = "valid"
		}
		reasons = append(reasons, artifact.Object{{Key: "code", Value: code}, {Key: "leads_to", Value: leads},
			{Key: "message", Value: message}, {Key: "advice", Value: "do this"}})
	}
	return artifact.Object{{Key: "verdict", Value: verdict}, {Key: "reasons", Value: reasons},
		{Key: "error_bound", Value: artifact.Object{{Key: "time_to_first_token", Value: artifact.Object{
			{Key: "value", Value: 0.21}, {Key: "unit", Value: "ms"}}}}}}
}

func TestExplain(t *testing.T) {
	steady := server{16, func(int) int64 { return second / 5 }}     // at most 80 requests/s
	endless := server{5000, func(int) int64 { return 10 * second }} // long replies, no queue
	mixed := server{5000, func(i int) int64 {
		if i%4 == 0 {
			return 20 * second
		}
		return second / 10
	}}
	broken := record.Error{Code: 503, HasCode: true, Type: "Service Unavailable", Message: "m"}
	refused := record.Error{Code: 429, HasCode: true, Type: "Too Many\x1b[2J Requests", Message: "m"}
	for name, c := range map[string]struct {
		result func(t *testing.T) *summary.Result
		codes  string
		parts  []string
	}{
		"a rate beyond the server's": {func(t *testing.T) *summary.Result {
			r := rate(resultOf(t, steady.answer(poisson(1000, 120)), 0, broken, nil), 120)
			r.Servers = &servermetrics.Load{Waiting: value(100), WaitingMax: value(300), RunningMax: value(16)}
			return r
		}, judge.CodeOverload, []string{"requests in flight grew from", "the time to the first token rose from",
			"Up to 300 requests waited at the server, which ran 16 at most"}},
		"a rate beyond the server's, whose cache is full": {func(t *testing.T) *summary.Result {
			r := rate(resultOf(t, steady.answer(poisson(1000, 120)), 0, broken, nil), 120)
			r.Servers = &servermetrics.Load{Waiting: value(100), KVUsageMax: value(99), Preemptions: value(3)}
			return r
		}, judge.CodeOverload, []string{"The KV cache was full (up to 99 % in use, 3 preemptions)"}},
		"a rate that the server keeps up with": {func(t *testing.T) *summary.Result {
			return rate(resultOf(t, steady.answer(poisson(1000, 50)), 0, broken, nil), 50)
		}, judge.CodeRate, []string{"The server kept up with the 50 requests/s"}},
		"a rate close to the server's": {func(t *testing.T) *summary.Result {
			return rate(resultOf(t, steady.answer(poisson(2000, 76)), 0, broken, nil), 76)
		}, judge.CodeRate, nil},
		"long replies are no queue": {func(t *testing.T) *summary.Result {
			return rate(resultOf(t, endless.answer(poisson(600, 50)), 0, broken, nil), 50)
		}, judge.CodeRate, nil},
		"some long replies are no queue": {func(t *testing.T) *summary.Result {
			return rate(resultOf(t, mixed.answer(poisson(600, 50)), 0, broken, nil), 50)
		}, judge.CodeRate, nil},
		"too few requests": {func(t *testing.T) *summary.Result {
			return rate(resultOf(t, steady.answer(poisson(30, 1000)), 0, broken, nil), 1000)
		}, judge.CodeNotKnown, []string{"1,000 requests/s were asked for; no metrics of the server"}},
		"the client": {func(t *testing.T) *summary.Result {
			r := rate(resultOf(t, steady.answer(poisson(1000, 50)), 0, broken, nil), 50)
			r.ClientHealth = healthOf("client_limited", "cpu", "the client used 99 % of its 2 cores")
			return r
		}, judge.CodeClient, []string{"the client used 99 % of its 2 cores", "do this"}},
		"all failed": {func(t *testing.T) *summary.Result {
			return resultOf(t, loop(8, 100, second), 100, broken, concurrency(8))
		}, judge.CodeAllFailed, []string{"None of 100 requests succeeded: 100 × 503 Service Unavailable"}},
		"most failed": {func(t *testing.T) *summary.Result {
			return resultOf(t, loop(8, 100, second), 60, broken, concurrency(8))
		}, judge.CodeManyErrors, []string{"60 of 100 requests failed (60 %)"}},
		"some failed": {func(t *testing.T) *summary.Result {
			return resultOf(t, loop(8, 100, second), 5, refused, concurrency(8))
		}, judge.CodeErrors + " " + judge.CodeRateLimit, []string{"5 of 100 requests (5 %) were refused",
			`429 Too Many\x1b[2J Requests`}},
		"a few failed": {func(t *testing.T) *summary.Result {
			return resultOf(t, loop(8, 100, second), 2, broken, concurrency(8))
		}, judge.CodeErrors + " " + judge.CodeNotKnown, []string{"2 of 100 requests failed (2 %)"}},
		"some failed at a server without a queue": {func(t *testing.T) *summary.Result {
			r := resultOf(t, loop(8, 100, second), 30, broken, concurrency(8))
			r.Servers = &servermetrics.Load{Waiting: value(0.2), Running: value(8)}
			return r
		}, judge.CodeErrors + " " + judge.CodeConcurrency, []string{"30 of 100 requests failed (30 %)",
			"kept up all the time.", "find out why requests fail before you raise the load"}},
		"a concurrency, of a server that is not known": {func(t *testing.T) *summary.Result {
			return resultOf(t, loop(8, 100, second), 0, broken, concurrency(8))
		}, judge.CodeNotKnown, []string{"A concurrency of 8 was kept up all the time; no metrics of the server",
			"aiperf capacity"}},
		"a concurrency, of a server without a queue": {func(t *testing.T) *summary.Result {
			r := resultOf(t, loop(8, 100, second), 0, broken, concurrency(8))
			r.Servers = &servermetrics.Load{Waiting: value(0.2), Running: value(8), KVUsageMax: value(40)}
			return r
		}, judge.CodeConcurrency, []string{"the server had no queue"}},
		"a concurrency that was not kept up": {func(t *testing.T) *summary.Result {
			return resultOf(t, loop(8, 100, second), 0, broken, concurrency(64))
		}, judge.CodeTooFew, []string{"of a concurrency of 64"}},
		"a queue": {func(t *testing.T) *summary.Result {
			r := resultOf(t, loop(32, 100, second), 0, broken, concurrency(32))
			r.Servers = &servermetrics.Load{Waiting: value(14), WaitingMax: value(16), Running: value(16)}
			return r
		}, judge.CodeQueue, []string{"14 requests waited at the server on average, 16 at most, while 16 ran"}},
		"a few that wait of many": {func(t *testing.T) *summary.Result {
			r := resultOf(t, loop(32, 100, second), 0, broken, concurrency(32))
			r.Servers = &servermetrics.Load{Waiting: value(1.2), Running: value(200)}
			return r
		}, judge.CodeConcurrency, nil},
		"a full cache": {func(t *testing.T) *summary.Result {
			r := resultOf(t, loop(32, 100, second), 0, broken, concurrency(32))
			r.Servers = &servermetrics.Load{KVUsageMax: value(97.4), Waiting: value(3), Running: value(16)}
			return r
		}, judge.CodeKVCache + " " + judge.CodeQueue, []string{"up to 97.4 % in use"}},
		"a cap": {func(t *testing.T) *summary.Result {
			r := rate(resultOf(t, steady.answer(poisson(1000, 50)), 0, broken, nil), 90)
			r.Counts.SkippedArrivals, r.Counts.DeliveredRate = 40, 50
			return r
		}, judge.CodeCap, []string{"40 arrivals found no free slot", "50 of 90 requests/s"}},
		"a cap that arrivals waited for": {func(t *testing.T) *summary.Result {
			r := rate(resultOf(t, loop(8, 100, second), 0, broken, concurrency(8)), 90)
			r.Counts.DeliveredRate = 8
			return r
		}, judge.CodeCap, []string{"of 8 at most", "8 of 90 requests/s"}},
		"a limit of prefills": {func(t *testing.T) *summary.Result {
			list := loop(8, 100, second)
			for i := range list {
				list[i].first = second / 2
			}
			config := concurrency(16)
			phase := config[0].Value.([]any)[0].(artifact.Object)
			config[0].Value = []any{append(phase, artifact.Member{Key: "prefill_concurrency", Value: 4})}
			return resultOf(t, list, 0, broken, config)
		}, judge.CodePrefillLimit, []string{"3.85 of at most 4 requests waited for their first token"}},
		"objectives that most requests miss": {func(t *testing.T) *summary.Result {
			r := resultOf(t, loop(32, 100, second), 0, broken, concurrency(32))
			r.Servers = &servermetrics.Load{Waiting: value(14), WaitingMax: value(16), Running: value(16)}
			r.Metrics = append(r.Metrics, share(0.08))
			return r
		}, judge.CodeObjectives + " " + judge.CodeQueue, []string{"Only 8 % of the requests met"}},
		"objectives that some requests miss": {func(t *testing.T) *summary.Result {
			r := resultOf(t, loop(8, 100, second), 0, broken, concurrency(8))
			r.Servers = &servermetrics.Load{Waiting: value(0.2), Running: value(8)}
			r.Metrics = append(r.Metrics, share(0.8))
			return r
		}, judge.CodeConcurrency, []string{"kept up all the time; 20 % of the requests missed"}},
		"a schedule": {func(t *testing.T) *summary.Result {
			return resultOf(t, steady.answer(poisson(100, 50)), 0, broken, nil)
		}, judge.CodeNotKnown, []string{"Nothing shows that the server could not keep up"}},
	} {
		t.Run(name, func(t *testing.T) {
			judged := c.result(t).Judge()
			lines := judged.Limits()
			var codes []string
			text := ""
			for _, l := range lines {
				codes = append(codes, l.Code)
				text += l.Title + ": " + l.Text + " " + l.Advice + "\n"
				if l.Title == "" || !strings.HasSuffix(l.Text, ".") || strings.HasSuffix(l.Advice, ".") ||
					strings.ContainsRune(l.Text, '\x1b') {
					t.Errorf("%+v", l)
				}
			}
			if got := strings.Join(codes, " "); got != c.codes {
				t.Errorf("%s, want %s:\n%s", got, c.codes, text)
			}
			for _, part := range c.parts {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in\n%s", part, text)
				}
			}
			cause := lines[0].Code
			if cause == judge.CodeObjectives || cause == judge.CodeErrors && len(lines) > 2 {
				cause = lines[1].Code
			}
			if got := judged.Brief(); !strings.Contains(got, brief[cause]) ||
				(got == "") != strings.Contains(text, "Nothing shows") {
				t.Errorf("in brief %q, of %s", got, cause)
			}
		})
	}
}

// share is the metric of the requests that met the objectives.
func share(v float64) metrics.Metric {
	return metrics.Metric{Tag: "good_request_fraction", Stats: metrics.Stats{Avg: v}}
}

// brief is a part of the line of the first cause.
var brief = map[string]string{
	judge.CodeManyErrors: "errors: 60 of 100 requests failed", judge.CodeClient: "this client",
	judge.CodeOverload: "the server: it completed", judge.CodeKVCache: "KV cache: up to 97.4 %",
	judge.CodeQueue: "the server's queue: 14 requests waited at the server on average, 16 at most",
	judge.CodeCap:   "the cap on the concurrency", judge.CodeRate: "all of ",
	judge.CodeConcurrency:  "always in use",
	judge.CodePrefillLimit: "--prefill-concurrency: 3.85 of at most 4 requests",
}

func TestSure(t *testing.T) {
	steady := server{16, func(i int) int64 { return second/5 + int64(i%97)*1e5 }}
	run := func(n int) *summary.Result {
		return resultOf(t, steady.answer(poisson(n, 50)), 0, record.Error{}, nil)
	}
	for name, c := range map[string]struct {
		change func(*summary.Result)
		n      int
		codes  string
		parts  []string
	}{
		"nobody looked": {func(*summary.Result) {}, 1000, judge.CodeNotObserved + " " + judge.CodeIntervals,
			[]string{"1,000 requests: TTFT is within p50 ± ", "p99 ± ", "95 % confidence"}},
		"valid": {func(r *summary.Result) { r.ClientHealth = healthOf("valid", "", "") }, 1000,
			judge.CodeClientShare + " " + judge.CodeIntervals,
			[]string{"Client valid: Its own share is ≤ 0.21 ms of TTFT."}},
		"read from a file": {func(r *summary.Result) {
			text, err := artifact.AppendJSON(nil, healthOf("valid", "", ""))
			if err != nil {
				t.Fatal(err)
			}
			if r.ClientHealth, err = artifact.ParseObject(text); err != nil {
				t.Fatal(err)
			}
		}, 1000, judge.CodeClientShare + " " + judge.CodeIntervals, []string{"≤ 0.21 ms"}},
		"inconclusive": {func(r *summary.Result) {
			r.ClientHealth = healthOf("inconclusive", "steal", "the hypervisor gave 20 % away")
		}, 1000, judge.CodeDoubtful + " " + judge.CodeIntervals,
			[]string{"The hypervisor gave 20 % away. Its own share", "do this"}},
		"few requests": {func(*summary.Result) {}, 100, judge.CodeNotObserved + " " + judge.CodeFewSamples,
			[]string{"p99 needs 368"}},
		"cancelled": {func(r *summary.Result) { r.WasCancelled = true }, 1000,
			judge.CodeInterrupted + " " + judge.CodeNotObserved + " " + judge.CodeIntervals, nil},
		"incomplete": {func(r *summary.Result) { r.Incomplete = "the disk is full" }, 1000,
			judge.CodeInterrupted + " " + judge.CodeNotObserved + " " + judge.CodeIntervals,
			[]string{"the disk is full. The figures cover only"}},
		"the server counted otherwise": {func(r *summary.Result) {
			r.ClientHealth = healthOf("valid", "totals_differ", "the server counted 3 requests more")
		}, 1000, judge.CodeClientShare + " " + judge.CodeIntervals + " " + judge.CodeContradiction, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(c.n)
			c.change(r)
			var codes []string
			text := ""
			for _, l := range reliance(r) {
				codes = append(codes, l.Code)
				text += l.Title + ": " + l.Text + " " + l.Advice + "\n"
			}
			if got := strings.Join(codes, " "); got != c.codes {
				t.Errorf("%s, want %s:\n%s", got, c.codes, text)
			}
			for _, part := range c.parts {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in\n%s", part, text)
				}
			}
		})
	}
}

func reliance(r *summary.Result) []judge.Finding {
	j := r.Judge()
	return slices.DeleteFunc(j.Reliance(), func(f judge.Finding) bool { return f.Code == judge.CodeComplete })
}
