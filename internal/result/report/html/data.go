package html

import (
	"encoding/json"
	"math"
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// data is the JSON in the page: the data of the charts, and the figures of the summary for programs.
type data struct {
	SchemaVersion string          `json:"schema_version"`
	BenchmarkID   string          `json:"benchmark_id"`
	Metrics       json.RawMessage `json:"metrics"`
	Bounds        json.RawMessage `json:"percentile_bounds,omitempty"`
	Axis          *axis           `json:"axis,omitempty"`
	Phases        []span          `json:"phases"`
	Charts        []chart         `json:"charts"`
	Choices       []choice        `json:"choices"`
	Distributions []distribution  `json:"distributions"`
	// Constant are sentences on metrics that were the same in all requests.
	Constant []string `json:"-"`
}

// axis is the time axis: bins of equal length, in seconds from the start of profiling.
type axis struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	First float64 `json:"first"` // middle of the first bin
	Step  float64 `json:"step"`
	Count int     `json:"count"`
	// Origin is the start of profiling by the wall clock, in ms since the epoch.
	Origin float64 `json:"origin"`
}

// span is an interval of time that charts shade.
type span struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// chart is a time line.
type chart struct {
	ID     string   `json:"id"`
	Group  string   `json:"-"`
	Title  string   `json:"title"`
	Unit   string   `json:"unit"`
	Note   string   `json:"-"`
	Series []series `json:"series"`
	// Bands are pairs of series between which the chart is filled: upper, lower.
	Bands [][2]int `json:"bands,omitempty"`
}

// series is a line of a chart; Look is line, area, thin, dash, a percentile such as p50, or bad for what failed.
type series struct {
	Label  string  `json:"label"`
	Look   string  `json:"look"`
	Values numbers `json:"values"`
}

// choice is a list of lines of which the reader chooses one to see.
type choice struct {
	ID     string  `json:"id"`
	Title  string  `json:"-"`
	Lines  []chart `json:"lines"`
	Hidden int     `json:"-"` // how many further lines there were
}

type distribution struct {
	ID    string     `json:"id"`
	Title string     `json:"title"`
	Unit  string     `json:"unit"`
	Count int64      `json:"count"`
	Lin   histogram  `json:"linear"`
	Log   *histogram `json:"log,omitempty"`
	Marks []mark     `json:"marks"`
}

type histogram struct {
	// Edges are exact: the requests of a column are asked for by them.
	Edges  exact   `json:"edges"`
	Counts []int64 `json:"counts"`
	Below  numbers `json:"below"`
	Beyond int64   `json:"beyond,omitempty"`
}

// mark is a percentile with its bounds; null where they are not known.
type mark struct {
	Label string `json:"label"`
	Value number `json:"value"`
	Low   number `json:"low"`
	High  number `json:"high"`
}

// number is a float, written with about five digits; one that is not finite is null.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(n)), nil }

type numbers []float64

// MarshalJSON implements json.Marshaler.
func (n numbers) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range n {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendNumber(out, v)
	}
	return append(out, ']'), nil
}

// exact are numbers of which no digit is lost.
type exact []float64

// MarshalJSON implements json.Marshaler.
func (n exact) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range n {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, v, 'g', -1, 64)
	}
	return append(out, ']'), nil
}

func appendNumber(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	text, err := json.Marshal(rounded)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, text...)
}

func (n numbers) any() bool {
	for _, v := range n {
		if !math.IsNaN(v) {
			return true
		}
	}
	return false
}

func newData(r *summary.Result, run *Run) *data {
	d := &data{SchemaVersion: "1.0", BenchmarkID: r.BenchmarkID, Phases: []span{}, Charts: []chart{},
		Choices: []choice{}, Distributions: []distribution{}}
	d.Metrics, _ = artifact.AppendJSON(nil, append(artifact.Object{}, report.Blocks(r.Metrics)...))
	if bounds := report.PercentileBounds(r.Metrics); len(bounds) > 0 {
		d.Bounds, _ = artifact.AppendJSON(nil, bounds)
	}
	if run.Requests == nil || r.StartNS == 0 {
		return d
	}
	d.distributions(r, run.Requests)
	from, to := r.StartNS, r.EndNS
	if r.Recomputed == nil {
		from, to = phaseEnds(run.Phases, from, to)
	}
	g := run.Requests.Grid(from, to)
	d.Axis = &axis{From: g.From(), To: math.Min(g.To(), math.Max(float64(g.EndNS)/1e9, g.From()+0.001)),
		First: g.Seconds()[0], Step: float64(g.WidthNS) / 1e9, Count: g.Count,
		Origin: float64(g.OriginNS) / 1e6}
	d.phases(run.Phases, g)
	p := run.Requests.Points(g)
	d.requests(r, &p, g)
	d.servers(run.Servers, r.Recomputed == nil, g)
	d.gpus(run.GPUs, g)
	d.client(r, &p, run, g)
	return d
}

// phaseEnds are the ends of the axis: the warm-up is shown as far as it is no longer than the profiling phase, and the
// end of the last phase.
func phaseEnds(phases []summary.PhaseState, from, to int64) (int64, int64) {
	least := from - (to - from)
	for i := range phases {
		p := &phases[i]
		if p.StartNS != 0 {
			from = min(from, max(p.StartNS, least))
		}
		to = max(to, p.RequestsEndNS)
	}
	return from, to
}

func (d *data) phases(phases []summary.PhaseState, g timeline.Grid) {
	seconds := func(ns int64) float64 { return float64(ns-g.OriginNS) / 1e9 }
	add := func(name string, from, to int64) {
		s := span{name, math.Max(seconds(from), d.Axis.From), math.Min(seconds(to), d.Axis.To)}
		if from != 0 && s.To > s.From {
			d.Phases = append(d.Phases, s)
		}
	}
	for i := range phases {
		p := &phases[i]
		if p.Kind == "warmup" {
			add("warm-up", p.StartNS, p.RequestsEndNS)
		} else if p.SentEndNS != 0 {
			add("draining", p.SentEndNS, p.RequestsEndNS)
		}
	}
}

func (d *data) distributions(r *summary.Result, requests *timeline.Recorder) {
	for _, of := range requests.Distributions() {
		m, ok := r.Find(of.Tag)
		if !ok {
			continue
		}
		if m.Stats.Min == m.Stats.Max {
			d.Constant = append(d.Constant, m.Header+" was "+short(m.Stats.Min)+" "+of.Unit+" in every request.")
			continue
		}
		out := distribution{ID: "distribution-" + of.Tag, Title: m.Header, Unit: of.Unit, Count: of.Count,
			Lin: histogramOf(&of.Linear)}
		if of.Log != nil {
			log := histogramOf(of.Log)
			out.Log = &log
		}
		for _, rank := range [...]float64{50, 90, 99} {
			p, ok := percentileOf(&m, rank)
			if ok {
				out.Marks = append(out.Marks, mark{p.name, number(p.value), number(p.low), number(p.high)})
			}
		}
		d.Distributions = append(d.Distributions, out)
	}
}

func histogramOf(h *timeline.Histogram) histogram {
	return histogram{Edges: exact(h.Edges), Counts: h.Counts, Below: h.Below, Beyond: h.Beyond}
}
