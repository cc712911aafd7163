package foreign

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
)

// Run is a run that another tool measured. What its file does not say is the zero value.
type Run struct {
	// Path is that of its file, with the number of the part if the file has several.
	Path string
	// Tool and Version are its origin.
	Tool, Version string
	// Label is the name that the user gave the run.
	Label string
	// Models are the names of the models, URL the address of the server, Endpoint the type of the API by our name.
	Models        []string
	URL, Endpoint string
	Streaming     bool
	// Concurrency is the limit of requests under way, Rate that of requests per second; 0 for none.
	Concurrency, Rate float64
	// Arrivals is how requests are spread at a rate: poisson, constant or gamma; "" if it is not known.
	Arrivals string
	// ISL and OSL are the lengths that were asked for; 0 if they are not known.
	ISL, OSL float64
	// Start and End are when requests were sent.
	Start, End time.Time
	// Incomplete is why the run did not end as it should.
	Incomplete string
	// Cancelled is the number of requests that the end of the run cut off.
	Cancelled int64

	blocks []block
}

// block has the statistics of a metric, in its display unit.
type block struct {
	tag   string
	stats []artifact.Member
}

// Origin returns the tool with its version.
func (r *Run) Origin() string {
	if r.Version == "" {
		return r.Tool
	}
	return r.Tool + " " + r.Version
}

// set sets a statistic of a metric. A value that is not finite is absent.
func (r *Run) set(tag, stat string, v float64, ok bool) {
	if !ok || !artifact.Finite(v) {
		return
	}
	at := slices.IndexFunc(r.blocks, func(b block) bool { return b.tag == tag })
	if at < 0 {
		at, r.blocks = len(r.blocks), append(r.blocks, block{tag: tag})
	}
	b := &r.blocks[at]
	if !slices.ContainsFunc(b.stats, func(m artifact.Member) bool { return m.Key == stat }) {
		b.stats = append(b.stats, artifact.Member{Key: stat, Value: v})
	}
}

// single sets the only value of a metric.
func (r *Run) single(tag string, v float64, ok bool) { r.set(tag, "avg", v, ok) }

// count sets a number of requests or tokens.
func (r *Run) count(tag string, v float64, ok bool) { r.single(tag, v, ok && v >= 0) }

// distribution sets the statistics of values, each times a factor, that are not set yet. It does what our own summaries
// do: percentiles by linear interpolation, the population's standard deviation.
func (r *Run) distribution(tag string, values []float64, factor float64) {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !artifact.Finite(v) })
	if len(values) == 0 {
		return
	}
	slices.Sort(values)
	n := float64(len(values))
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / n
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	r.set(tag, "avg", factor*mean, true)
	for _, rank := range metrics.PercentileRanks {
		at := rank / 100 * (n - 1)
		low := int(at)
		high := min(low+1, len(values)-1)
		r.set(tag, metrics.RankKey(rank), factor*(values[low]+(at-float64(low))*(values[high]-values[low])), true)
	}
	r.set(tag, "min", factor*values[0], true)
	r.set(tag, "max", factor*values[len(values)-1], true)
	r.set(tag, "std", factor*math.Sqrt(squares/n), true)
	r.set(tag, "count", n, true)
}

// errorRate sets the share of failed requests where both counts are known.
func (r *Run) errorRate() {
	good, okGood := r.figure("request_count", "avg")
	bad, okBad := r.figure("error_request_count", "avg")
	r.single("request_error_rate", 100*bad/(good+bad), okGood && okBad && good+bad > 0)
}

// figure returns a statistic that is set.
func (r *Run) figure(tag, stat string) (float64, bool) {
	for _, b := range r.blocks {
		if b.tag != tag {
			continue
		}
		for _, m := range b.stats {
			if m.Key == stat {
				return m.Value.(float64), true
			}
		}
	}
	return 0, false
}

// unitOf returns the unit of a metric.
func unitOf(tag string) string {
	d, _ := metrics.Lookup(tag)
	return string(d.Display)
}

// statOrder is the order of the statistics in a block.
var statOrder = []string{"avg", "p", "min", "max", "std", "count", "sum"}

// Document returns the run as a summary document.
func (r *Run) Document() artifact.Object {
	doc := artifact.Object{{Key: "origin", Value: artifact.Object{{Key: "tool", Value: r.Tool},
		{Key: "version", Value: r.Version}}}}
	place := map[string]int{}
	for i, d := range metrics.Table() {
		place[d.Tag] = i
	}
	blocks := slices.Clone(r.blocks)
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(place[a.tag], place[b.tag]) })
	for _, b := range blocks {
		of := artifact.Object{{Key: "unit", Value: unitOf(b.tag)}}
		stats := slices.Clone(b.stats)
		slices.SortStableFunc(stats, func(x, y artifact.Member) int { return compareStats(x.Key, y.Key) })
		doc = append(doc, artifact.Member{Key: b.tag, Value: append(of, stats...)})
	}
	doc = append(doc, artifact.Member{Key: "input_config", Value: r.config()})
	if r.Label != "" || r.Cancelled > 0 {
		info := artifact.Object{}
		if r.Label != "" {
			info = append(info, artifact.Member{Key: "run_label", Value: r.Label})
		}
		if r.Cancelled > 0 {
			info = append(info, artifact.Member{Key: "requests_cancelled", Value: r.Cancelled})
		}
		doc = append(doc, artifact.Member{Key: "run_info", Value: info})
	}
	if r.Incomplete != "" {
		doc = append(doc, artifact.Member{Key: "is_complete", Value: false},
			artifact.Member{Key: "incomplete_reason", Value: r.Incomplete})
	}
	for _, at := range [...]struct {
		key  string
		time time.Time
	}{{"start_time", r.Start}, {"end_time", r.End}} {
		if !at.time.IsZero() {
			doc = append(doc, artifact.Member{Key: at.key, Value: at.time.UTC().Format(time.RFC3339Nano)})
		}
	}
	return doc
}

func compareStats(a, b string) int {
	of := func(s string) (int, float64) {
		if rank, err := strconv.ParseFloat(s[1:], 64); s[0] == 'p' && err == nil {
			return slices.Index(statOrder, "p"), rank
		}
		return slices.Index(statOrder, s), 0
	}
	x, p := of(a)
	y, q := of(b)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(p, q))
}

// config returns what the file says of the load, by the keys of our configuration.
func (r *Run) config() artifact.Object {
	var o artifact.Object
	if len(r.Models) > 0 {
		var items []any
		for _, name := range r.Models {
			items = append(items, artifact.Object{{Key: "name", Value: name}})
		}
		o = append(o, artifact.Member{Key: "models", Value: artifact.Object{{Key: "items", Value: items}}})
	}
	endpoint := artifact.Object{}
	if r.URL != "" {
		endpoint = append(endpoint, artifact.Member{Key: "urls", Value: []string{artifact.RedactURLs(r.URL)}})
	}
	if r.Endpoint != "" {
		endpoint = append(endpoint, artifact.Member{Key: "type", Value: r.Endpoint})
	}
	if r.Streaming {
		endpoint = append(endpoint, artifact.Member{Key: "streaming", Value: true})
	}
	if len(endpoint) > 0 {
		o = append(o, artifact.Member{Key: "endpoint", Value: endpoint})
	}
	prompts := artifact.Object{}
	if r.ISL > 0 {
		prompts = append(prompts, artifact.Member{Key: "isl", Value: artifact.Object{{Key: "mean", Value: r.ISL}}})
	}
	if r.OSL > 0 {
		prompts = append(prompts, artifact.Member{Key: "osl", Value: artifact.Object{{Key: "mean", Value: r.OSL}}})
	}
	if len(prompts) > 0 {
		o = append(o, artifact.Member{Key: "datasets", Value: []any{artifact.Object{{Key: "prompts", Value: prompts}}}})
	}
	phase := artifact.Object{{Key: "name", Value: "profiling"}, {Key: "kind", Value: "profiling"}}
	switch {
	case r.Arrivals != "":
		phase = append(phase, artifact.Member{Key: "type", Value: r.Arrivals})
	case r.Rate == 0 && r.Concurrency > 0:
		phase = append(phase, artifact.Member{Key: "type", Value: "concurrency"})
	}
	if r.Concurrency > 0 {
		phase = append(phase, artifact.Member{Key: "concurrency", Value: r.Concurrency})
	}
	if r.Rate > 0 {
		phase = append(phase, artifact.Member{Key: "rate", Value: r.Rate})
	}
	return append(o, artifact.Member{Key: "phases", Value: []any{phase}})
}

// noneMeasured leaves a distribution out whose statistics are all zero: tools write zeros where there were no values.
func (r *Run) noneMeasured(tag string) {
	at := slices.IndexFunc(r.blocks, func(b block) bool { return b.tag == tag })
	if at >= 0 && !slices.ContainsFunc(r.blocks[at].stats, func(m artifact.Member) bool { return m.Value != 0.0 }) {
		r.blocks = slices.Delete(r.blocks, at, at+1)
	}
}
