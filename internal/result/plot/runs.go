package plot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/library"
	"aiperf/internal/result/summary"
)

// runColumns are the columns of runs that every one has.
var runColumns = []string{"run_name", "model", "concurrency", "request_count", "duration_seconds", "experiment_type",
	"experiment_group", "endpoint_type"}

// quantity is a statistic of a metric of a run.
type quantity struct {
	value float64
	// std and n are those of the trials behind an aggregate; n is 1 for a single run.
	std float64
	n   int
}

// Run is a finished run, or the aggregate of the trials of one configuration, as plots of several runs need it.
type Run struct {
	// Path is its folder, Name the name of that.
	Path, Name string
	// Trials is the number of runs behind an aggregate, 1 for a single run.
	Trials int
	folder library.Folder
	// columns are texts; concurrency is "" where it is not set.
	columns map[string]string
	load    string
	// metrics are by tag and statistic.
	metrics map[string]map[string]quantity
	units   map[string]string
	servers *serverFigures // read when it is needed
	// state and finding are the judgement of a run, or the worst state of the trials behind an aggregate.
	state   judge.State
	finding judge.Finding
}

// Found are the runs below paths.
type Found struct {
	folders []library.Folder
	facts   []library.Facts
}

// Find finds the runs below paths. A path below which there is none is an error.
func Find(paths []string) (*Found, error) {
	found, err := library.Find(paths...)
	if err != nil {
		return nil, err
	}
	plotted := plottedRuns(found)
	for i, root := range found.Roots {
		if !slices.ContainsFunc(plotted, func(d library.Folder) bool { return within(root, d.Path) }) {
			return nil, &NoRunsError{Path: root, Reason: whyNone(found, i)}
		}
	}
	out := &Found{}
	facts := library.ReadAll(found.Folders)
	for i, d := range found.Folders {
		if slices.ContainsFunc(plotted, func(p library.Folder) bool { return p.File == d.File }) {
			if d.Kind == library.Repeats && facts[i].GPUs == 0 {
				facts[i].GPUs = trialGPUs(found, facts, i)
			}
			out.folders, out.facts = append(out.folders, d), append(out.facts, facts[i])
		}
	}
	return out, nil
}

// plottedRuns returns the folders that are plotted. A single aggregate has nothing over time and nothing to be compared
// with: its trials are plotted in its place.
func plottedRuns(found *library.Found) []library.Folder {
	plotted := found.Plotted()
	if len(plotted) != 1 || plotted[0].Kind != library.Repeats {
		return plotted
	}
	var trials []library.Folder
	for _, d := range found.Folders {
		if d.Kind == library.Run && d.File != "" && d.HasRecords && within(plotted[0].Home, d.Path) {
			trials = append(trials, d)
		}
	}
	if len(trials) == 0 {
		return plotted
	}
	return trials
}

// trialGPUs returns the number of GPUs of the trials behind an aggregate: those below its home, or in the folders of its
// cell.
func trialGPUs(found *library.Found, facts []library.Facts, i int) (gpus int) {
	d := &found.Folders[i]
	experiment, cell, ofCell := strings.Cut(filepath.ToSlash(d.Path), "/aggregate/")
	for k := range found.Folders {
		o := &found.Folders[k]
		path := filepath.ToSlash(o.Path)
		switch {
		case o.Kind != library.Run:
		case ofCell && strings.HasPrefix(path, experiment+"/") && strings.Contains(path[len(experiment):]+"/", "/"+cell+"/"),
			!ofCell && within(d.Home, o.Path):
			gpus = max(gpus, facts[k].GPUs)
		}
	}
	return gpus
}

// NoRunsError reports a path below which nothing can be plotted.
type NoRunsError struct{ Path, Reason string }

func (e *NoRunsError) Error() string {
	return fmt.Sprintf("%s: no run to plot below it: %s", e.Path, e.Reason)
}

// whyNone says why no run below a root can be plotted.
func whyNone(found *library.Found, root int) string {
	for _, d := range found.Folders {
		switch {
		case d.Root != root || d.Kind != library.Run:
		case d.File == "":
			return fmt.Sprintf("%s has no summary: aiperf report %s computes it from the records", d.Path, d.Path)
		case !d.HasRecords:
			return fmt.Sprintf("%s has no file with a line for each request (--export-level records writes it)", d.Path)
		}
	}
	records, of := recordsName, summaryFileName
	return fmt.Sprintf("a run's folder has %s and %s", records, of)
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Several reports whether plots of several runs are drawn, rather than those of a single one.
func (f *Found) Several() bool { return len(f.folders) > 1 }

// Len returns the number of runs.
func (f *Found) Len() int { return len(f.folders) }

// Paths returns the folders of the runs.
func (f *Found) Paths() []string {
	var out []string
	for _, d := range f.folders {
		out = append(out, d.Path)
	}
	return out
}

// Load reads the summaries of the runs. What keeps one from being read goes to warn; if none can be read, that is an
// error.
func (f *Found) Load(c *Classification, warn func(string)) ([]*Run, error) {
	var out []*Run
	var last error
	for i := range f.folders {
		r, err := loadRun(&f.folders[i], &f.facts[i])
		if err != nil {
			warn(fmt.Sprintf("%s is left out: %v", f.folders[i].Path, err))
			last = err
			continue
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no run can be read; the last one: %w", last)
	}
	c.classify(out)
	return out, nil
}

func loadRun(d *library.Folder, facts *library.Facts) (*Run, error) {
	r := &Run{Path: d.Path, Name: filepath.Base(d.Home), Trials: 1, folder: *d, columns: map[string]string{},
		metrics: map[string]map[string]quantity{}, units: map[string]string{}, load: facts.Load,
		state: facts.State, finding: facts.Finding}
	if d.Home == d.Path || d.Kind == library.Run {
		r.Name = filepath.Base(d.Path)
	}
	if absolute, err := filepath.Abs(d.Path); err == nil && (r.Name == "." || r.Name == "..") {
		r.Name = filepath.Base(absolute)
	}
	if d.Foreign && d.Files.Prefix != "" {
		r.Name = d.Files.Prefix
	}
	data, err := summary.ReadDocument(d.File)
	if err != nil {
		return nil, err
	}
	if d.Kind == library.Repeats {
		err = r.aggregate(data)
	} else {
		err = r.single(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.File, err)
	}
	r.perGPU(facts.GPUs)
	r.columns["run_name"] = r.Name
	r.columns["model"] = cmp.Or(firstModel(facts.Model), "Unknown")
	r.columns["endpoint_type"] = facts.Endpoint
	if facts.Concurrency > 0 {
		r.columns["concurrency"] = number(facts.Concurrency)
	}
	for _, v := range facts.Values {
		r.columns[leaf(v.Key)] = answer.Label(v.Value)
	}
	r.columns["request_count"] = r.text("request_count")
	r.columns["duration_seconds"] = r.text("benchmark_duration")
	return r, nil
}

func firstModel(names string) string { return strings.TrimSpace(names) }

func leaf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// text returns a metric's value as that of a column.
func (r *Run) text(tag string) string {
	if v, ok := r.metrics[tag]["avg"]; ok {
		return number(v.value)
	}
	return ""
}

// single takes what the summary of a run says.
func (r *Run) single(data []byte) error {
	figures, err := summary.ParseFigures(data)
	if err != nil {
		return err
	}
	for _, b := range figures.Blocks {
		stats := map[string]quantity{}
		for name, v := range b.Stats {
			stats[name] = quantity{value: v, n: 1}
		}
		r.metrics[b.Tag], r.units[b.Tag] = stats, b.Unit
	}
	object, err := artifact.ParseObject(data)
	if err != nil {
		return err
	}
	if config, ok := object.Get("input_config"); ok {
		r.flatten("", config)
	}
	return nil
}

// flatten makes columns of the leaves of a value.
func (r *Run) flatten(path string, v any) {
	at := func(key string) string {
		if path == "" {
			return key
		}
		return path + "." + key
	}
	switch v := v.(type) {
	case artifact.Object:
		for _, m := range v {
			r.flatten(at(m.Key), m.Value)
		}
	case []any:
		for i, item := range v {
			r.flatten(at(strconv.Itoa(i)), item)
		}
	case nil:
	default:
		r.columns[path] = answer.Label(v)
	}
}

// aggregate takes what the aggregate of trials says: its flat figures, such as request_latency_p99, become statistics.
func (r *Run) aggregate(data []byte) error {
	var file struct {
		Metadata struct {
			Successful int `json:"num_successful_runs"`
		}
		Metrics map[string]struct {
			Mean, Std, SE *float64
			Unit          string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("not the aggregate of repeats: %w", err)
	}
	for key, m := range file.Metrics {
		cut := strings.LastIndexByte(key, '_')
		if m.Mean == nil || cut <= 0 {
			continue
		}
		tag, stat := key[:cut], key[cut+1:]
		q := quantity{value: *m.Mean, n: max(1, file.Metadata.Successful)}
		if m.Std != nil {
			q.std = *m.Std
			if m.SE != nil && *m.SE > 0 { // a figure may be that of some runs only
				q.n = int(math.Round(math.Pow(*m.Std / *m.SE, 2)))
			}
		}
		if r.metrics[tag] == nil {
			r.metrics[tag] = map[string]quantity{}
		}
		r.metrics[tag][stat], r.units[tag] = q, m.Unit
	}
	if len(r.metrics) == 0 {
		return fmt.Errorf("not the aggregate of repeats: it contains no metric")
	}
	r.Trials = max(1, file.Metadata.Successful)
	return nil
}

// perGPU adds the output token throughput of a GPU.
func (r *Run) perGPU(gpus int) {
	from := r.metrics["output_token_throughput"]
	if gpus < 1 || from == nil {
		return
	}
	share := map[string]quantity{}
	for stat, q := range from {
		q.value, q.std = q.value/float64(gpus), q.std/float64(gpus)
		share[stat] = q
	}
	r.metrics[perGPU], r.units[perGPU] = share, "tokens/sec/gpu"
}

// quantity returns what an axis shows of the run: the statistic that is asked for, else the average. A metric that has
// a single value has it under every statistic.
func (r *Run) quantity(a Axis) (quantity, bool) {
	stats := r.metrics[a.Metric]
	if stats == nil && (serverLike(a.Metric) || strings.HasPrefix(a.Source, FromServers)) {
		if v, ok := r.serverFigure(a); ok {
			return quantity{value: v, n: 1}, true
		}
		return quantity{}, false
	}
	stat := cmp.Or(a.Stat, standardStat)
	if q, ok := stats[stat]; ok {
		return q, artifact.Finite(q.value)
	}
	if stats == nil {
		if text, ok := r.columns[a.Metric]; ok {
			v, err := strconv.ParseFloat(text, 64)
			return quantity{value: v, n: 1}, err == nil
		}
		return quantity{}, false
	}
	for _, other := range [...]string{"avg", "value"} {
		if q, ok := stats[other]; ok && isScalar(stats) {
			return q, artifact.Finite(q.value)
		}
	}
	return quantity{}, false
}

// isScalar reports whether the statistics are those of a single value.
func isScalar(stats map[string]quantity) bool {
	for name := range stats {
		if name != "avg" && name != "value" && name != "sum" && name != "count" {
			return false
		}
	}
	return true
}

// hasOther reports whether the run has the metric with other statistics than the one that is asked for.
func (r *Run) hasOther(a Axis) bool { return len(r.metrics[a.Metric]) > 0 }

// column returns the value of a column, which may be a metric.
func (r *Run) column(name string) string {
	if name == "" {
		return ""
	}
	if text, ok := r.columns[name]; ok {
		return text
	}
	if name == "concurrency" {
		return ""
	}
	return r.text(name)
}

// title is how messages and legends name a metric.
func title(tag string) string {
	if tag == perGPU {
		return "Output Token Throughput Per GPU"
	}
	if d, ok := metrics.Lookup(tag); ok {
		return d.Header
	}
	if f, ok := gpuField(tag); ok {
		return f.Display
	}
	switch tag {
	case "throughput_tokens_per_sec":
		return "Output Token Throughput"
	case "request_number":
		return "Request"
	case "timestamp", "timestamp_s", "request_start_ns":
		return "Time"
	case "active_requests":
		return "Active Requests"
	}
	return tag
}
