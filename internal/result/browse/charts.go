package browse

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/base/webpage"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/library"
	"aiperf/internal/result/summary"
)

// charts is the page of charts with a point for each run.
func (s *Server) charts(w http.ResponseWriter, r *http.Request) {
	sh := s.current()
	if _, err := chosen(sh, r.URL.Query().Get("runs")); err != nil {
		s.fail(w, r, http.StatusNotFound, "These charts cannot be shown", err.Error())
		return
	}
	f := webpage.Frame{Title: "Charts", Class: "wide", Skip: "charts", Nav: &webpage.Navigation{Here: "Charts"}}
	s.show(w, r, "charts", controls|webpage.Charts|webpage.Points, &f,
		map[string]any{"runs": r.URL.Query().Get("runs")}, &f)
}

// charted is a run as charts show it.
type charted struct {
	ID      string      `json:"id"`
	Name    string      `json:"name"`
	Kind    string      `json:"kind"`
	State   string      `json:"state,omitempty"`
	Level   judge.Level `json:"level,omitempty"`
	Started int64       `json:"started,omitempty"`
	// Series are the values that its sweep set besides the load: a line joins runs that are equal in them.
	Series string `json:"series,omitempty"`
	// Columns are what points can be grouped and labelled by.
	Columns map[string]any `json:"columns"`
	// Values are the statistics of metrics by tag. Intervals are those of means over repeats.
	Values    map[string]map[string]float64    `json:"v"`
	Intervals map[string]map[string][2]float64 `json:"ci,omitempty"`
}

// chartMetric is a metric that any of the runs has.
type chartMetric struct {
	Tag      string   `json:"tag"`
	Header   string   `json:"header"`
	Unit     string   `json:"unit"`
	Category string   `json:"category"`
	Stats    []string `json:"stats"`
	Larger   bool     `json:"larger,omitempty"` // is better
	order    int
}

// perGPU is the throughput of a run divided by the number of its GPUs.
const perGPU = "output_token_throughput_per_gpu"

// chartStats are the statistics that charts offer.
var chartStats = []string{"avg", "p50", "p90", "p95", "p99", "min", "max", "std"}

// figuresOf keeps the figures of items that were read for charts.
type figuresOf struct {
	mu  sync.Mutex
	all map[string]*figuresRead
}

// figuresRead are the figures of an item, and its configuration flattened.
type figuresRead struct {
	values    map[string]map[string]float64
	intervals map[string]map[string][2]float64
	units     map[string]string
	columns   map[string]any
}

// maxFigures bounds the items whose figures are kept.
const maxFigures = 3000

// get returns the figures of an item, read unless they are known.
func (f *figuresOf) get(it *item) *figuresRead {
	key := it.id + it.stamp
	f.mu.Lock()
	known := f.all[key]
	f.mu.Unlock()
	if known != nil {
		return known
	}
	read := readFigures(it)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil || len(f.all) >= maxFigures {
		f.all = map[string]*figuresRead{}
	}
	f.all[key] = read
	return read
}

// readFigures reads the figures of a run or of repeats. What cannot be read is left out: the list names it.
func readFigures(it *item) *figuresRead {
	f := &figuresRead{values: map[string]map[string]float64{}, intervals: map[string]map[string][2]float64{},
		units: map[string]string{}, columns: map[string]any{}}
	data, err := summary.ReadDocument(it.folder.File)
	if err != nil {
		return f
	}
	if it.folder.Kind == library.Repeats {
		f.readRepeats(data)
	} else {
		f.readRun(data)
	}
	if n := it.facts.GPUs; n > 0 {
		if of := f.values["output_token_throughput"]; of != nil {
			f.values[perGPU] = map[string]float64{"avg": of["avg"] / float64(n)}
			f.units[perGPU] = "tokens/sec/gpu"
		}
	}
	facts := &it.facts
	for name, value := range map[string]string{"run": it.name, "folder": folderOf(it), "model": facts.Model,
		"load":     facts.Load,
		"endpoint": facts.Endpoint, "label": facts.Label} {
		if value != "" {
			f.columns[name] = value
		}
	}
	if facts.Concurrency > 0 {
		f.columns["concurrency"] = facts.Concurrency
	}
	if facts.Rate > 0 {
		f.columns["request rate"] = facts.Rate
	}
	for _, m := range facts.Values {
		f.columns[library.ParameterName(m.Key)] = m.Value
	}
	return f
}

// folderOf returns the name of the folder of the experiment that an item is a part of: what is above the cells, the
// repeats and the aggregates; of a run of its own the folder above it.
func folderOf(it *item) string {
	parts := strings.Split(it.name, "/")
	for i, part := range parts {
		if i > 0 && (part == "aggregate" || part == "profile_runs" || strings.HasPrefix(part, "search_iter_")) {
			return strings.Join(parts[:i], "/")
		}
	}
	if len(parts) == 1 {
		return it.name
	}
	return strings.Join(parts[:len(parts)-1], "/")
}

func (f *figuresRead) set(tag, stat, unit string, v float64) {
	if !slices.Contains(chartStats, stat) || !artifact.Finite(v) {
		return
	}
	if f.values[tag] == nil {
		f.values[tag] = map[string]float64{}
	}
	f.values[tag][stat], f.units[tag] = v, unit
}

func (f *figuresRead) readRun(data []byte) {
	figures, err := summary.ParseFigures(data)
	if err != nil {
		return
	}
	for _, b := range figures.Blocks {
		for stat, v := range b.Stats {
			f.set(b.Tag, stat, b.Unit, v)
		}
	}
	f.configuration("", jsonscan.Find(data, "input_config"), 0)
}

// configuration takes the leaves of a configuration, down to a bounded depth.
func (f *figuresRead) configuration(path string, raw []byte, depth int) {
	const deepest, most = 6, 400
	if len(raw) == 0 || depth > deepest || len(f.columns) > most {
		return
	}
	switch raw[0] {
	case '{':
		for m := range jsonscan.Members(raw) {
			if name := string(m.Key); !artifact.IsSensitiveName(name) {
				f.configuration(strings.TrimPrefix(path+"."+name, "."), m.Value, depth+1)
			}
		}
	case '[':
		i := 0
		for element := range jsonscan.Elements(raw) {
			f.configuration(path+"["+strconv.Itoa(i)+"]", element, depth+1)
			i++
		}
	case '"':
		f.columns[path] = jsonscan.Text(raw)
	case 'n':
	default:
		var v any
		if json.Unmarshal(raw, &v) == nil {
			f.columns[path] = v
		}
	}
}

func (f *figuresRead) readRepeats(data []byte) {
	var file struct {
		Metrics map[string]repeated `json:"metrics"`
	}
	if json.Unmarshal(data, &file) != nil {
		return
	}
	units := map[string]string{}
	for key, m := range file.Metrics {
		units[key] = m.Unit
	}
	for _, m := range answer.Metrics(units) {
		of := file.Metrics[m.Key()]
		if of.Mean == nil {
			continue
		}
		f.set(m.Tag, m.Stat, of.Unit, *of.Mean)
		if of.Low != nil && of.High != nil {
			if f.intervals[m.Tag] == nil {
				f.intervals[m.Tag] = map[string][2]float64{}
			}
			f.intervals[m.Tag][m.Stat] = [2]float64{*of.Low, *of.High}
		}
	}
}

// notColumns are leaves of configurations by which nobody groups.
var notColumns = []string{"url", "seed", "dir", "path", "start", "end", "benchmark_id", "run", "artifacts", "runtime"}

// varying returns the columns that have more than one value among runs, and at most the number of values that a legend
// can show.
func varying(runs []charted) []string {
	seen := map[string]map[string]bool{}
	for i := range runs {
		for name, value := range runs[i].Columns {
			if seen[name] == nil {
				seen[name] = map[string]bool{}
			}
			seen[name][fmt.Sprint(value)] = true
		}
	}
	var out []string
	for name, values := range seen {
		skipped := slices.ContainsFunc(notColumns, func(of string) bool {
			return strings.Contains(strings.ToLower(name), of) && name != "run" && name != "folder"
		})
		if (len(values) > 1 || columnPlace(name) < 4) && !skipped {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if p, q := columnPlace(a), columnPlace(b); p != q {
			return p - q
		}
		return strings.Compare(a, b)
	})
	const most = 40
	return out[:min(len(out), most)]
}

// columnPlace sorts the columns that people know before the leaves of configurations.
func columnPlace(name string) int {
	usual := []string{"folder", "model", "concurrency", "request rate", "load", "endpoint", "run", "label"}
	if i := slices.Index(usual, name); i >= 0 {
		return i
	}
	return 99
}

// chartData answers with the figures of runs.
func (s *Server) chartData(w http.ResponseWriter, r *http.Request) {
	sh := s.current()
	items, err := chosen(sh, r.URL.Query().Get("runs"))
	if err != nil {
		s.fail(w, r, http.StatusNotFound, "These charts cannot be shown", err.Error())
		return
	}
	out := struct {
		Runs    []charted     `json:"runs"`
		Metrics []chartMetric `json:"metrics"`
		Columns []string      `json:"columns"`
		Left    []string      `json:"left"`
	}{Runs: []charted{}, Left: []string{}}
	known := map[string]*chartMetric{}
	for _, it := range plotted(sh, items) {
		f := s.figuresRead.get(it)
		if len(f.values) == 0 {
			out.Left = append(out.Left, it.name)
			continue
		}
		c := charted{ID: it.id, Name: it.name, Kind: kindName(it), Columns: f.columns, Values: f.values,
			Intervals: f.intervals}
		for _, m := range it.facts.Values {
			if name := library.ParameterName(m.Key); name != "concurrency" && name != "rate" {
				c.Series += name + " " + answer.Label(m.Value) + " "
			}
		}
		shown, _ := state(&it.facts)
		c.State, c.Level = shown.Title, shown.Level
		if !it.facts.Started.IsZero() {
			c.Started = it.facts.Started.UnixMilli()
		}
		out.Runs = append(out.Runs, c)
		for tag, stats := range f.values {
			m := known[tag]
			if m == nil {
				m = newChartMetric(tag, f.units[tag])
				known[tag] = m
			}
			for stat := range stats {
				if !slices.Contains(m.Stats, stat) {
					m.Stats = append(m.Stats, stat)
				}
			}
		}
	}
	for _, m := range known {
		slices.SortFunc(m.Stats, func(a, b string) int {
			return slices.Index(chartStats, a) - slices.Index(chartStats, b)
		})
		out.Metrics = append(out.Metrics, *m)
	}
	slices.SortFunc(out.Metrics, func(a, b chartMetric) int {
		if a.order != b.order {
			return a.order - b.order
		}
		return strings.Compare(a.Tag, b.Tag)
	})
	out.Columns = varying(out.Runs)
	for i := range out.Runs { // the others say nothing, and make the answer long
		kept := map[string]any{}
		for _, name := range out.Columns {
			if v, ok := out.Runs[i].Columns[name]; ok {
				kept[name] = v
			}
		}
		out.Runs[i].Columns = kept
	}
	answerJSON(w, out)
}

func newChartMetric(tag, unit string) *chartMetric {
	m := &chartMetric{Tag: tag, Header: tag, Unit: unit, Category: category(tag), order: 1 << 20}
	if d, ok := metrics.Lookup(tag); ok {
		m.Header, m.Larger, m.order = d.Header, d.LargerIsBetter(), metrics.Place(d.Order)
	}
	if tag == perGPU {
		m.Header, m.Larger, m.order = "Output Token Throughput per GPU", true, 0
	}
	return m
}

// category sorts metrics into the groups of the choice.
func category(tag string) string {
	for _, c := range []struct {
		name  string
		parts []string
	}{
		{"Throughput", []string{"throughput", "goodput", "jobs_per_hour"}},
		{"Latency", []string{"latency", "time_to", "ttft", "itl", "lag", "duration"}},
		{"Counts and lengths", []string{"count", "sequence_length", "tokens", "total_"}},
		{"GPU", []string{"gpu", "memory", "power", "temperature", "energy"}},
	} {
		if slices.ContainsFunc(c.parts, func(p string) bool { return strings.Contains(tag, p) }) {
			return c.name
		}
	}
	return "Other"
}

// plotted returns the items that charts have a point for: those that were chosen, or all. Sweeps and searches stand for
// their cells; runs whose repeats are there too are left out.
func plotted(sh *shelf, items []*item) []*item {
	if len(items) == 0 {
		for i := range sh.items {
			items = append(items, &sh.items[i])
		}
	}
	var out []*item
	add := func(it *item) {
		if it.folder.File != "" && (it.folder.Kind == library.Run || it.folder.Kind == library.Repeats) &&
			!slices.Contains(out, it) {
			out = append(out, it)
		}
	}
	all := len(items) == len(sh.items)
	for _, it := range items {
		switch {
		case all && it.folder.Shadow:
		case it.folder.Kind == library.Sweep || it.folder.Kind == library.Search:
			repeats, runs := sh.below(it)
			for _, p := range append(repeats, runs...) {
				if !p.folder.Shadow {
					add(p)
				}
			}
		default:
			add(it)
		}
	}
	return out
}

// configuration answers with the resolved configuration of a run as YAML.
func (s *Server) configuration(w http.ResponseWriter, _ *http.Request, _ *shelf, it *item) {
	text := ""
	if data, err := summary.ReadDocument(it.folder.File); err == nil {
		if raw := jsonscan.Find(data, "input_config"); raw != nil {
			text = yamlOf(raw)
		}
	}
	answerJSON(w, map[string]string{"configuration": text})
}
