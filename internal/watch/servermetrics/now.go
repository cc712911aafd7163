package servermetrics

import (
	"slices"
	"strings"

	"aiperf/internal/watch/prom"
)

// Now is what servers say of themselves over the newest stretch of time, without a load of this program; nil is unknown.
type Now struct {
	Live
	// Kind is the name of the server, such as vLLM; "" where its metrics are not known.
	Kind string
	// Remark is what to know of the figures; "" is nothing.
	Remark string
	// RequestRate is finished requests per second.
	RequestRate *float64
	// TTFT, ITL and Latency are those of the requests that the servers finished within the stretch.
	TTFT, ITL, Latency Quantiles
	// FromNS and ToNS are the instants of the scrapes between which rates are taken: the same while there is only one.
	FromNS, ToNS int64
}

// Quantiles are estimates from a histogram, in seconds; nil is unknown.
type Quantiles struct{ P50, P99 *float64 }

// latencyNames are the histograms of latencies as they are called behind the prefix of their server. Servers have one of
// the names, or none.
var latencyNames = [...][]string{
	{"time_to_first_token_seconds", "frontend_time_to_first_token_seconds", "inference_first_response_histogram_ms"},
	{"inter_token_latency_seconds", "time_per_output_token_seconds", "frontend_inter_token_latency_seconds"},
	{"e2e_request_latency_seconds", "frontend_request_duration_seconds"},
}

// Now returns what the newest scrapes say, with rates and latencies over at most the newest stretch of so many
// nanoseconds. There must be no scrape meanwhile.
func (s *Store) Now(stretchNS int64) Now {
	n := Now{Live: s.Live(nil)}
	var window Window
	for _, e := range s.Endpoints() {
		window.EndNS = max(window.EndNS, e.times[len(e.times)-1])
	}
	for _, e := range s.Endpoints() {
		// The scrape before the stretch is the reference: the first one cannot be within.
		window.StartNS = max(window.StartNS, window.EndNS-stretchNS, e.times[0]+1)
	}
	if window.StartNS > window.EndNS { // a single scrape: no rates, but the kind of server
		window.StartNS = window.EndNS
	}
	n.Kind, n.FromNS, n.ToNS = s.kind(), s.lastBefore(window), window.EndNS
	for _, e := range s.Endpoints() {
		if how := e.answeredInTurn(); how != "" {
			n.Remark = how + ": no totals; name the page of each"
		}
	}
	if server := Totals(s, window, nil); server != nil {
		n.Kind = server.Kind
		n.rates(server)
	}
	for i, to := range []*Quantiles{&n.TTFT, &n.ITL, &n.Latency} {
		*to = s.quantiles(latencyNames[i], window)
	}
	return n
}

// lastBefore returns the instant of the last scrape before a window, or its end where there is none.
func (s *Store) lastBefore(window Window) int64 {
	last := int64(0)
	for _, e := range s.Endpoints() {
		for _, ns := range e.times {
			if ns < window.StartNS {
				last = max(last, ns)
			}
		}
	}
	if last == 0 {
		return window.EndNS
	}
	return last
}

// kind names the servers by the prefix of any of their metrics: one that has had no request yet may have no counter.
func (s *Store) kind() string {
	for i := range ledgers {
		for _, e := range s.Endpoints() {
			if slices.ContainsFunc(e.series, func(series *Series) bool { return ledgers[i].owns(series.Family.Name) }) {
				return ledgers[i].kind
			}
		}
	}
	return ""
}

// rates reads the growth of the servers' counters.
func (n *Now) rates(server *ServerTotals) {
	elapsed := seconds(n.ToNS - n.FromNS)
	total := func(q Quantity) *float64 {
		for i := range server.Totals {
			if t := &server.Totals[i]; t.Quantity == q && t.Absent == "" {
				return &t.Value
			}
		}
		return nil
	}
	rate := func(v *float64) *float64 {
		if v == nil || elapsed <= 0 {
			return nil
		}
		per := *v / elapsed
		return &per
	}
	n.RequestRate, n.OutputRate = rate(total(Requests)), rate(total(GeneratedTokens))
	prompt, cached := total(PromptTokens), total(CachedTokens)
	n.InputRate = rate(prompt)
	if prompt != nil && cached != nil && *prompt > 0 {
		hits := min(100, 100**cached / *prompt)
		n.PrefixCacheHit = &hits
	}
}

// quantiles estimates those of the histograms of a name; of several series the slowest counts.
func (s *Store) quantiles(names []string, window Window) (q Quantiles) {
	var w worker
	mixed := s.mixed()
	for _, e := range s.Endpoints() {
		for _, series := range e.series {
			if mixed[e] || series.Family.Type != prom.Histogram || !slices.Contains(names, bareName(series.Family.Name)) {
				continue
			}
			j := job{stats: SeriesStats{Series: series, EndpointURL: e.url, Labels: series.Labels, window: window}}
			w.do(&j)
			h := j.stats.Histogram
			if h == nil || h.Count == 0 || h.Estimates == nil {
				continue
			}
			scale := 1.0
			if strings.HasSuffix(series.Family.Name, "_ms") {
				scale = 1e-3
			}
			p50, p99 := scale*h.Estimates.At(50), scale*h.Estimates.At(99)
			// A bucket that begins at 0 may hold all there is: nothing better is known of its values.
			if p50 > 0 && (q.P99 == nil || p99 > *q.P99) {
				q = Quantiles{&p50, &p99}
			}
		}
	}
	return q
}

// bareName returns a name without the prefix of the server's kind.
func bareName(name string) string {
	for i := range ledgers {
		if bare, ours := ledgers[i].bare(name); ours {
			return bare
		}
	}
	return ""
}

// bare returns a name without the prefix of the kind, if it has one.
func (l *ledger) bare(name string) (string, bool) {
	for _, prefix := range l.prefixes {
		// A ledger may be about a part of the names of its kind.
		kind, _, _ := strings.Cut(prefix, "frontend_")
		if bare, ours := strings.CutPrefix(name, kind); ours {
			return bare, true
		}
	}
	return "", false
}

// owns reports whether a metric is one of the kind.
func (l *ledger) owns(name string) bool {
	_, ours := l.bare(name)
	return ours
}
