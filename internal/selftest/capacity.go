package selftest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"aiperf/internal/measure/recordfile"
	"aiperf/internal/watch/trust"
)

const (
	// pace is the tokens per second of each stream of the search.
	pace = 50
	// firstTokenMS is their time to first token, as of a server under load.
	firstTokenMS = "100"
	// firstStreams is where the search begins, mostStreams where it ends at the latest.
	firstStreams, mostStreams = 256, 1 << 16
	// fewestStreams is where a search that found nothing gives up.
	fewestStreams = 8
	// openSeconds is how long all streams are open at once.
	openSeconds = 2.0
	// startsPerSecond is the number of streams that begin within a second.
	startsPerSecond = 2500
	// paceKept is the permitted deviation of the server's own pace, itlError that of the pace that the client reports
	// (at the 99th percentile), both relative.
	paceKept, itlError = 0.05, 0.01
	// smallCPU and spareCPU are shares of the client's processors: see search.
	smallCPU, spareCPU = 0.12, 0.6
	unaryConcurrency   = "32"
)

// capacity measures what client and server reach together on this machine.
func (t *tester) capacity() ([]Section, error) {
	s := Section{ID: "capacity", Title: "Capacity",
		Meaning: "what client and server reach together on this machine; with the server on another machine the " +
			"client reaches more"}
	unary, rate, err := t.unary()
	if errors.Is(err, errStopped) {
		return []Section{s}, err
	}
	s.Lines = append(s.Lines, unary)
	if t.options.Quick {
		s.Lines = append(s.Lines, Line{ID: "streams", Title: "concurrent streams", Grade: Skipped,
			Note: "not measured with --quick"})
		return []Section{s}, nil
	}
	streams, found, err := t.streams()
	if errors.Is(err, errStopped) {
		return []Section{s}, err
	}
	s.Lines = append(s.Lines, streams)
	if found > 0 && rate > 0 {
		t.report.Capacity = &trust.Capacity{Machine: t.report.Machine, Measured: time.Now(), Streams: found,
			Pace: pace, UnaryRate: rate}
	}
	return []Section{s}, nil
}

// unary measures the rate of short requests without streaming.
func (t *tester) unary() (Line, float64, error) {
	line := Line{ID: "unary", Title: "short requests, not streamed", Grade: Limited}
	fail := func(err error) (Line, float64, error) {
		line.Note = err.Error()
		return line, 0, err
	}
	s, err := t.startServer("unary", "--fast")
	if err != nil {
		return fail(err)
	}
	defer s.Stop()
	out, err := t.profile("unary", s.URL, "--concurrency", unaryConcurrency, "--isl", "32", "--osl", "1",
		"--num-dataset-entries", "100",
		"--benchmark-duration", pick(t, "2", "0.5"), "--benchmark-grace-period", "2")
	if err != nil {
		return fail(err)
	}
	summary, err := out.summary()
	if err != nil {
		return fail(err)
	}
	rate, _ := summary.stat("request_throughput", "avg")
	line.Grade = graded(rate > 0 && out.Result.Counts.Errors == 0)
	if n := out.Result.Counts.Errors; n > 0 {
		line.Note = fmt.Sprintf("%s requests failed", whole(n))
	}
	line.Cells = []string{whole(int64(rate)) + " requests/s"}
	line.Figures = []Figure{{"requests_per_second", rate}, {"failed", out.Result.Counts.Errors}}
	return line, rate, nil
}

// attempt is the outcome of a number of streams; reason says why they were not measured accurately.
type attempt struct {
	accurate bool
	reason   string
	cpu      float64
}

// streams searches for the highest number of streams that is measured accurately.
func (t *tester) streams() (Line, int, error) {
	line := Line{ID: "streams", Title: fmt.Sprintf("streams of %d tokens/s, measured accurately", pace)}
	r, err := search(firstStreams, mostStreams, func() bool { return time.Since(t.began) > searchUntil }, t.attempt)
	if err != nil {
		line.Grade, line.Note = Limited, err.Error()
		return line, 0, err
	}
	line.Grade = graded(r.best > 0)
	line.Cells = []string{whole(int64(r.best)) + " streams"}
	line.Figures = []Figure{{"streams", int64(r.best)}, {"tokens_per_second_each", int64(pace)},
		{"attempts", int64(r.attempts)}, {"cpu_share", r.cpu}}
	switch {
	case r.failed > 0:
		line.Note = fmt.Sprintf("not with %s: %s", whole(int64(r.failed)), r.reason)
		line.Figures = append(line.Figures, Figure{"not_truthful", int64(r.failed)}, Figure{"reason", r.reason})
	default:
		line.Note = "more were not tried: " + r.reason
		line.Figures = append(line.Figures, Figure{"reason", r.reason})
	}
	return line, r.best, nil
}

// found is the outcome of a search: the best number, the smallest that failed (0 = none), and why it ended there.
type found struct {
	best, failed, attempts int
	reason                 string
	cpu                    float64 // share at the best
}

// search tries numbers: larger ones while they succeed, then ones between the best and the smallest that failed, until
// these are within a tenth of each other or over reports true. The factor is four while the client uses a small share
// of its processors, then two. A failure with processors to spare may be due to the machine and is tried once more.
func search(first, most int, over func() bool, try func(n int) (attempt, error)) (found, error) {
	var f found
	again := 0
	for n := first; ; {
		if over() {
			if f.reason == "" {
				f.reason = "the time limit was reached"
			}
			return f, nil
		}
		a, err := try(n)
		if err != nil {
			return f, err
		}
		f.attempts++
		if !a.accurate && a.cpu < spareCPU && again != n && !over() {
			again = n
			continue
		}
		switch {
		case a.accurate:
			f.best, f.cpu = n, a.cpu
		default:
			f.failed, f.reason = n, a.reason
		}
		switch {
		case f.failed > 0 && f.failed-f.best <= max(1, f.best/10):
			return f, nil
		case f.failed > 0:
			n = f.failed / 4
			if f.best > 0 {
				n = int(math.Sqrt(float64(f.best) * float64(f.failed)))
			}
			if n < fewestStreams {
				return f, nil
			}
		case n >= most:
			f.reason = "that is the largest number of the search"
			return f, nil
		case a.cpu < smallCPU:
			n = min(most, 4*n)
		default:
			n = min(most, 2*n)
		}
	}
}

// attempt opens a number of streams and judges what the client saw of them.
func (t *tester) attempt(n int) (attempt, error) {
	// the server keeps as many streams in memory as the client
	for _, a := range trust.Preflight(trust.Asked{Requests: 2 * n, Connections: n}) {
		if a.Code == "ports" {
			continue // those in use lead elsewhere; this run's server has a port of its own
		}
		reason := a.Message
		if a.Command != "" {
			reason += "; to raise it: " + a.Command
		}
		return attempt{reason: reason}, nil
	}
	ramp := max(0.25, float64(n)/startsPerSecond)
	tokens := int(pace * (openSeconds + ramp))
	out, truth, err := t.exchange(fmt.Sprintf("streams-%d", n),
		[]string{"--ttft", firstTokenMS, "--itl", strconv.Itoa(1000 / pace), "--record-events"},
		[]string{"--streaming", "--concurrency", strconv.Itoa(n), "--request-count", strconv.Itoa(n),
			"--concurrency-ramp-duration", strconv.FormatFloat(ramp, 'f', 3, 64),
			"--isl", "16", "--num-dataset-entries", "100", "--osl", strconv.Itoa(tokens), "--extra-inputs",
			"ignore_eos:true"})
	if errors.Is(err, errStopped) {
		return attempt{}, err
	}
	if err != nil {
		return attempt{reason: err.Error()}, nil
	}
	records, err := out.records()
	if err != nil {
		return attempt{}, err
	}
	summary, err := out.summary()
	if err != nil {
		return attempt{}, err
	}
	h, err := summary.health()
	if err != nil {
		return attempt{}, err
	}
	return judge(&h, records, truth), nil
}

// judge decides whether streams were measured accurately: all of them are complete, the verdict of the run is valid,
// the server kept the pace, and each stream's pace is reported as the server wrote it.
func judge(h *trust.Document, records []*recordfile.Request, truth []serverLine) attempt {
	a := attempt{cpu: orZero(h.CPU.Share)}
	var d differences
	byID := matched(&d, records, truth)
	var paces, errs []float64
	for _, r := range records {
		s := byID[r.RequestID]
		if s == nil || s.Output < 2 || int64(len(s.EventNS)) < s.Output {
			continue
		}
		d.value(r, "output_sequence_length", float64(s.Output))
		mean := float64(s.EventNS[s.Output-1]-s.EventNS[0]) / 1e6 / float64(s.Output-1)
		if itl, ok := value(r, "inter_token_latency"); ok {
			paces, errs = append(paces, mean), append(errs, math.Abs(itl-mean))
		}
	}
	const want = 1000.0 / pace
	switch kept, worst := percentile(slices.Sorted(slices.Values(paces)), 50),
		percentile(slices.Sorted(slices.Values(errs)), 99); {
	case d.count > 0:
		a.reason = d.note()
	case h.Verdict != trust.Valid:
		a.reason = reason(h)
	case len(paces) == 0:
		a.reason = "no stream had two tokens"
	case kept > want*(1+paceKept):
		a.reason = fmt.Sprintf("the mock server, on the same machine, did not keep the pace: %s ms between tokens",
			number(kept))
	case worst > want*itlError:
		a.reason = fmt.Sprintf("the inter token latency of a stream was off by %s ms at p99", number(worst))
	default:
		a.accurate = true
	}
	return a
}
