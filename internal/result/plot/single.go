package plot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/chart"
	"aiperf/internal/watch/gpu"
)

// single are the data of a single run. What plots do not need is not read; what cannot be read is a warning, and the
// plots that need it are skipped.
type single struct {
	run      *Run
	files    config.Artifacts
	requests *requests
	slices   *sliceTable
	gpus     *gpu.Store
	curves   []timeline.Curve
	servers  *serverFigures
	// faults are the files that could not be read, by source.
	faults map[string]error
}

// derived are the metrics that the throughput over time is computed from.
var derived = []string{"output_sequence_length", "time_to_first_token"}

// openSingle reads what the plots need of a run.
func openSingle(r *Run, presets []Preset, c *Config, warn func(string)) (*single, error) {
	s := &single{run: r, files: r.folder.Files, faults: map[string]error{}}
	wanted := map[string]bool{}
	need := map[string]bool{}
	for _, p := range presets {
		for _, a := range [...]Axis{p.X, p.Y, p.Y2} {
			switch source := sourceOf(a); {
			case a.Metric == "":
			case source == FromRequests && !slices.Contains(requestColumns, a.Metric):
				wanted[a.Metric] = true
				need[source] = true
			default:
				need[source] = true
			}
		}
		need[FromSlices] = need[FromSlices] || p.Kind == Timeslice && sourceOf(p.Y) == FromSlices
	}
	if need[FromSlices] {
		need[FromRequests] = true
		wanted["input_sequence_length"], wanted["output_sequence_length"] = true, true
	}
	keep := func(source string, err error) {
		if err != nil {
			s.faults[source] = err
			if !errors.Is(err, fs.ErrNotExist) {
				warn(err.Error())
			}
		}
	}
	var err error
	for _, tag := range derived {
		wanted[tag] = true
	}
	if r.folder.HasRecords {
		s.requests, err = readRequests(s.files.Path(config.RecordsJSONL), sortedKeys(wanted))
		keep(FromRequests, err)
	}
	if need[FromSlices] {
		s.slices, err = readSlices(s.files)
		keep(FromSlices, err)
	}
	if need[FromGPUs] {
		s.gpus, err = gpu.ReadStore(s.files.Path(config.GPUTelemetryJSONL))
		keep(FromGPUs, err)
	}
	if need[FromServers] {
		s.curves, err = readServerCurves(s.files)
		keep(FromServers, err)
		if s.servers, err = readServers(s.files); err != nil {
			keep(FromServersAggregated, err)
		}
	}
	return s, nil
}

// sourceOf returns where the values of an axis come from.
func sourceOf(a Axis) string {
	switch _, isGPU := gpuField(a.Metric); {
	case a.Source == FromServersAggregated:
		return FromServers
	case a.Source != "" && a.Source != FromAggregated:
		return a.Source
	case isGPU:
		return FromGPUs
	case slices.Contains(requestColumns, a.Metric):
		return FromRequests
	case a.Metric == sliceColumn:
		return FromSlices
	case known(a.Metric, false) && !serverLike(a.Metric):
		return FromRequests
	case serverLike(a.Metric):
		return FromServers
	}
	return FromRequests
}

// line is a curve of a figure.
type line struct {
	name, unit string
	x, y       []float64
}

// lacking returns the reason why a source has nothing.
func (s *single) lacking(source, metric string) error {
	file := map[string]config.Artifact{FromRequests: config.RecordsJSONL, FromSlices: config.TimeslicesJSON,
		FromGPUs: config.GPUTelemetryJSONL, FromServers: config.ServerMetricsParquet}[source]
	how := map[string]string{FromSlices: " (--slice-duration makes it)",
		FromGPUs: ": the run collected no GPU telemetry", FromServers: ": the run collected no server metrics"}[source]
	if err := s.faults[source]; err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", metric, err)
	} else if err != nil {
		return &skipError{fmt.Sprintf("there is no %s%s", s.files.Name(file), how)}
	}
	if streamed := metric == "time_to_first_token" || metric == "inter_token_latency"; streamed && s.requests != nil &&
		len(s.requests.startNS) > 0 {
		return &skipError{"no request has " + metric + ": the replies were not streamed"}
	}
	if source == FromRequests {
		return &skipError{"no request has " + metric}
	}
	return &skipError{fmt.Sprintf("%s has no %s", s.files.Name(file), metric)}
}

// requestAxis returns a column of the requests; NaN where a request lacks it.
func (s *single) requestAxis(a Axis) ([]float64, error) {
	r := s.requests
	if r == nil || len(r.startNS) == 0 {
		return nil, s.lacking(FromRequests, cmp.Or(a.Metric, "requests"))
	}
	out := make([]float64, len(r.startNS))
	switch a.Metric {
	case "request_number":
		for i := range out {
			out[i] = float64(r.number[i])
		}
	case "timestamp", "timestamp_s": // as in the original, a request stands where it was completed
		for i, ns := range r.endNS {
			out[i] = r.seconds(ns)
		}
	case "request_start_ns":
		for i, ns := range r.startNS {
			out[i] = r.seconds(ns)
		}
	default:
		column := r.metrics[a.Metric]
		if !slices.ContainsFunc(column, isNumber) {
			return nil, s.lacking(FromRequests, a.Metric)
		}
		copy(out, column)
	}
	return out, nil
}

func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// isFlow reports whether an axis shows the throughput over time.
func isFlow(a Axis) bool {
	return a.Metric == "throughput_tokens_per_sec" || a.Metric == "active_requests"
}

// flowLine returns the throughput or the number of active requests over time.
func (s *single) flowLine(a Axis) (line, error) {
	if s.requests == nil {
		return line{}, s.lacking(FromRequests, a.Metric)
	}
	f := s.requests.flow()
	if len(f.seconds) == 0 {
		return line{}, s.lacking(FromRequests, "output_sequence_length")
	}
	l := line{name: title(a.Metric), unit: "tokens/sec", x: f.seconds, y: f.rate}
	if a.Metric == "active_requests" {
		l.unit, l.y = "", make([]float64, len(f.active))
		for i, n := range f.active {
			l.y[i] = float64(n)
		}
	}
	return l, nil
}

// originNS is the instant from which times of curves count: that of the throughput over time, else the first request.
func (s *single) originNS(withFlow bool) int64 {
	if s.requests == nil || len(s.requests.startNS) == 0 {
		return 0
	}
	if withFlow {
		return s.requests.firstFlowNS()
	}
	return s.requests.originNS
}

// firstFlowNS returns the instant of the first change of the throughput.
func (r *requests) firstFlowNS() int64 {
	first := int64(math.MaxInt64)
	ttft := r.metrics["time_to_first_token"]
	for i, ns := range r.startNS {
		if v := ttft[i]; !math.IsNaN(v) {
			ns += int64(v * 1e6)
		}
		if !math.IsNaN(r.metrics["output_sequence_length"][i]) && r.endNS[i] > ns {
			first = min(first, ns)
		}
	}
	return first
}

// gpuLine returns the mean of a field over all GPUs, by the last reading of each.
func (s *single) gpuLine(a Axis, originNS int64) (line, error) {
	field, ok := gpuField(a.Metric)
	if !ok || s.gpus == nil || s.gpus.Empty() {
		return line{}, s.lacking(FromGPUs, a.Metric)
	}
	var curves []timeline.Curve
	for _, c := range s.gpus.Curves() {
		if c.Name == field.Display {
			curves = append(curves, c)
		}
	}
	if len(curves) == 0 {
		return line{}, s.lacking(FromGPUs, a.Metric)
	}
	mean := meanCurve(curves)
	l := line{name: field.Display, unit: curves[0].Unit, y: mean.Values}
	if len(curves) > 1 {
		l.name += fmt.Sprintf(", mean of %d GPUs", len(curves))
	}
	for _, ns := range mean.TimeNS {
		l.x = append(l.x, float64(ns-originNS)/1e9)
	}
	return l, nil
}

// meanCurve returns the mean of curves at each of their instants: of each the last value so far.
func meanCurve(curves []timeline.Curve) timeline.Curve {
	type reading struct {
		ns    int64
		of    int
		value float64
	}
	var all []reading
	for i, c := range curves {
		for k, ns := range c.TimeNS {
			if isNumber(c.Values[k]) {
				all = append(all, reading{ns, i, c.Values[k]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b reading) int { return cmp.Compare(a.ns, b.ns) })
	var out timeline.Curve
	last := map[int]float64{}
	for k, r := range all {
		last[r.of] = r.value
		if k+1 < len(all) && all[k+1].ns == r.ns {
			continue
		}
		sum := 0.0
		for i := range curves { // in a fixed order: sums of floats depend on it
			sum += last[i]
		}
		out.TimeNS, out.Values = append(out.TimeNS, r.ns), append(out.Values, sum/float64(len(last)))
	}
	return out
}

// mostLines is the number of curves from which on a figure is hard to read.
const mostLines = 4

// serverLines returns the series of a server metric over time.
func (s *single) serverLines(a Axis, m *maker, originNS int64) ([]line, error) {
	curves := curvesNamed(s.curves, a.Metric)
	if len(curves) == 0 {
		return nil, s.lacking(FromServers, a.Metric)
	}
	several := len(curves) > 1
	if len(curves) > mostLines {
		m.note("%d series of %s: name one as in %s{label=\"value\"}.", len(curves), a.Metric, a.Metric)
	}
	var out []line
	for _, c := range curves {
		c = m.config.Downsampling.downsample(c)
		l := line{name: c.Name, unit: c.Unit}
		if several {
			l.name = strings.Trim(c.Source+" "+c.Labels, " ")
		}
		if c.What != "" {
			l.name += ", " + c.What
		}
		for i, ns := range c.TimeNS {
			if v := c.Values[i]; isNumber(v) {
				l.x, l.y = append(l.x, float64(ns-originNS)/1e9), append(l.y, v)
			}
		}
		if len(l.x) > 0 {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return nil, s.lacking(FromServers, a.Metric)
	}
	return out, nil
}

// lines returns the curves of an axis over time, or over the x of the plot where it is one of the requests.
func (m *maker) lines(p *Preset, a Axis, withFlow bool) ([]line, error) {
	origin := m.one.originNS(withFlow)
	switch source := sourceOf(a); {
	case isFlow(a):
		l, err := m.one.flowLine(a)
		return []line{l}, err
	case source == FromGPUs:
		l, err := m.one.gpuLine(a, origin)
		return []line{l}, err
	case source == FromServers:
		return m.one.serverLines(a, m, origin)
	}
	x, err := m.one.requestAxis(p.X)
	if err != nil {
		return nil, err
	}
	y, err := m.one.requestAxis(a)
	if err != nil {
		return nil, err
	}
	l := line{name: title(a.Metric), unit: m.unit(a)}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(x[i], x[k]) })
	for _, i := range order {
		if isNumber(x[i]) && isNumber(y[i]) {
			l.x, l.y = append(l.x, x[i]), append(l.y, y[i])
		}
	}
	if len(l.x) == 0 {
		return nil, m.one.lacking(FromRequests, a.Metric)
	}
	return []line{l}, nil
}

// xLabel returns the label of the horizontal axis.
func (m *maker) xLabel(p *Preset, withFlow bool) string {
	switch {
	case p.XLabel != "":
		return p.XLabel
	case withFlow:
		return "Time since first token (s)"
	case p.X.Metric == "request_number":
		return "Request, in the order of completion"
	case strings.HasPrefix(p.X.Metric, "timestamp") && sourceOf(p.Y) == FromRequests && p.Kind != RequestTimeline &&
		p.Kind != DualAxis:
		return "Completion of the request, since the first one began (s)"
	case slices.Contains(requestColumns, p.X.Metric):
		return "Time since first request (s)"
	}
	return withUnit(title(p.X.Metric), m.unit(p.X))
}

func (p *Preset) yLabel(l line, several bool) string {
	switch {
	case p.YLabel != "":
		return p.YLabel
	case several:
		return withUnit(title(p.Y.Metric), l.unit)
	}
	return withUnit(l.name, l.unit)
}

// singleFigure computes a plot of a single run.
func (m *maker) singleFigure(p *Preset) (*chart.Figure, error) {
	switch p.Kind {
	case Timeslice:
		if sourceOf(p.Y) == FromSlices {
			return m.timeslices(p)
		}
	case RequestTimeline:
		return m.timeline(p)
	case PercentileBands:
		return m.percentileBands(p)
	case Histogram:
		return m.requestHistogram(p)
	case ScatterWithPercentiles:
		return m.withPercentiles(p)
	case DualAxis:
		return m.dualAxis(p)
	}
	withFlow := isFlow(p.Y)
	lines, err := m.lines(p, p.Y, withFlow)
	if err != nil {
		return nil, err
	}
	f := m.frame(p, m.xLabel(p, withFlow || sourceOf(p.Y) != FromRequests && withFlow), p.yLabel(lines[0], len(lines) > 1))
	if source := sourceOf(p.Y); source != FromRequests && p.XLabel == "" {
		f.X.Label = "Time since first request (s)"
	}
	for i, l := range lines {
		name := ""
		if len(lines) > 1 {
			name = l.name
		}
		f.Layers = append(f.Layers, p.Primary.layers(p.Kind, name, l, i+1)...)
	}
	m.failedNote(p)
	return f, nil
}

// failedNote says how many requests have no point.
func (m *maker) failedNote(p *Preset) {
	if r := m.one.requests; r != nil && r.failed > 0 && sourceOf(p.Y) == FromRequests {
		m.note("%d requests failed and have no point.", r.failed)
	}
}

// layers draws a curve in a style; what the style does not say is as usual for the kind.
func (s Style) layers(kind Kind, name string, l line, place int) []chart.Layer {
	look := chart.Look{Series: place, Width: s.Width, Size: s.Size, Opacity: s.Opacity, Fill: s.FillOpacity}
	base := chart.Layer{Name: name, X: l.x, Y: l.y, Look: look}
	make := func(kind chart.Kind) chart.Layer {
		out := base
		out.Kind = kind
		return out
	}
	stairs := s.Shape == "hv" || s.Shape == "" && kind == Area
	mode := s.Mode
	if mode == "" {
		mode = map[Kind]string{Scatter: "markers", Timeslice: "markers", ScatterLine: "lines+markers"}[kind]
	}
	if mode == "markers" {
		return []chart.Layer{make(chart.Points)}
	}
	var out []chart.Layer
	switch filled := s.Fill == "tozeroy" || s.Fill == "" && kind == Area; {
	case filled && stairs:
		out = append(out, make(chart.StairArea))
	case filled:
		out = append(out, make(chart.Area))
	case stairs:
		out = append(out, make(chart.Stair))
	default:
		out = append(out, make(chart.Line))
	}
	if mode == "lines+markers" {
		marks := make(chart.Points)
		marks.Name = ""
		out = append(out, marks)
	}
	return out
}

// dualAxis draws two curves with an axis each. What the third column was like is a note.
func (m *maker) dualAxis(p *Preset) (*chart.Figure, error) {
	withFlow := isFlow(p.Y) || isFlow(p.Y2)
	left, err := m.lines(p, p.Y, withFlow)
	if err != nil {
		return nil, err
	}
	right, err := m.lines(p, p.Y2, withFlow)
	if err != nil {
		return nil, err
	}
	f := m.frame(p, m.xLabel(p, withFlow), p.yLabel(left[0], len(left) > 1))
	f.Y2 = &chart.Axis{Label: withUnit(right[0].name, right[0].unit), Zero: true}
	if len(right) > 1 {
		f.Y2.Label = withUnit(title(p.Y2.Metric), right[0].unit)
	}
	f.Y2.Min, f.Y2.Max = wholePercent(right)
	place := 0
	for i, side := range [...][]line{right, left} {
		style := p.Primary
		if i == 0 {
			style = p.Secondary
		}
		for k, l := range side {
			if place = k + 1; i == 0 {
				place = len(left) + k + 1
			}
			for _, layer := range style.layers(DualAxis, l.name, l, place) {
				layer.Right = i == 0
				f.Layers = append(f.Layers, layer)
			}
		}
	}
	if _, isGPU := gpuField(p.Y2.Metric); isGPU {
		m.note("What counts as utilization differs by vendor: compare GPUs of one vendor only.")
	}
	if p.Supplement != "" {
		if extra, err := m.lines(p, Axis{Metric: p.Supplement}, withFlow); err == nil && len(extra) > 0 {
			mean, most := timeMean(extra[0])
			name := title(p.Supplement)
			if p.Supplement == "active_requests" { // from the first token of a reply to its last one
				name += ", whose tokens were arriving"
			}
			m.note("%s: %.1f on average, %g at most.", name, mean, most)
		}
	}
	return f, nil
}

// wholePercent returns the ends of an axis of shares: 0 and 100 %, nil for anything else.
func wholePercent(lines []line) (low, high *float64) {
	for _, l := range lines {
		if l.unit != "%" || slices.ContainsFunc(l.y, func(v float64) bool { return v < 0 || v > 100 }) {
			return nil, nil
		}
	}
	low, high = new(float64), new(float64)
	*high = 100
	return low, high
}

// timeMean returns the mean of a curve of steps over its time, and its largest value.
func timeMean(l line) (mean, most float64) {
	sum, time := 0.0, 0.0
	for i, v := range l.y {
		most = max(most, v)
		if i+1 < len(l.x) {
			sum, time = sum+v*(l.x[i+1]-l.x[i]), time+l.x[i+1]-l.x[i]
		}
	}
	if time == 0 {
		return most, most
	}
	return sum / time, most
}

// rollingWindow is the number of requests of rolling percentiles.
const rollingWindow = 10

// withPercentiles draws points with rolling percentiles.
func (m *maker) withPercentiles(p *Preset) (*chart.Figure, error) {
	lines, err := m.lines(p, p.Y, false)
	if err != nil {
		return nil, err
	}
	l := lines[0]
	f := m.frame(p, m.xLabel(p, false), p.yLabel(l, false))
	f.Layers = append(f.Layers, chart.Layer{Kind: chart.Points, Name: "Requests", X: l.x, Y: l.y,
		Look: chart.Look{Series: chart.Grey, Opacity: 0.6, Size: 7}})
	for i, rank := range [...]float64{50, 95, 99} {
		f.Layers = append(f.Layers, chart.Layer{Kind: chart.Line, X: l.x,
			Y:    RollingPercentile(l.y, rollingWindow, rank),
			Name: fmt.Sprintf("p%g of the last %d requests", rank, rollingWindow),
			Look: chart.Look{Series: i + 1, Width: 2}})
	}
	m.failedNote(p)
	return f, nil
}

// timeline draws when each request waited for its first token and when it was answered, at the height of its time to
// first token.
func (m *maker) timeline(p *Preset) (*chart.Figure, error) {
	ttft, err := m.one.requestAxis(Axis{Metric: "time_to_first_token"})
	if err != nil {
		return nil, err
	}
	y, err := m.one.requestAxis(p.Y)
	if err != nil {
		return nil, err
	}
	f := m.frame(p, m.xLabel(p, false), p.yLabel(line{name: title(p.Y.Metric), unit: m.unit(p.Y)}, false))
	r := m.one.requests
	thick := 2.0
	if len(r.startNS) <= 500 {
		thick = 4
	}
	wait := chart.Layer{Kind: chart.Spans, Name: "Until the first token", Look: chart.Look{Series: 1, Width: thick}}
	decode := chart.Layer{Kind: chart.Spans, Name: "From there to the end", Look: chart.Look{Series: 2, Width: thick}}
	dropped := 0
	for i, start := range r.startNS {
		if !isNumber(ttft[i]) || !isNumber(y[i]) {
			continue
		}
		begin, end := r.seconds(start), r.seconds(r.endNS[i])
		first := begin + ttft[i]/1e3
		if first > end {
			dropped++
			continue
		}
		wait.X, wait.XEnd, wait.Y = append(wait.X, begin), append(wait.XEnd, first), append(wait.Y, y[i])
		decode.X, decode.XEnd, decode.Y = append(decode.X, first), append(decode.XEnd, end), append(decode.Y, y[i])
	}
	if dropped > 0 {
		m.note("%d requests left out: their first token would be later than their end.", dropped)
	}
	if len(wait.X) == 0 {
		return nil, m.one.lacking(FromRequests, "time_to_first_token")
	}
	f.Layers = append(f.Layers, decode, wait)
	f.Y.Zero = true
	m.failedNote(p)
	return f, nil
}

// percentileBands draws percentiles of a server's histogram over time, or the range of a gauge.
func (m *maker) percentileBands(p *Preset) (*chart.Figure, error) {
	if sourceOf(p.Y) == FromRequests {
		return m.withPercentiles(p)
	}
	points, kind, unit := m.one.servers.bands(p.Y.Metric)
	if len(points) == 0 {
		if _, found, _ := m.one.servers.find(parseServerName(p.Y.Metric)); found != "" {
			return nil, &skipError{p.Y.Metric + " has no time slices (--slice-duration makes them)"}
		}
		return nil, m.one.lacking(FromServers, p.Y.Metric)
	}
	f := m.frame(p, "Time since first request (s)", p.yLabel(line{name: p.Y.Metric, unit: unit}, false))
	names := [...]string{"p50", "p95", "p99"}
	if kind != "histogram" {
		names = [...]string{"min", "avg", "max"}
	}
	origin := m.one.originNS(false)
	var x, low, middle, high []float64
	for _, b := range points {
		x = append(x, float64(b.ns-origin)/1e9)
		low, middle, high = append(low, b.low), append(middle, b.middle), append(high, b.high)
	}
	f.Layers = append(f.Layers, chart.Layer{Kind: chart.Band, X: x, Low: low, High: high,
		Look: chart.Look{Series: 1, Fill: 0.15}})
	for i, y := range [...][]float64{low, middle, high} {
		f.Layers = append(f.Layers, chart.Layer{Kind: chart.Line, Name: names[i], X: x, Y: y,
			Look: chart.Look{Series: i + 1}})
	}
	return f, nil
}

// requestHistogram draws how many requests have which value.
func (m *maker) requestHistogram(p *Preset) (*chart.Figure, error) {
	a := p.X
	if a.Metric == "" || slices.Contains(requestColumns, a.Metric) {
		a = p.Y
	}
	values, err := m.one.requestAxis(a)
	if err != nil {
		return nil, err
	}
	values = slices.DeleteFunc(values, func(v float64) bool { return !isNumber(v) })
	f := m.frame(p, cmp.Or(p.XLabel, withUnit(title(a.Metric), m.unit(a))), cmp.Or(p.YLabel, "Requests"))
	f.X.Zero, f.Y.Zero = false, true
	f.Layers = append(f.Layers, histogram(values))
	m.failedNote(p)
	return f, nil
}

// histogram counts values in bins as wide as the rule of Freedman and Diaconis wants, 5 to 100 of them.
func histogram(values []float64) chart.Layer {
	slices.Sort(values)
	low, high := values[0], values[len(values)-1]
	bins := 1
	if high > low {
		width := 2 * (percentile(values, 75) - percentile(values, 25)) / math.Cbrt(float64(len(values)))
		bins = 10
		if width > 0 {
			bins = int(math.Ceil(min(100, (high-low)/width)))
		}
		bins = max(5, bins)
	}
	l := chart.Layer{Kind: chart.Bars, Look: chart.Look{Series: 1}}
	width := (high - low) / float64(bins)
	if width == 0 {
		low, width = low-0.5, 1
	}
	for i := range bins {
		l.X, l.XEnd = append(l.X, low+float64(i)*width), append(l.XEnd, low+float64(i+1)*width)
		l.Y = append(l.Y, 0)
	}
	for _, v := range values {
		l.Y[min(bins-1, int((v-low)/width))]++
	}
	return l
}
