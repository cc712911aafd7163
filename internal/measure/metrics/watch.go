package metrics

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/measure/record"
)

// phaseWatch observes the records of a phase for what the metrics do not show: the span of all requests, whether
// servers report usage, and facts that contradict each other.
type phaseWatch struct {
	successes, errors, skipped int64
	// The spans of successful requests up to their last content, of failed ones, and of all up to
	// their last response of any kind.
	valid, failed, all span
	// withoutOutput counts successful streaming requests without output tokens.
	withoutOutput int64
	usage, cache  bool
	contradictory [len(contradictions)]contradicted
	recoded       Recoded
}

// Recoded counts the requests whose reply has the length that was asked for by the server's count but another one by
// the client's: its text does not encode to the tokens that were generated.
type Recoded struct {
	Requests int64
	// Generated and Encoded are the tokens of these requests by the server's and by the client's count.
	Generated, Encoded int64
}

func (r *Recoded) add(s *Set, f *record.Facts) {
	if s.cfg.UseServerTokens || !s.cfg.ProducesTokens {
		return
	}
	if _, ok := lengthMismatch(f); !ok || !s.mismatched(f) || f[record.UsageCompletion] != f[record.RequestedTokens] {
		return
	}
	encoded, _ := outputLength(f)
	r.merge(Recoded{1, f[record.UsageCompletion], encoded})
}

func (r *Recoded) merge(o Recoded) {
	r.Requests += o.Requests
	r.Generated += o.Generated
	r.Encoded += o.Encoded
}

// span is a stretch of time; the zero value is empty.
type span struct{ start, end int64 }

func (s *span) include(start, end int64) {
	if s.start == 0 || start < s.start {
		s.start = start
	}
	s.end = max(s.end, end)
}

func (s *span) merge(o span) {
	if o.start != 0 {
		s.include(o.start, o.end)
	}
}

func (s span) length() int64 { return s.end - s.start }

// contradiction is a pair of facts that cannot both be true; the metric named has no value then.
type contradiction struct {
	metric string
	seen   func(*record.Record) bool
}

// contradicted counts the requests with a contradiction; the first is named.
type contradicted struct {
	count int64
	first string
}

var contradictions = [...]contradiction{
	{"time_to_first_token", negative(record.FirstContent)},
	{"request_latency", negative(record.LastContent)},
	{"time_to_second_token", reversed(record.FirstContent, record.SecondContent)},
	{"decode_duration", reversed(record.FirstContent, record.LastContent)},
	{"full_decode_duration", reversed(record.FirstContent, record.End)},
	{"inter_chunk_latency", func(r *record.Record) bool { return len(r.GapsNS) > 0 && slices.Min(r.GapsNS) < 0 }},
	{"the HTTP trace metrics", negative(append(slices.Clone(allPhases), record.TraceDuration)...)},
}

func negative(fields ...record.Field) func(*record.Record) bool {
	return func(r *record.Record) bool {
		for _, i := range fields {
			if v := r.Facts[i]; v < 0 && v != record.Absent {
				return true
			}
		}
		return false
	}
}

func reversed(from, to record.Field) func(*record.Record) bool {
	return func(r *record.Record) bool {
		return r.Facts[to] < r.Facts[from] && r.Facts[to] != record.Absent && r.Facts[from] != record.Absent
	}
}

var (
	usageFields = []record.Field{record.UsagePrompt, record.UsageCompletion, record.UsageTotal, record.UsageReasoning,
		record.UsageCacheRead, record.UsageCacheWrite, record.UsageCacheMiss, record.UsagePromptAudio,
		record.UsageCompletionAudio, record.UsageAcceptedPrediction, record.UsageRejectedPrediction,
		record.UsageToolUsePrompt, record.UsagePromptAudioSeconds}
	cacheFields = []record.Field{record.UsageCacheRead, record.UsageCacheWrite, record.UsageCacheMiss}
)

// add takes a request; skipped is what [Set.Skips] says of it.
func (w *phaseWatch) add(s *Set, r *record.Record, skipped bool) {
	if start, ok := r.Get(record.StartWall); ok {
		end := start + lastInstant(&r.Facts)
		w.all.include(start, end)
		if r.IsError() && !skipped {
			w.failed.include(start, end)
		} else if latency, ok := requestLatency(&r.Facts); ok && !skipped {
			w.valid.include(start, start+latency)
		}
	}
	if skipped {
		w.skipped++
		return
	}
	w.usage = w.usage || anyPresent(&r.Facts, usageFields)
	w.cache = w.cache || anyPresent(&r.Facts, cacheFields)
	if r.IsError() {
		w.errors++
		return
	}
	w.successes++
	w.recoded.add(s, &r.Facts)
	if n, ok := outputLength(&r.Facts); (!ok || n == 0) && s.cfg.Streaming && s.cfg.ProducesTokens {
		w.withoutOutput++
	}
	for i := range contradictions {
		if contradictions[i].seen(r) {
			w.contradictory[i].add(1, r.RequestID)
		}
	}
}

func (c *contradicted) add(n int64, first string) {
	if c.count == 0 {
		c.first = first
	}
	c.count += n
}

// lastInstant returns when a request ended for its user, relative to its start: the last response of any
// kind, or when it failed.
func lastInstant(f *record.Facts) int64 {
	if f.IsError() {
		return max(0, f[record.LastResponse], f[record.End], f[record.Cancelled])
	}
	return max(0, f[record.LastResponse], f[record.LastContent])
}

func anyPresent(f *record.Facts, fields []record.Field) bool {
	return slices.ContainsFunc(fields, func(i record.Field) bool { return f[i] != record.Absent })
}

func (w *phaseWatch) merge(o *phaseWatch) {
	w.successes += o.successes
	w.errors += o.errors
	w.skipped += o.skipped
	w.valid.merge(o.valid)
	w.failed.merge(o.failed)
	w.all.merge(o.all)
	w.withoutOutput += o.withoutOutput
	w.recoded.merge(o.recoded)
	w.usage = w.usage || o.usage
	w.cache = w.cache || o.cache
	for i := range o.contradictory {
		if c := o.contradictory[i]; c.count > 0 {
			w.contradictory[i].add(c.count, c.first)
		}
	}
}

func (w *phaseWatch) snapshot() Snapshot {
	return Snapshot{
		Successes: w.successes, Errors: w.errors, Skipped: w.skipped,
		StartNS: w.all.start, EndNS: w.all.end,
		UsageReported: w.usage, CacheReported: w.cache, Recoded: w.recoded,
	}
}

// Shares beyond which a run is worth a warning.
const (
	stretchedByErrors  = 1.05
	withoutOutputShare = 0.10
)

// Warnings returns what in the phase makes its results doubtful, one sentence each.
func (e *Engine) Warnings() []string {
	f := e.freeze()
	w := &f.watch
	var out []string
	for i, c := range w.contradictory {
		if c.count > 0 {
			out = append(out, fmt.Sprintf("%d of %d requests have time stamps that contradict each other, so %s has "+
				"no value for them (first: %s)",
				c.count, w.successes, contradictions[i].metric, c.first))
		}
	}
	if w.successes > 0 && !e.set.hasDuration(f) {
		out = append(out, "the benchmark took no measurable time, so it has no duration and no rates")
	}
	both := w.valid
	both.merge(w.failed)
	if valid, all := w.valid.length(), both.length(); valid > 0 && float64(all) > stretchedByErrors*float64(valid) {
		out = append(out, fmt.Sprintf("failed requests stretch the run from %.2f s to %.2f s, but durations and "+
			"rates are those of successful requests only: throughput looks better than it was",
			float64(valid)*nsToSeconds, float64(all)*nsToSeconds))
	}
	if float64(w.withoutOutput) > withoutOutputShare*float64(w.successes) {
		out = append(out, fmt.Sprintf("%d of %d successful streaming requests have no output tokens; check the "+
			"tokenizer and the endpoint type",
			w.withoutOutput, w.successes))
	}
	if f.outside > 0 {
		out = append(out, fmt.Sprintf("%d requests started after the first %d time slices of %v s and are in no "+
			"slice; choose a longer --slice-duration",
			f.outside, e.set.cfg.MaxSlices, float64(e.set.cfg.SliceNS)*nsToSeconds))
	}
	return append(out, e.doubts(f)...)
}

// doubts returns the warnings that need results.
func (e *Engine) doubts(f *frozen) []string {
	var out []string
	if rtt := f.facts.NetworkRTT; rtt != nil {
		var cut []string
		for _, m := range e.set.metrics {
			if m.Kind != KindAdjusted || !strings.HasPrefix(m.Tag, networkPrefix) {
				continue
			}
			of := m.Requires[0]
			least := e.set.distributions(f, map[string]bool{of: true}, 1, false)[of]
			if least.Count > 0 && least.Min < float64(*rtt) {
				cut = append(cut, fmt.Sprintf("%s (smallest %s: %.3f ms)", m.Tag, of, least.Min*nsToMilliseconds))
			}
		}
		if len(cut) > 0 {
			out = append(out, fmt.Sprintf("values below the network round trip of %.3f ms are cut off at 0 in %s; "+
				"the calibration may be wrong",
				float64(*rtt)*nsToMilliseconds, strings.Join(cut, ", ")))
		}
	}
	if e.set.cfg.FixedSchedule {
		if lag := f.replayLag(); lag.present && lag.lagsMS[len(replayRanks)-1] > replayDegradedMS {
			out = append(out, fmt.Sprintf("the replay fell behind its schedule: 1 %% of the requests were sent more "+
				"than %.0f ms late (p99; more than %d ms is degraded), so the load was not that of the recording",
				lag.lagsMS[len(replayRanks)-1], replayDegradedMS))
		}
	}
	return out
}

// hasDuration reports whether benchmark_duration has a value.
func (s *Set) hasDuration(f *frozen) bool {
	_, ok := s.evaluate(f.aggregates, nil, scope{}).get("benchmark_duration")
	return ok
}
