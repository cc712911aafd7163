package plot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// serverName is the name of a server metric with the endpoint and the labels that its series must have, as in
// vllm:num_requests_running[10.0.0.1:8000]{engine="0"}.
type serverName struct {
	metric, endpoint string
	labels           map[string]string
}

func parseServerName(text string) serverName {
	var n serverName
	if at := strings.IndexByte(text, '{'); at >= 0 && strings.HasSuffix(text, "}") {
		n.labels = map[string]string{}
		for _, pair := range strings.Split(text[at+1:len(text)-1], ",") {
			if key, value, ok := strings.Cut(pair, "="); ok {
				n.labels[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
		text = text[:at]
	}
	if at := strings.IndexByte(text, '['); at >= 0 && strings.HasSuffix(text, "]") {
		n.endpoint, text = text[at+1:len(text)-1], text[:at]
	}
	n.metric = text
	return n
}

// named reports whether a metric of a file has the name: files name counters without _total, as the page's type line
// does.
func (n *serverName) named(metric string) bool {
	return metric == n.metric || metric == strings.TrimSuffix(n.metric, "_total")
}

func (n *serverName) matches(endpoint string, label func(string) string) bool {
	if n.endpoint != "" && !strings.Contains(endpoint, n.endpoint) {
		return false
	}
	for key, value := range n.labels {
		if label(key) != value {
			return false
		}
	}
	return true
}

// serverFigures are the statistics of the servers' metrics, as their file has them.
type serverFigures struct {
	Metrics map[string]struct {
		Type, Unit string
		Series     []serverSeries
	}
}

type serverSeries struct {
	Endpoint   string `json:"endpoint_url"`
	Labels     map[string]string
	Stats      map[string]float64
	Timeslices []serverSlice
}

type serverSlice struct {
	StartNS       int64 `json:"start_ns"`
	EndNS         int64 `json:"end_ns"`
	Complete      *bool `json:"is_complete"`
	Rate, Avg     *float64
	Min, Max, Sum *float64
	Count         int64
	Buckets       map[string]int64
}

// readServers reads the statistics of the servers' metrics of a run; nil if it has none.
func readServers(files config.Artifacts) (*serverFigures, error) {
	path := files.Path(config.ServerMetricsJSON)
	data, err := bounded.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := &serverFigures{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// find returns the series with a name, and the type and unit of their metric.
func (s *serverFigures) find(n serverName) (series []serverSeries, kind, unit string) {
	if s == nil {
		return nil, "", ""
	}
	for name, m := range s.Metrics {
		if !n.named(name) {
			continue
		}
		kind, unit = m.Type, m.Unit
		for _, of := range m.Series {
			if n.matches(of.Endpoint, func(key string) string { return of.Labels[key] }) {
				series = append(series, of)
			}
		}
	}
	return series, kind, unit
}

// serverFigure returns the statistic of a server metric, the mean over its series: of a counter its rate, of a gauge
// its average, of a histogram its median, unless a statistic is asked for.
func (r *Run) serverFigure(a Axis) (float64, bool) {
	if r.servers == nil {
		r.servers = &serverFigures{}
		if r.folder.Files.Dir != "" {
			if read, err := readServers(r.folder.Files); err == nil && read != nil {
				r.servers = read
			}
		}
	}
	found, kind, unit := r.servers.find(parseServerName(a.Metric))
	sum, n := 0.0, 0
	for _, s := range found {
		if v, ok := s.figure(kind, a.Stat); ok {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return 0, false
	}
	if unit != "" && kind == "counter" {
		unit += "/s"
	}
	r.units[a.Metric] = unit
	return sum / float64(n), true
}

func (s *serverSeries) figure(kind, stat string) (float64, bool) {
	var keys []string
	switch kind {
	case "counter":
		keys = []string{"rate_" + cmp.Or(stat, "avg"), "rate"}
		if stat == "" || stat == standardStat {
			keys = []string{"rate"}
		}
	case "histogram":
		stat = cmp.Or(stat, "p50")
		keys = []string{stat + "_estimate", stat}
	default:
		keys = []string{cmp.Or(stat, standardStat)}
	}
	for _, key := range keys {
		if v, ok := s.Stats[key]; ok {
			return v, true
		}
	}
	return 0, false
}

// readServerCurves reads the server metrics of a run over time: the samples, else the means of the time slices.
func readServerCurves(files config.Artifacts) ([]timeline.Curve, error) {
	curves, err := export.ReadCurves(files.Path(config.ServerMetricsParquet))
	if !errors.Is(err, fs.ErrNotExist) {
		return curves, err
	}
	figures, err := readServers(files)
	if err != nil || figures == nil {
		return nil, err
	}
	for name, m := range figures.Metrics {
		for _, s := range m.Series {
			c := timeline.Curve{Source: s.Endpoint, Name: name, Unit: m.Unit, Labels: labelText(s.Labels)}
			if m.Type == "counter" {
				c.What, c.Unit = timeline.Rate, m.Unit+"/s"
			}
			for _, slice := range s.Timeslices {
				v := slice.Avg
				if m.Type == "counter" {
					v = slice.Rate
				}
				if v != nil {
					c.TimeNS, c.Values = append(c.TimeNS, (slice.StartNS+slice.EndNS)/2), append(c.Values, *v)
				}
			}
			if len(c.TimeNS) > 0 {
				curves = append(curves, c)
			}
		}
	}
	slices.SortFunc(curves, func(a, b timeline.Curve) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Labels, b.Labels))
	})
	return curves, nil
}

func labelText(labels map[string]string) string {
	var parts []string
	for _, key := range sortedKeys(labels) {
		parts = append(parts, key+"="+strconv.Quote(labels[key]))
	}
	return strings.Join(parts, ",")
}

// labelOf returns the value of a label within the text of a curve's labels.
func labelOf(text, key string) string {
	for rest := text; rest != ""; {
		name, after, ok := strings.Cut(rest, `="`)
		if !ok {
			return ""
		}
		end := strings.IndexByte(after, '"')
		if end < 0 {
			return ""
		}
		if strings.TrimLeft(name, ", ") == key {
			return after[:end]
		}
		rest = after[end+1:]
	}
	return ""
}

// curvesNamed returns the curves of a metric.
func curvesNamed(curves []timeline.Curve, name string) []timeline.Curve {
	n := parseServerName(name)
	var out []timeline.Curve
	for _, c := range curves {
		if n.named(c.Name) && n.matches(c.Source, func(key string) string { return labelOf(c.Labels, key) }) {
			out = append(out, c)
		}
	}
	return out
}

// downsample joins the samples of a curve to one for each window, at the first of its instants. Windows count from the
// first sample.
func (d *Downsampling) downsample(c timeline.Curve) timeline.Curve {
	if !d.Enabled || len(c.TimeNS) == 0 {
		return c
	}
	out := c
	out.TimeNS, out.Values = nil, nil
	var values []float64
	end := func() {
		if len(values) > 0 {
			out.Values[len(out.Values)-1] = d.join(values)
		}
		values = values[:0]
	}
	window := int64(-1)
	for i, ns := range c.TimeNS {
		if w := (ns - c.TimeNS[0]) / d.WindowNS; w != window {
			end()
			window = w
			out.TimeNS, out.Values = append(out.TimeNS, ns), append(out.Values, math.NaN())
		}
		if !math.IsNaN(c.Values[i]) {
			values = append(values, c.Values[i])
		}
	}
	end()
	return out
}

// join makes one value of several.
func (d *Downsampling) join(values []float64) float64 {
	switch d.Method {
	case "max":
		return slices.Max(values)
	case "min":
		return slices.Min(values)
	case "median":
		return percentile(slices.Sorted(slices.Values(values)), 50)
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// percentile returns a percentile of sorted values, interpolated linearly between neighbours.
func percentile(sorted []float64, rank float64) float64 {
	at := rank / 100 * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// bandSlice is what percentile bands show of a time slice.
type bandSlice struct {
	ns                int64
	low, middle, high float64
}

// bands returns the slices of a server metric: of a histogram p50, p95 and p99, of a gauge minimum, average and
// maximum.
func (s *serverFigures) bands(name string) (out []bandSlice, kind, unit string) {
	found, kind, unit := s.find(parseServerName(name))
	if len(found) == 0 {
		return nil, kind, unit
	}
	var e servermetrics.Estimator
	for i := range found[0].Timeslices {
		var parts []serverSlice
		for _, series := range found {
			if i < len(series.Timeslices) {
				parts = append(parts, series.Timeslices[i])
			}
		}
		b := bandSlice{ns: (parts[0].StartNS + parts[0].EndNS) / 2}
		ok := false
		if kind == "histogram" {
			b.low, b.middle, b.high, ok = estimate(&e, parts)
		} else {
			b.low, b.middle, b.high, ok = spread(parts)
		}
		if ok {
			out = append(out, b)
		}
	}
	return out, kind, unit
}

// spread returns minimum, average and maximum over the series of a gauge or of a counter's rate.
func spread(parts []serverSlice) (low, mean, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	n := 0.0
	for _, p := range parts {
		v := p.Avg
		if v == nil {
			v = p.Rate
		}
		if v == nil {
			continue
		}
		mean, n = mean+*v, n+1
		low, high = min(low, *orElse(p.Min, v)), max(high, *orElse(p.Max, v))
	}
	return low, mean / n, high, n > 0
}

func orElse(v, other *float64) *float64 {
	if v == nil {
		return other
	}
	return v
}

// estimate returns percentiles of all series of a histogram together.
func estimate(e *servermetrics.Estimator, parts []serverSlice) (p50, p95, p99 float64, ok bool) {
	var d servermetrics.Distribution
	counts := map[float64]int64{}
	for _, p := range parts {
		d.Count += p.Count
		if p.Sum != nil {
			d.Sum += *p.Sum
		}
		for bound, count := range p.Buckets {
			upper, err := strconv.ParseFloat(strings.Replace(bound, "+Inf", "Inf", 1), 64)
			if err == nil {
				counts[upper] += count
			}
		}
	}
	for upper := range counts {
		d.Upper = append(d.Upper, upper)
	}
	slices.Sort(d.Upper)
	for _, upper := range d.Upper {
		d.Buckets = append(d.Buckets, counts[upper])
	}
	if !slices.IsSorted(d.Buckets) {
		return 0, 0, 0, false
	}
	at, ok := e.Estimate(d)
	return at.At(50), at.At(95), at.At(99), ok
}
