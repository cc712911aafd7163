package page

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is the type of a family as the TYPE line names it.
type kind string

const (
	kCounter   kind = "counter"
	kGauge     kind = "gauge"
	kHistogram kind = "histogram"
	kSummary   kind = "summary" // sum and count, no quantiles
)

// family is a metric of a page. Its name lacks the _total of counters.
type family struct {
	name   string
	kind   kind
	help   string
	layout []float64 // bounds of a histogram in units of the page
	unit   float64   // what 1 is on the page, in units of the quantity; 0 = seconds or tokens
	labels labels    // nil = those of the page
	series []series
	// dynamic yields series whose labels are known only when the page is asked for.
	dynamic func(*totals, func(labels, float64))
}

// labels are pairs of a name and a value. "$model" stands for the name of the served model.
type labels [][2]string

// series is one label set of a family and where its value comes from.
type series struct {
	labels labels // beyond those of the family
	value  func(*totals) float64
	of     quantity // of histograms and summaries
}

// style is how a kind of server writes its pages.
type style struct {
	// floats writes whole numbers with a fraction and large ones with an exponent, as Python does.
	floats bool
	// bareCounters leaves _total away where the format allows it.
	bareCounters bool
	// created follows counters and histograms with a gauge of the time of their creation.
	created bool
}

// The families of a page are built with these functions.

func total(name, help string, value func(*totals) float64) family {
	return family{name: name, kind: kCounter, help: help, series: []series{{value: value}}}
}

func gauge(name, help string, value func(*totals) float64) family {
	return family{name: name, kind: kGauge, help: help, series: []series{{value: value}}}
}

func split(name string, k kind, help string, s ...series) family {
	return family{name: name, kind: k, help: help, series: s}
}

func hist(name, help string, of quantity, layout []float64) family {
	return family{name: name, kind: kHistogram, help: help, layout: layout, series: []series{{of: of}}}
}

func where(label, value string, of func(*totals) float64) series {
	return series{labels: labels{{label, value}}, value: of}
}

func (f family) with(l labels) family {
	f.labels = l
	return f
}

func sum(c counter) func(*totals) float64 {
	return func(t *totals) float64 { return float64(t.count[c]) }
}

func constant(v float64) func(*totals) float64 { return func(*totals) float64 { return v } }

// unitOf returns what 1 on the page means in units of the quantity.
func (f *family) unitOf(q quantity) float64 {
	switch {
	case f.unit != 0:
		return f.unit
	case q.isTime():
		return 1e9
	}
	return 1
}

// unitBounds returns the bounds of a series' layout in units of its quantity.
func (f *family) unitBounds(q quantity) []int64 {
	bounds := make([]int64, len(f.layout))
	for i, b := range f.layout {
		bounds[i] = int64(math.Round(b * f.unitOf(q)))
	}
	return bounds
}

// part is a part of a page: fixed text, then a number.
type part struct {
	text    string
	value   func(*totals) float64 // nil = one of the following
	of      quantity
	bucket  int // index into totals.hist; -1 = the sum
	unit    float64
	created bool
	dynamic *dynamicPart
	end     bool // no number
}

type dynamicPart struct {
	name   string
	labels labels
	emit   func(*totals, func(labels, float64))
}

// writer turns families into parts.
type writer struct {
	style  style
	open   bool // OpenMetrics
	model  string
	bounds *[quantities][]int64
	// headless leaves the headers of families away, undated the times of creation.
	headless, undated bool
	text              strings.Builder
	parts             []part
}

func (w *writer) put(p part) {
	p.text = w.text.String()
	w.text.Reset()
	w.parts = append(w.parts, p)
}

func (w *writer) header(name string, k kind, help string) {
	if w.headless {
		return
	}
	w.text.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + string(k) + "\n")
}

// sample writes the name and labels of a sample line, up to the value.
func (w *writer) sample(name string, l labels) {
	w.text.WriteString(name)
	w.text.WriteString(w.labelText(l))
	w.text.WriteByte(' ')
}

func (w *writer) labelText(l labels) string {
	if len(l) == 0 {
		return ""
	}
	l = slices.Clone(l)
	slices.SortStableFunc(l, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	var b strings.Builder
	for i, pair := range l {
		b.WriteByte("{,"[min(i, 1)])
		value := pair[1]
		if value == "$model" {
			value = w.model
		}
		b.WriteString(pair[0] + `="` + labelEscapes.Replace(value) + `"`)
	}
	return b.String() + "}"
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// family writes a family with the labels that all series of the page have.
func (w *writer) family(f *family, shared labels) {
	if f.labels != nil {
		shared = f.labels
	}
	name := f.name
	if f.kind == kCounter && !w.open && !w.style.bareCounters {
		name += "_total"
	}
	w.header(name, f.kind, f.help)
	sampleName := name
	if f.kind == kCounter && w.open {
		sampleName += "_total"
	}
	dated := w.style.created && f.kind != kGauge && !w.undated
	for i := range f.series {
		s := &f.series[i]
		l := slices.Concat(shared, s.labels)
		switch f.kind {
		case kHistogram:
			w.buckets(f, s, l)
			fallthrough
		case kSummary:
			w.sample(name+"_sum", l)
			w.put(part{of: s.of, bucket: -1, unit: f.unitOf(s.of)})
			w.sample(name+"_count", l)
			w.put(part{of: s.of, bucket: len(w.bounds[s.of])})
		default:
			w.sample(sampleName, l)
			w.put(part{value: s.value})
		}
		if dated && w.open {
			w.sample(f.name+"_created", l)
			w.put(part{created: true})
		}
	}
	if f.dynamic != nil {
		w.put(part{dynamic: &dynamicPart{sampleName, shared, f.dynamic}})
	}
	if dated && !w.open && len(f.series) > 0 {
		w.header(f.name+"_created", kGauge, f.help)
		for i := range f.series {
			w.sample(f.name+"_created", slices.Concat(shared, f.series[i].labels))
			w.put(part{created: true})
		}
	}
}

func (w *writer) buckets(f *family, s *series, l labels) {
	for i, bound := range f.unitBounds(s.of) {
		at, _ := slices.BinarySearch(w.bounds[s.of], bound)
		le := string(appendNumber(nil, f.layout[i], w.style.floats || w.open))
		w.sample(f.name+"_bucket", append(slices.Clone(l), [2]string{"le", le}))
		w.put(part{of: s.of, bucket: at})
	}
	w.sample(f.name+"_bucket", append(slices.Clone(l), [2]string{"le", "+Inf"}))
	w.put(part{of: s.of, bucket: len(w.bounds[s.of])})
}

// finish ends the page.
func (w *writer) finish() {
	if w.open {
		w.text.WriteString("# EOF\n")
	}
	w.put(part{end: true})
}

// render fills the numbers in.
func (w *writer) render(b []byte, t *totals) []byte {
	for i := range w.parts {
		p := &w.parts[i]
		b = append(b, p.text...)
		var v float64
		switch {
		case p.end:
			continue
		case p.dynamic != nil:
			b = w.appendDynamic(b, p.dynamic, t)
			continue
		case p.created:
			v = t.startedAt
		case p.value != nil:
			v = p.value(t)
		case p.bucket < 0:
			v = float64(t.sum[p.of]) / p.unit
		default:
			v = float64(t.hist[p.of][p.bucket])
		}
		b = appendNumber(b, v, w.style.floats)
		b = append(b, '\n')
	}
	return b
}

func (w *writer) appendDynamic(b []byte, d *dynamicPart, t *totals) []byte {
	type line struct {
		text  string
		value float64
	}
	var lines []line
	d.emit(t, func(l labels, v float64) {
		lines = append(lines, line{d.name + w.labelText(slices.Concat(d.labels, l)), v})
	})
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.text, b.text) })
	for _, l := range lines {
		b = append(append(b, l.text...), ' ')
		b = append(appendNumber(b, l.value, w.style.floats), '\n')
	}
	return b
}

// appendNumber writes a value of a page. With floats, 12 is 12.0 and a million 1e+06.
func appendNumber(b []byte, v float64, floats bool) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "NaN"...)
	case math.IsInf(v, 0):
		return append(b, "+Inf"...)
	case v == math.Trunc(v) && math.Abs(v) < 1e6:
		b = strconv.AppendInt(b, int64(v), 10)
		if floats {
			b = append(b, ".0"...)
		}
		return b
	case floats && (math.Abs(v) >= 1e6 || math.Abs(v) < 1e-4):
		return strconv.AppendFloat(b, v, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}
