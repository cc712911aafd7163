package plot

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/measure/stats"
	"aiperf/internal/result/chart"
	"aiperf/internal/result/compare"
)

// runPoint is what a plot draws of a run.
type runPoint struct {
	x, y  quantity
	label string
	run   *Run
}

// series are the runs of a group.
type series struct {
	name   string
	points []runPoint
	look   chart.Look
}

// severalFigure computes a plot of several runs.
func (m *maker) severalFigure(p *Preset) (*chart.Figure, error) {
	if p.Kind == Histogram {
		return m.runHistogram(p)
	}
	all, err := m.runSeries(p)
	if err != nil {
		return nil, err
	}
	f := m.frame(p, m.axisLabel(p.X, p.XLabel), m.axisLabel(p.Y, p.YLabel))
	if labelled(all) {
		m.note("The labels are values of %s.", m.labelName(p))
	}
	switch p.Kind {
	case Pareto:
		err = m.pareto(p, all, f)
	case Uncertainty:
		m.uncertainty(p, all, f)
	case ScatterLine:
		m.joined(all, f, true)
	default:
		m.joined(all, f, false)
	}
	return f, err
}

// runSeries returns the points of the runs by group. Runs that lack an axis are named in a note; without any point the
// plot is skipped.
func (m *maker) runSeries(p *Preset) ([]series, error) {
	group := p.Group
	if m.config.Classification != nil {
		group = classifiedGroup
	} else if group == "" && p.Kind != Uncertainty { // its means are over all runs of a load
		group = standardGroup
	}
	byName := map[string]*series{}
	var names []string
	lacking := map[string]int{}
	set := slices.ContainsFunc(m.runs, func(r *Run) bool { return r.column(p.Label) != "" })
	for _, r := range m.runs {
		x, okX := r.quantity(p.X)
		y, okY := r.quantity(p.Y)
		for _, a := range [...]struct {
			ok   bool
			axis Axis
		}{{okX, p.X}, {okY, p.Y}} {
			if !a.ok {
				lacking[m.lack(r, a.axis)]++
			}
		}
		if !okX || !okY {
			continue
		}
		name := r.column(group)
		if byName[name] == nil {
			byName[name] = &series{name: m.config.Classification.display(name)}
			names = append(names, name)
		}
		label := r.column(p.Label)
		if !set && p.Label == standardLabel {
			label = r.load
		} else if label == "" && p.Label == standardLabel {
			label = "1"
		}
		byName[name].points = append(byName[name].points, runPoint{x, y, label, r})
	}
	if len(names) == 0 {
		return nil, &skipError{"no run has " + strings.Join(sortedKeys(lacking), ", nor ")}
	}
	for _, what := range sortedKeys(lacking) {
		m.note("%d of %d runs left out: without %s", lacking[what], len(m.runs), what)
	}
	m.sortGroups(names, byName)
	out := make([]series, len(names))
	for i, name := range names {
		out[i] = *byName[name]
		slices.SortStableFunc(out[i].points, func(a, b runPoint) int {
			return cmp.Or(cmp.Compare(a.x.value, b.x.value), cmp.Compare(a.y.value, b.y.value))
		})
	}
	return out, nil
}

func (m *maker) lack(r *Run, a Axis) string {
	if r.hasOther(a) {
		return a.Metric + "_" + cmp.Or(a.Stat, standardStat)
	}
	return a.Metric
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// labelled reports whether points differ in their labels.
func labelled(all []series) bool {
	for _, s := range all {
		for _, p := range s.points {
			if p.label != all[0].points[0].label {
				return true
			}
		}
	}
	return false
}

// labelName is what a note calls the labels.
func (m *maker) labelName(p *Preset) string {
	if p.Label == standardLabel && !slices.ContainsFunc(m.runs, func(r *Run) bool { return r.column(p.Label) != "" }) {
		return "the load"
	}
	return strings.ReplaceAll(p.Label, "_", " ")
}

// sortGroups brings the groups in order and gives them their colours: baselines in grey first, then the others.
func (m *maker) sortGroups(names []string, of map[string]*series) {
	isBaseline := func(name string) bool {
		return m.config.Classification != nil && of[name].points[0].run.columns["experiment_type"] == baseline
	}
	slices.SortStableFunc(names, func(a, b string) int {
		if x, y := isBaseline(a), isBaseline(b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return compareLabels(a, b)
	})
	place := 0
	for _, name := range names {
		if isBaseline(name) {
			of[name].look = chart.Look{Colour: baselineColour}
			continue
		}
		place++
		of[name].look = chart.Look{Series: place}
	}
}

// compareLabels orders numbers by value and texts as texts.
func compareLabels(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// layer makes a layer of points.
func (s *series) layer(kind chart.Kind, name string, points []runPoint) chart.Layer {
	l := chart.Layer{Kind: kind, Name: name, Look: s.look}
	for _, p := range points {
		l.X, l.Y = append(l.X, p.x.value), append(l.Y, p.y.value)
	}
	return l
}

// marks makes the layer of the points with their labels.
func (s *series) marks(name string) chart.Layer {
	l := s.layer(chart.Points, name, s.points)
	for _, p := range s.points {
		l.Labels = append(l.Labels, p.label)
	}
	l.Look.Size = 9
	return l
}

// bars appends error bars where points are means of trials.
func (s *series) bars(f *chart.Figure) {
	l := chart.Layer{Kind: chart.Errors, Look: s.look}
	for _, p := range s.points {
		if half := p.y.half(standardLevel); half > 0 {
			l.X, l.Y = append(l.X, p.x.value), append(l.Y, p.y.value)
			l.Low, l.High = append(l.Low, p.y.value-half), append(l.High, p.y.value+half)
		}
	}
	if len(l.X) > 0 {
		f.Layers = append(f.Layers, l)
	}
}

// half returns the half-width of the confidence interval of a mean, 0 for a single run.
func (q quantity) half(level float64) float64 {
	if q.n < 2 || q.std == 0 {
		return 0
	}
	return stats.StudentT(level, float64(q.n-1)) * q.std / math.Sqrt(float64(q.n))
}

// joined draws the points of each series, with a line through them if line is set: from one label to the next where
// labels are numbers, such as the concurrency, through the mean of the runs of each; else in the order of x.
func (m *maker) joined(all []series, f *chart.Figure, line bool) {
	for i := range all {
		s := &all[i]
		if line {
			f.Layers = append(f.Layers, s.layer(chart.Line, "", s.path()))
		}
		s.bars(f)
		f.Layers = append(f.Layers, s.marks(s.name))
	}
}

// path returns the points that a line joins.
func (s *series) path() []runPoint {
	byLabel := map[string][]runPoint{}
	var labels []string
	for _, p := range s.points {
		if _, err := strconv.ParseFloat(p.label, 64); err != nil {
			return s.points
		}
		if byLabel[p.label] == nil {
			labels = append(labels, p.label)
		}
		byLabel[p.label] = append(byLabel[p.label], p)
	}
	slices.SortFunc(labels, compareLabels)
	if len(labels) < 2 {
		return s.points
	}
	var out []runPoint
	for _, label := range labels {
		at := meanOf(byLabel[label])
		at.label = label
		out = append(out, at)
	}
	return out
}

// meanOf returns the mean of points with the deviation of their values. A single aggregate keeps its own.
func meanOf(points []runPoint) runPoint {
	if len(points) == 1 {
		return points[0]
	}
	xs, ys := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		xs[i], ys[i] = p.x.value, p.y.value
	}
	x, y := stats.Confidence(xs, standardLevel), stats.Confidence(ys, standardLevel)
	return runPoint{x: quantity{x.Mean, x.Std, len(points)}, y: quantity{y.Mean, y.Std, len(points)},
		run: points[0].run}
}

// pareto draws all points and joins those of each series that no other one beats.
func (m *maker) pareto(p *Preset, all []series, f *chart.Figure) error {
	x, errX := m.direction(p.X)
	y, errY := m.direction(p.Y)
	if err := cmp.Or(errX, errY); err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		if front := frontier(s.points, x, y); len(front) > 1 {
			f.Layers = append(f.Layers, s.layer(chart.Line, "", front))
		}
		s.bars(f)
		f.Layers = append(f.Layers, s.marks(s.name))
	}
	f.Notes = append(f.Notes, fmt.Sprintf(
		"The line joins the Pareto front: no other run has both %s and %s.", better(p.X, x), better(p.Y, y)))
	return nil
}

func better(a Axis, way int) string {
	if way > 0 {
		return "more " + lowerTitle(a.Metric)
	}
	return "less " + lowerTitle(a.Metric)
}

// frontier returns the points that no other one beats, ascending by x; x and y say which way the axes improve. Points
// that are as good as the best one so far belong to it.
func frontier(points []runPoint, x, y int) []runPoint {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b runPoint) int {
		return cmp.Or(-x*cmp.Compare(a.x.value, b.x.value), -y*cmp.Compare(a.y.value, b.y.value))
	})
	var out []runPoint
	best := math.Inf(-y)
	for _, p := range sorted {
		if float64(y)*p.y.value >= float64(y)*best {
			best = p.y.value
			out = append(out, p)
		}
	}
	if x > 0 {
		slices.Reverse(out)
	}
	return out
}

// direction returns which way an axis improves.
func (m *maker) direction(a Axis) (int, error) {
	if a.Metric == perGPU {
		return 1, nil
	}
	if way := compare.Direction(a.Metric, m.unit(a)); way != 0 {
		return way, nil
	}
	return 0, fmt.Errorf("%s has no direction: neither more nor less of it is better, so that it has no Pareto front",
		a.Metric)
}

// corners is the number of vertices of an ellipse.
const corners = 64

// uncertainty draws for each concurrency the mean of the runs and the region of its confidence: as wide and as high as
// the intervals of both means, and from three runs on tilted as the values of the runs go together.
func (m *maker) uncertainty(p *Preset, all []series, f *chart.Figure) {
	var region, few bool
	for i := range all {
		s := &all[i]
		byLoad := map[string][]runPoint{}
		var loads []string
		for _, point := range s.points {
			load := cmp.Or(point.run.column(standardLabel), "1")
			if byLoad[load] == nil {
				loads = append(loads, load)
			}
			byLoad[load] = append(byLoad[load], point)
		}
		slices.SortStableFunc(loads, byNumber) // the line goes from load to load, whatever that does to its x
		means := series{name: s.name, look: s.look}
		var regions []chart.Layer
		for _, load := range loads {
			at := meanOf(byLoad[load])
			at.label = mostFrequent(byLoad[load])
			means.points = append(means.points, at)
			name := ""
			if n := min(at.x.n, at.y.n); n < 3 {
				if !few {
					few, name = true, "Low sample (n < 3)"
				}
			} else if !region {
				region, name = true, fmt.Sprintf("%g%% confidence region", 100*p.Level)
			}
			regions = append(regions, ellipse(at, byLoad[load], p.Level, name, s.look))
		}
		name := "Mean"
		if group := m.group(p); group != "" {
			name = group + " = " + s.name
		}
		f.Layers = append(f.Layers, regions...)
		f.Layers = append(f.Layers, means.layer(chart.Line, "", means.points), means.marks(name))
	}
	if few && !region {
		f.Notes = append(f.Notes, "With fewer than three runs of a load the region says little: repeat the runs "+
			"(--num-profile-runs).")
	}
}

// byNumber orders loads by their numbers; what is none keeps its place behind them.
func byNumber(a, b string) int {
	x, xErr := strconv.ParseFloat(a, 64)
	y, yErr := strconv.ParseFloat(b, 64)
	switch {
	case xErr == nil && yErr == nil:
		return cmp.Compare(x, y)
	case xErr == nil:
		return -1
	case yErr == nil:
		return 1
	}
	return 0
}

// group returns the column that makes series of the runs, "" for none.
func (m *maker) group(p *Preset) string {
	if m.config.Classification != nil {
		return classifiedGroup
	}
	return p.Group
}

// mostFrequent returns the most frequent label, the first one of several.
func mostFrequent(points []runPoint) string {
	counts := map[string]int{}
	for _, p := range points {
		counts[p.label]++
	}
	best := points[0].label
	for _, p := range points {
		if counts[p.label] > counts[best] {
			best = p.label
		}
	}
	return best
}

// mostTilt is the largest correlation of a region: three runs have one near 1 by chance, and the region would be a line.
const mostTilt = 0.9

// ellipse returns the region of confidence around a mean.
func ellipse(at runPoint, trials []runPoint, level float64, name string, look chart.Look) chart.Layer {
	a, b := at.x.half(level), at.y.half(level)
	l := chart.Layer{Kind: chart.Polygon, Name: name, Look: look}
	l.Look.Fill = 0.15
	if min(at.x.n, at.y.n) < 3 {
		l.Look.Fill, l.Look.Dashed = 0.08, true
	}
	rho := min(max(correlation(trials), -mostTilt), mostTilt)
	tilt := math.Sqrt(1 - rho*rho)
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		l.X = append(l.X, at.x.value+a*cos)
		l.Y = append(l.Y, at.y.value+b*(rho*cos+tilt*sin))
	}
	return l
}

// correlation returns how the values of three or more runs go together, 0 for fewer.
func correlation(points []runPoint) float64 {
	if len(points) < 3 {
		return 0
	}
	m := meanOf(points)
	var xx, yy, xy float64
	for _, p := range points {
		x, y := p.x.value-m.x.value, p.y.value-m.y.value
		xx, yy, xy = xx+x*x, yy+y*y, xy+x*y
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return max(-1, min(1, xy/math.Sqrt(xx*yy)))
}

// runHistogram draws how many runs have which value.
func (m *maker) runHistogram(p *Preset) (*chart.Figure, error) {
	var values []float64
	for _, r := range m.runs {
		if q, ok := r.quantity(p.X); ok {
			values = append(values, q.value)
		}
	}
	if len(values) == 0 {
		return nil, &skipError{"no run has " + p.X.Metric}
	}
	f := m.frame(p, m.axisLabel(p.X, p.XLabel), "Runs")
	f.X.Zero, f.Y.Zero = false, true
	f.Layers = append(f.Layers, histogram(values))
	return f, nil
}
