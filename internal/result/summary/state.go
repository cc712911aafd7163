package summary

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/trust"
)

// StateVersion is the version of the state file's shape.
const StateVersion = "1.0"

// The states of a run.
const (
	StateRunning  = "running"
	StateFinished = "finished"
)

// State is everything that results depend on beside the records: with the per-request file it yields
// every summary again. It is written anew each second while the run goes on.
type State struct {
	// Status is StateRunning in the file of a run that was killed.
	Status    string
	UpdatedNS int64
	// ExportLevel reports whether there are records, Prefix where files are.
	ExportLevel, Prefix string
	Run                 Run
	// Config is how metrics are computed, Window when the profiling phase ran.
	Config metrics.Config
	Window metrics.RunFacts
	Phases []PhaseState
	// Warmup are the results of the warm-up; nil when there was none, or it has not ended.
	Warmup []metrics.Result
	// WarmupRecords are the lines that Warmup is computed from; none where they would be too many.
	WarmupRecords [][]byte
	// ClientHealth is judged when the run is over.
	ClientHealth artifact.Object
	// GPU is known when the run is over, nil where no GPU was looked for.
	GPU *GPUState
	// Ledger is what the server counted, known when the run is over; nil where no counters of one were scraped.
	Ledger *Ledger
	// Looks are what the client did over time, at wall instants.
	Looks []trust.Look
	// FailIf are the conditions under which the result is a failure, as written.
	FailIf  []string
	Console ConsoleState
}

// PhaseState is what became of a phase, in wall epoch ns and requests.
type PhaseState struct {
	Name          string `json:"name"`
	Kind          string `json:"kind"`
	StartNS       int64  `json:"start_ns,omitempty"`
	SentEndNS     int64  `json:"sent_end_ns,omitempty"`
	RequestsEndNS int64  `json:"requests_end_ns,omitempty"`
	Sent          int64  `json:"requests_sent"`
	Completed     int64  `json:"requests_completed"`
	Cancelled     int64  `json:"requests_cancelled"`
	Errors        int64  `json:"request_errors"`
	WasCancelled  bool   `json:"was_cancelled"`
}

// ConsoleState is what the final report shows beside the result.
type ConsoleState struct {
	ShowTrace bool     `json:"show_trace_timing,omitempty"`
	Groups    []string `json:"groups,omitempty"`
	// Notes are the lines about the client's own influence, URLs what was asked, without secrets.
	Notes         []string                    `json:"notes,omitempty"`
	URLs          []string                    `json:"urls,omitempty"`
	ServerMetrics []servermetrics.Highlight   `json:"server_metrics,omitempty"`
	Speculation   []servermetrics.Speculation `json:"speculation,omitempty"`
}

// stateFile is the shape of the state file.
type stateFile struct {
	SchemaVersion string            `json:"schema_version"`
	Status        string            `json:"status"`
	AIPerfVersion string            `json:"aiperf_version"`
	BenchmarkID   string            `json:"benchmark_id"`
	UpdatedNS     int64             `json:"updated_ns"`
	ExportLevel   string            `json:"export_level"`
	Prefix        string            `json:"prefix,omitempty"`
	EndpointTitle string            `json:"endpoint_title"`
	RunInfo       runInfoState      `json:"run_info"`
	WasCancelled  bool              `json:"was_cancelled"`
	Incomplete    string            `json:"incomplete_reason,omitempty"`
	StartNS       int64             `json:"start_ns,omitempty"`
	WindowStartNS int64             `json:"window_start_ns,omitempty"`
	WindowEndNS   int64             `json:"window_end_ns,omitempty"`
	NetworkRTTNS  *int64            `json:"network_rtt_ns,omitempty"`
	Counts        countsState       `json:"counts"`
	Phases        []PhaseState      `json:"phases"`
	Metrics       json.RawMessage   `json:"metrics_config"`
	InputConfig   json.RawMessage   `json:"input_config"`
	Provenance    json.RawMessage   `json:"provenance,omitempty"`
	Warmup        json.RawMessage   `json:"warmup_metrics,omitempty"`
	WarmupRecords []json.RawMessage `json:"warmup_records,omitempty"`
	ClientHealth  json.RawMessage   `json:"client_health,omitempty"`
	Submission    json.RawMessage   `json:"submission,omitempty"`
	Branches      json.RawMessage   `json:"branch_stats,omitempty"`
	Dataset       json.RawMessage   `json:"dataset,omitempty"`
	Source        json.RawMessage   `json:"source,omitempty"`
	GPU           *GPUState         `json:"gpu_telemetry,omitempty"`
	Ledger        *Ledger           `json:"server_totals,omitempty"`
	Looks         []trust.Look      `json:"client_looks,omitempty"`
	FailIf        []string          `json:"fail_if,omitempty"`
	Console       ConsoleState      `json:"console"`
}

type runInfoState struct {
	RandomSeed      *uint64         `json:"random_seed,omitempty"`
	Trial           int             `json:"trial"`
	RunLabel        string          `json:"run_label,omitempty"`
	VariationLabel  string          `json:"variation_label,omitempty"`
	VariationIndex  int             `json:"variation_index"`
	VariationValues json.RawMessage `json:"variation_values,omitempty"`
	CLICommand      string          `json:"cli_command"`
}

type countsState struct {
	Sent             int64   `json:"requests_sent"`
	CutOff           int64   `json:"requests_cancelled"`
	SkippedArrivals  int64   `json:"skipped_arrivals"`
	DroppedByCatchup int64   `json:"dropped_by_catchup"`
	TargetRate       float64 `json:"target_rate"`
	DeliveredRate    float64 `json:"delivered_rate"`
}

// Encode returns the state file. Blocks makes the objects of metric results, as the summary has them.
func (s *State) Encode(blocks func([]metrics.Result) artifact.Object) ([]byte, error) {
	r := &s.Run
	f := stateFile{
		SchemaVersion: StateVersion, Status: s.Status, AIPerfVersion: r.AIPerfVersion, BenchmarkID: r.BenchmarkID,
		UpdatedNS:   s.UpdatedNS,
		ExportLevel: s.ExportLevel, Prefix: s.Prefix, EndpointTitle: r.EndpointTitle,
		RunInfo: runInfoState{RandomSeed: r.Info.RandomSeed, Trial: r.Info.Trial, RunLabel: r.Info.RunLabel,
			VariationLabel: r.Info.VariationLabel, VariationIndex: r.Info.VariationIndex,
			CLICommand: r.Info.CLICommand},
		WasCancelled: r.WasCancelled, Incomplete: r.Incomplete, StartNS: r.StartNS,
		WindowStartNS: s.Window.WindowStartNS, WindowEndNS: s.Window.WindowEndNS,
		NetworkRTTNS: (*int64)(s.Window.NetworkRTT),
		Counts: countsState{r.Counts.Sent, r.Counts.CutOff, r.Counts.SkippedArrivals, r.Counts.DroppedByCatchup,
			r.Counts.TargetRate, r.Counts.DeliveredRate},
		Phases: append([]PhaseState{}, s.Phases...), GPU: s.GPU, Ledger: s.Ledger, Looks: s.Looks, FailIf: s.FailIf,
		Console: s.Console,
	}
	var warmup artifact.Object
	if s.Warmup != nil {
		warmup = append(artifact.Object{}, blocks(s.Warmup)...)
	}
	var submission, branches, dataset, source artifact.Object
	var err error
	if r.Submission != nil {
		submission, err = artifact.StructObject(*r.Submission)
	}
	if r.Branches != nil && err == nil {
		branches, err = artifact.StructObject(*r.Branches)
	}
	if r.Dataset != nil && err == nil {
		dataset, err = artifact.StructObject(*r.Dataset)
	}
	if r.Source != nil && err == nil {
		source, err = artifact.StructObject(*r.Source)
	}
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		into  *json.RawMessage
		value artifact.Object
	}{
		{&f.Metrics, s.Config.Object()}, {&f.InputConfig, append(artifact.Object{}, r.InputConfig...)},
		{&f.Provenance, r.Provenance}, {&f.Warmup, warmup},
		{&f.ClientHealth, s.ClientHealth}, {&f.Submission, submission}, {&f.Branches, branches}, {&f.Dataset, dataset},
		{&f.Source, source},
		{&f.RunInfo.VariationValues, r.Info.VariationValues},
	} {
		if part.value == nil {
			continue
		}
		text, err := artifact.AppendJSON(nil, part.value)
		if err != nil {
			return nil, err
		}
		*part.into = text
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err = e.Encode(&f); err != nil {
		return nil, err
	}
	return appendRecords(out.Bytes(), s.WarmupRecords), nil
}

// appendRecords puts the lines of the warm-up at the end of the document, each on a line as it is.
func appendRecords(document []byte, lines [][]byte) []byte {
	if len(lines) == 0 {
		return document
	}
	document = append(bytes.TrimSuffix(document, []byte("\n}\n")), ",\n  \"warmup_records\": [\n    "...)
	document = append(document, bytes.Join(lines, []byte(",\n    "))...)
	return append(document, "\n  ]\n}\n"...)
}

// major is what a version has before its first dot.
func major(version string) string {
	m, _, _ := strings.Cut(version, ".")
	return m
}

// ParseState reads a state file.
func ParseState(data []byte) (*State, error) {
	var f stateFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	switch {
	case f.SchemaVersion == "":
		return nil, errors.New("it has no schema_version")
	case major(f.SchemaVersion) != major(StateVersion):
		return nil, fmt.Errorf("it has the schema_version %.20s, and this program reads %s.x: take the version that "+
			"made the run, %.40s",
			f.SchemaVersion, major(StateVersion), f.AIPerfVersion)
	case f.Status != StateRunning && f.Status != StateFinished:
		return nil, fmt.Errorf("its status is %.40q", f.Status)
	case f.Metrics == nil:
		return nil, errors.New("it has no metrics_config")
	}
	s := &State{
		Status: f.Status, UpdatedNS: f.UpdatedNS, ExportLevel: f.ExportLevel, Prefix: f.Prefix,
		Run: Run{
			AIPerfVersion: f.AIPerfVersion, BenchmarkID: f.BenchmarkID,
			Info: RunInfo{RandomSeed: f.RunInfo.RandomSeed, Trial: f.RunInfo.Trial, RunLabel: f.RunInfo.RunLabel,
				VariationLabel: f.RunInfo.VariationLabel, VariationIndex: f.RunInfo.VariationIndex,
				CLICommand: f.RunInfo.CLICommand},
			WasCancelled: f.WasCancelled, Incomplete: f.Incomplete, EndpointTitle: f.EndpointTitle, StartNS: f.StartNS,
			Counts: Counts{Sent: f.Counts.Sent, CutOff: f.Counts.CutOff, SkippedArrivals: f.Counts.SkippedArrivals,
				DroppedByCatchup: f.Counts.DroppedByCatchup, TargetRate: f.Counts.TargetRate,
				DeliveredRate: f.Counts.DeliveredRate},
		},
		Phases: f.Phases, GPU: f.GPU, Ledger: f.Ledger, Looks: f.Looks, FailIf: f.FailIf, Console: f.Console,
	}
	s.Window.WindowStartNS, s.Window.WindowEndNS = f.WindowStartNS, f.WindowEndNS
	s.Window.SetNetworkRTT(f.NetworkRTTNS)
	var err error
	if s.Config, err = metrics.ParseConfig(f.Metrics); err != nil {
		return nil, fmt.Errorf("metrics_config: %w", err)
	}
	for _, part := range []struct {
		name string
		from json.RawMessage
		into *artifact.Object
	}{
		{"input_config", f.InputConfig, &s.Run.InputConfig}, {"provenance", f.Provenance, &s.Run.Provenance},
		{"client_health", f.ClientHealth, &s.ClientHealth},
		{"variation_values", f.RunInfo.VariationValues, &s.Run.Info.VariationValues},
	} {
		if part.from == nil {
			continue
		}
		if *part.into, err = artifact.ParseObject(part.from); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if f.Submission != nil {
		s.Run.Submission = new(Submission)
		if err := artifact.ParseStruct(f.Submission, s.Run.Submission); err != nil {
			return nil, fmt.Errorf("submission: %w", err)
		}
	}
	if f.Branches != nil {
		s.Run.Branches = new(Branches)
		if err := artifact.ParseStruct(f.Branches, s.Run.Branches); err != nil {
			return nil, fmt.Errorf("branch_stats: %w", err)
		}
	}
	if f.Dataset != nil {
		s.Run.Dataset = new(Dataset)
		if err := artifact.ParseStruct(f.Dataset, s.Run.Dataset); err != nil {
			return nil, fmt.Errorf("dataset: %w", err)
		}
	}
	if f.Source != nil {
		s.Run.Source = new(Source)
		if err := artifact.ParseStruct(f.Source, s.Run.Source); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	for _, line := range f.WarmupRecords {
		s.WarmupRecords = append(s.WarmupRecords, line)
	}
	return s, s.parseWarmup(f.Warmup)
}

func (s *State) parseWarmup(text json.RawMessage) error {
	if text == nil {
		return nil
	}
	members, err := objectMembers(text)
	if err != nil {
		return fmt.Errorf("warmup_metrics: %w", err)
	}
	s.Warmup = []metrics.Result{}
	for _, m := range members {
		r, err := metrics.RestoreResult(m.key, m.value)
		if err != nil {
			return fmt.Errorf("warmup_metrics: %w", err)
		}
		s.Warmup = append(s.Warmup, r)
	}
	return nil
}

// ReadState reads the state file at path.
func ReadState(path string) (*State, error) {
	data, err := bounded.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := ParseState(data)
	if err != nil {
		return nil, fmt.Errorf("%s: no state of a run: %w", path, err)
	}
	return s, nil
}
