package library

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/answer"
	"aiperf/internal/result/judge"
	"aiperf/internal/result/summary"
)

// Facts are what a list of runs shows of a folder. What is not known is the zero value; figures that are not known are
// absent.
type Facts struct {
	// Model has the names of the models, Endpoint the type, URLs the addresses without secrets.
	Model, Endpoint string
	URLs            []string
	Streaming       bool
	// Load is how requests were sent, in words; Concurrency and Rate are 0 where they do not apply.
	Load              string
	Concurrency, Rate float64
	Started, Ended    time.Time
	// Version is that of the program that measured; Original reports that it was the original.
	Version  string
	Original bool
	// Origin is the tool that measured, with its version, if it is another one; Version is "" then.
	Origin      string
	BenchmarkID string
	// Label is the name of the run in its series, Values are what the sweep set.
	Label  string
	Values artifact.Object
	// Verdict is that on the client's own influence, "" if the file has none. Incomplete is the reason why the figures
	// cover only a part.
	Verdict, Incomplete string
	WasCancelled        bool
	// State is what is to be known of a run first, and Finding says it; zero of what is no run.
	State   judge.State
	Finding judge.Finding
	GPUs    int
	// GPUModel is the name of their model, "" where they differ or it is not known.
	GPUModel string
	// Figures are those of [KeyFigures] by tag and statistic, such as time_to_first_token_p99.
	Figures map[string]float64
	// Ranges are the smallest and the largest value of a key figure among the cells of a sweep or a search.
	Ranges map[string][2]float64
	// Runs is the number of runs behind repeats, a sweep or a search, Cells that of their configurations, Failed that
	// of the runs that failed.
	Runs, Cells, Failed int
	// Varied are the names of what was swept or searched. Outcome says how a search ended.
	Varied  []string
	Planner string
	Outcome string
	// Running reports that the folder is being written. Sent is how many requests were sent so far, Live the address of
	// the live page, "" where it is not known.
	Running bool
	Sent    int64
	Live    string
	// Fault says why the folder cannot be read, or which part of it; "" if it can.
	Fault string
}

// KeyFigures are the figures that lists show, in their order: a figure of several runs is the mean.
var KeyFigures = []answer.Metric{
	figure("output_token_throughput", "avg"), figure("request_throughput", "avg"), figure(metrics.AccuracyOverall, "avg"),
	figure("time_to_first_token", "p50"), figure("time_to_first_token", "p99"),
	figure("inter_token_latency", "p50"), figure("inter_token_latency", "p99"),
	figure("request_latency", "p50"), figure("request_latency", "p99"),
	figure("output_token_throughput_per_user", "avg"), figure("goodput", "avg"),
	figure("jobs_per_hour", "avg"), figure("job_latency", "p50"),
	figure("input_sequence_length", "avg"), figure("output_sequence_length", "avg"),
	figure("request_count", "avg"), figure("error_request_count", "avg"), figure("benchmark_duration", "avg"),
}

func figure(tag, stat string) answer.Metric { return answer.NewMetric(tag, stat, "") }

// keyTags are the metrics of KeyFigures.
var keyTags = func() map[string][]string {
	tags := map[string][]string{}
	for _, m := range KeyFigures {
		tags[m.Tag] = append(tags[m.Tag], m.Stat)
	}
	return tags
}()

// ReadAll reads the facts of folders, on all cores. Those of repeats and of sweeps take from their runs what their own
// files do not say.
func ReadAll(folders []Folder) []Facts {
	out := make([]Facts, len(folders))
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(folders)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(folders); i = int(next.Add(1)) - 1 {
				out[i] = Read(&folders[i])
			}
		})
	}
	group.Wait()
	Inherit(folders, out)
	return out
}

// Inherit gives the facts of experiments what their runs have in common, and the worst state of any.
func Inherit(folders []Folder, facts []Facts) {
	states := make([][]judge.State, len(folders))
	for i := range folders {
		for p := folders[i].Parent; p >= 0; p = folders[p].Parent {
			if folders[i].Kind == Run {
				facts[p].takeFrom(&facts[i])
				states[p] = append(states[p], facts[i].State)
			}
		}
	}
	for i := range folders {
		if folders[i].Kind != Run && facts[i].Incomplete == "" {
			facts[i].State = judge.Worst(states[i]...)
		}
	}
}

// takeFrom takes the facts of a run that the experiment does not have itself.
func (f *Facts) takeFrom(run *Facts) {
	f.Model, f.Endpoint = cmp.Or(f.Model, run.Model), cmp.Or(f.Endpoint, run.Endpoint)
	if f.URLs == nil {
		f.URLs = run.URLs
	}
	f.Streaming = f.Streaming || run.Streaming
	f.Original = f.Original || run.Original
	f.Version, f.Origin = cmp.Or(f.Version, run.Version), cmp.Or(f.Origin, run.Origin)
	if run.GPUs > 0 {
		f.oneModel(run.GPUModel)
	}
	f.GPUs = max(f.GPUs, run.GPUs)
	if run.Running {
		f.Live = cmp.Or(f.Live, run.Live)
	}
	if f.Started.IsZero() || !run.Started.IsZero() && run.Started.Before(f.Started) {
		f.Started = run.Started
	}
	if run.Ended.After(f.Ended) {
		f.Ended = run.Ended
	}
	if f.Load == "" && len(f.Varied) == 0 {
		f.Load, f.Concurrency, f.Rate = run.Load, run.Concurrency, run.Rate
	}
}

// Read reads the facts of a folder. What cannot be read is its Fault.
func Read(d *Folder) Facts {
	var f Facts
	var err error
	switch {
	case d.File == "" && d.Kind != Run:
		if f.Running = d.Running; !f.Running {
			f.Incomplete = "the " + string(d.Kind) + " ended before its results were written: its process was killed"
		}
	case d.Kind == Repeats:
		err = f.readRepeats(d.File)
	case d.Kind == Sweep:
		err = f.readSweep(d.File)
	case d.Kind == Search:
		err = f.readSearch(d)
	case d.File != "":
		err = f.readRun(d.File)
	case d.HasState:
		err = f.readState(d)
	case d.Running:
		f.Running = true
	default:
		err = errors.New("it has records and no summary: the run did not end, or its summary was removed")
	}
	if err != nil {
		f.Fault = err.Error()
	}
	return f
}

// readState reads what the state of a run says that has no summary.
func (f *Facts) readState(d *Folder) error {
	s, err := summary.ReadState(d.Files.Path(stateKind))
	if err != nil {
		return err
	}
	config, err := artifact.AppendJSON(nil, s.Run.InputConfig)
	if err != nil {
		return err
	}
	f.configuration(config)
	f.Version, f.BenchmarkID = s.Run.AIPerfVersion, s.Run.BenchmarkID
	if s.Run.StartNS != 0 {
		f.Started = time.Unix(0, s.Run.StartNS).UTC()
	}
	if f.Running = d.Running; f.Running {
		f.Sent = s.Counts.Sent
		f.Live = cmp.Or(f.Live, liveAddress(s.Run.RunInfo.CLICommand))
		return nil
	}
	f.State = judge.State{Code: judge.StateIncomplete, Level: judge.Bad, Title: "Incomplete"}
	f.Incomplete = "the run was killed; its last state is of " +
		time.Unix(0, s.UpdatedNS).UTC().Format(time.RFC3339)
	return fmt.Errorf("it has no summary: aiperf report %s computes it from the records", d.Path)
}

// readRun reads a summary, of this program or of the original.
func (f *Facts) readRun(path string) error {
	data, err := summary.ReadDocument(path)
	if err != nil {
		return err
	}
	if !jsonscan.Valid(data) {
		if len(bytes.TrimSpace(data)) == 0 {
			return fmt.Errorf("%s is empty", path)
		}
		return fmt.Errorf("%s is damaged: not a JSON document, perhaps truncated", path)
	}
	f.Figures = map[string]float64{}
	metrics := 0
	for m := range jsonscan.Members(data) {
		if jsonscan.IsNull(m.Value) {
			continue
		}
		switch string(m.Key) {
		case "aiperf_version":
			f.Version = jsonscan.Text(m.Value)
		case "benchmark_id":
			f.BenchmarkID = jsonscan.Text(m.Value)
		case "origin":
			f.Origin = summary.Origin{Tool: jsonscan.FindText(m.Value, "tool"),
				Version: jsonscan.FindText(m.Value, "version")}.String()
		case "input_config":
			f.configuration(m.Value)
		case "run_info":
			f.runInfo(m.Value)
		case "provenance":
			f.Original = false
		case "client_health":
			f.Verdict = jsonscan.FindText(m.Value, "verdict")
		case "judgement":
			f.judged(m.Value)
		case "was_cancelled":
			f.WasCancelled = string(m.Value) == "true"
		case "is_complete":
			if string(m.Value) == "false" {
				f.Incomplete = cmp.Or(f.Incomplete, "its summary does not say why")
			}
		case "incomplete_reason":
			f.Incomplete = jsonscan.Text(m.Value)
		case "start_time":
			f.Started = instant(jsonscan.Text(m.Value))
		case "end_time":
			f.Ended = instant(jsonscan.Text(m.Value))
		case "telemetry_data":
			for endpoint := range jsonscan.Members(jsonscan.Find(m.Value, "endpoints")) {
				for gpu := range jsonscan.Members(jsonscan.Find(endpoint.Value, "gpus")) {
					f.oneModel(jsonscan.FindText(gpu.Value, "gpu_name"))
					f.GPUs++
				}
			}
		case "records":
			for inner := range jsonscan.Members(m.Value) {
				metrics += f.metric(inner)
			}
		default:
			metrics += f.metric(m)
		}
	}
	f.Original = f.Origin == "" && jsonscan.Find(data, "provenance") == nil &&
		jsonscan.Find(data, "client_health") == nil
	if metrics == 0 {
		return fmt.Errorf("%s is not a summary of a run: it contains no metric", path)
	}
	if f.State.Code == "" { // of another program
		figures, err := summary.ParseFigures(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f.State, f.Finding = figures.Judgement.State, figures.Judgement.First()
	}
	return nil
}

// judged takes the judgement of a file. One of another shape is none.
func (f *Facts) judged(raw []byte) {
	var j judge.Judgement
	if json.Unmarshal(raw, &j) == nil && len(j.Findings) > 0 {
		f.State, f.Finding = j.State, j.First()
	}
}

// metric takes a member that is a metric; it returns how many that is.
func (f *Facts) metric(m jsonscan.Member) int {
	if len(m.Value) == 0 || m.Value[0] != '{' {
		return 0
	}
	stats, wanted := keyTags[string(m.Key)]
	isMetric := 0
	for s := range jsonscan.Members(m.Value) {
		if string(s.Key) == "unit" {
			if isMetric = 1; !wanted {
				return 1
			}
		}
		if wanted && slices.Contains(stats, string(s.Key)) {
			if v, ok := number(s.Value); ok {
				f.Figures[string(m.Key)+"_"+string(s.Key)] = v
			}
		}
	}
	return isMetric
}

func (f *Facts) runInfo(raw []byte) {
	f.Label = jsonscan.FindText(raw, "run_label")
	if values := jsonscan.Find(raw, "variation_values"); len(values) > 2 {
		f.Values, _ = artifact.ParseObject(values) // a text of another shape is none
	}
}

// readRepeats reads the aggregate of repeats.
func (f *Facts) readRepeats(path string) error {
	data, err := bounded.ReadFile(path)
	if err != nil {
		return err
	}
	metadata := jsonscan.Find(data, "metadata")
	if !jsonscan.Valid(data) || metadata == nil {
		return fmt.Errorf("%s is damaged: not the aggregate of repeats", path)
	}
	f.Version = jsonscan.FindText(data, "aiperf_version")
	f.Model = jsonscan.FindText(metadata, "model")
	runs, _ := number(jsonscan.Find(metadata, "num_profile_runs"))
	good, _ := number(jsonscan.Find(metadata, "num_successful_runs"))
	f.Runs, f.Failed, f.Cells = int(runs), int(runs-good), 1
	f.Label = jsonscan.FindText(metadata, "variation_label")
	if values := jsonscan.Find(metadata, "variation_values"); len(values) > 2 {
		f.Values, _ = artifact.ParseObject(values)
		for _, m := range f.Values {
			if name := ParameterName(m.Key); name == "concurrency" {
				f.Concurrency, _ = asNumber(m.Value)
				f.Load = "concurrency " + answer.Label(m.Value)
			}
		}
	}
	f.Figures = map[string]float64{}
	for m := range jsonscan.Members(jsonscan.Find(data, "metrics")) {
		if v, ok := number(jsonscan.Find(m.Value, "mean")); ok && isKey(string(m.Key)) {
			f.Figures[string(m.Key)] = v
		}
	}
	return nil
}

func isKey(key string) bool {
	return slices.ContainsFunc(KeyFigures, func(m answer.Metric) bool { return m.Key() == key })
}

// readSweep reads the aggregate of a sweep.
func (f *Facts) readSweep(path string) error {
	data, err := bounded.ReadFile(path)
	if err != nil {
		return err
	}
	s, err := answer.Read(data)
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	f.ofSweep(s)
	runs, _ := number(jsonscan.Find(data, "num_profile_runs"))
	f.Runs = int(runs)
	return nil
}

// ofSweep takes what a sweep says.
func (f *Facts) ofSweep(s *answer.Sweep) {
	f.Cells, f.Failed = len(s.Cells), len(s.Failures)
	f.Ranges = rangesOf(s)
	for _, p := range s.Parameters {
		f.Varied = append(f.Varied, p.Name)
	}
}

// rangesOf returns the smallest and the largest value of each key figure among the cells.
func rangesOf(s *answer.Sweep) map[string][2]float64 {
	ranges := map[string][2]float64{}
	for i := range s.Cells {
		for _, m := range KeyFigures {
			v, ok := s.Cells[i].Figure(m.Key())
			if !ok {
				continue
			}
			span, ok := ranges[m.Key()]
			if !ok {
				span = [2]float64{v.Mean, v.Mean}
			}
			ranges[m.Key()] = [2]float64{min(span[0], v.Mean), max(span[1], v.Mean)}
		}
	}
	return ranges
}

// readSearch reads the history of a search.
func (f *Facts) readSearch(d *Folder) error {
	data, err := bounded.ReadFile(d.File)
	if err != nil {
		return err
	}
	s, err := answer.ReadSearch(data)
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", d.File, err)
	}
	f.ofSweep(s)
	if d.Aggregate != "" { // which has the figures of the cells
		if data, err := bounded.ReadFile(d.Aggregate); err == nil {
			if whole, err := answer.Read(data); err == nil {
				f.Ranges = rangesOf(whole)
			}
		}
	}
	f.Runs, f.Planner, f.Running = len(s.Cells), s.Search.Planner, d.Running
	f.Outcome = strings.ReplaceAll(s.Search.Reason, "_", " ")
	if b := s.Search.Boundary; b != nil {
		if largest, ok := b.Largest(); ok {
			f.Outcome = "up to " + answer.Label(largest)
			if len(f.Varied) == 1 {
				f.Outcome = f.Varied[0] + " " + f.Outcome
			}
		}
	}
	if f.Outcome == "" && !f.Running {
		f.Incomplete = "the search did not end"
	}
	return nil
}

// number reads a raw number.
func number(raw []byte) (float64, bool) {
	v, err := strconv.ParseFloat(string(raw), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// instant reads a time of a summary; the zero time if it is none. Summaries without a zone have that of the machine,
// which nobody knows any more: they count as UTC.
func instant(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// oneModel notes the model of a GPU, before it is counted.
func (f *Facts) oneModel(name string) {
	switch {
	case f.GPUs == 0:
		f.GPUModel = name
	case f.GPUModel != name:
		f.GPUModel = ""
	}
}
