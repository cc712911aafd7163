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

// State is everything that results depend on apart from the records: all summaries can be recomputed from it and the
// per-request file. It is written each second during the run.
type State struct {
	// Status is StateRunning in the file of a run that was killed.
	Status    string `json:"status"`
	UpdatedNS int64  `json:"updated_ns"`
	// ExportLevel reports whether there are records, Prefix where files are.
	ExportLevel string `json:"export_level"`
	Prefix      string `json:"prefix,omitempty"`
	Run
	// Window is when the profiling phase ran, Config how metrics are computed.
	Window
	Config metrics.Config `json:"-"`
	Phases []PhaseState   `json:"phases"`
	// Warmup are the results of the warm-up; nil when there was none, or it has not ended.
	Warmup []metrics.Metric `json:"-"`
	// WarmupRecords are the lines that Warmup is computed from; none where they would be too many.
	WarmupRecords []json.RawMessage `json:"warmup_records,omitempty"`
	// ClientHealth is judged when the run is over.
	ClientHealth artifact.Object `json:"client_health,omitzero"`
	// GPU is known when the run is over, nil where no GPU was looked for.
	GPU *GPUState `json:"gpu_telemetry,omitempty"`
	// Ledger is what the server counted, known when the run is over; nil where no counters of one were scraped.
	Ledger *Ledger `json:"server_totals,omitempty"`
	// Servers is how busy the servers were in the profiling phase, known when the run is over; nil where they did not
	// say so.
	Servers *servermetrics.Load `json:"server_load,omitempty"`
	// Stages are how long requests of the profiling phase were in the stages of the servers, in the same way.
	Stages *servermetrics.Stages `json:"server_stages,omitempty"`
	// Outside are the figures of plug-ins, known when the run is over.
	Outside []OutsideMetric `json:"plugin_metrics,omitempty"`
	// Recorded is what the recording that was played is compared by, known when the run is over; nil where none was.
	Recorded *Recorded `json:"recorded,omitempty"`
	// Looks are the observations of the client over time, at wall clock times.
	Looks []trust.Interval `json:"client_looks,omitempty"`
	// FailIf are the conditions under which the result is a failure, as written.
	FailIf  []string     `json:"fail_if,omitempty"`
	Console ConsoleState `json:"console"`
}

// Window is when a phase ran, and over what network.
type Window = metrics.RunFacts

// PhaseState has the times of a phase, in wall epoch ns, and the counts of its requests.
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
	// What a plan of arrivals asked for and what became of it, as in Counts.
	SkippedArrivals  int64   `json:"skipped_arrivals,omitempty"`
	DroppedByCatchup int64   `json:"dropped_by_catchup,omitempty"`
	TargetRate       float64 `json:"target_rate,omitempty"`
	DeliveredRate    float64 `json:"delivered_rate,omitempty"`
}

// ConsoleState is what the final report shows in addition to the result.
type ConsoleState struct {
	ShowTrace bool     `json:"show_trace_timing,omitempty"`
	Groups    []string `json:"groups,omitempty"`
	// Notes are the lines about the client's own influence. URLs are the endpoints, without secrets.
	Notes         []string                    `json:"notes,omitempty"`
	URLs          []string                    `json:"urls,omitempty"`
	ServerMetrics []servermetrics.Highlight   `json:"server_metrics,omitempty"`
	Speculation   []servermetrics.Speculation `json:"speculation,omitempty"`
	Searches      []Search                    `json:"searches,omitempty"`
}

// Search is what a phase found that searched its load.
type Search struct {
	Phase    string `json:"phase"`
	Variable string `json:"variable"`
	// Status is completed, incomplete or failed, Reason why the search ended.
	Status string `json:"status"`
	Reason string `json:"reason"`
	// LastPassing is the load that met all limits, FirstFailing the one that did not; nil for none. Value is the last
	// load that was applied.
	LastPassing  *float64 `json:"last_passing_value,omitempty"`
	FirstFailing *float64 `json:"first_failing_value,omitempty"`
	Value        float64  `json:"control_value"`
	// Throughput is requests per second with LastPassing.
	Throughput float64 `json:"throughput"`
	// Windows were measured; SustainPassed of SustainWindows passed while the load was held.
	Windows        int           `json:"windows"`
	SustainWindows int           `json:"sustain_windows"`
	SustainPassed  int           `json:"sustain_passed_windows"`
	Limits         []SearchLimit `json:"limits"`
}

// SearchLimit is a limit of a search, and what was measured with the two loads next to it; nil where that is not known.
type SearchLimit struct {
	Metric string `json:"metric"`
	Stat   string `json:"stat"`
	// Op is lt, le, gt or ge.
	Op        string   `json:"op"`
	Threshold float64  `json:"threshold"`
	Unit      string   `json:"unit,omitempty"`
	Passing   *float64 `json:"passing,omitempty"`
	Failing   *float64 `json:"failing,omitempty"`
}

// stateFile is the state as its file has it.
type stateFile struct {
	SchemaVersion string `json:"schema_version"`
	*State
	Config json.RawMessage `json:"metrics_config"`
	Warmup json.RawMessage `json:"warmup_metrics,omitempty"`
}

// Encode returns the state file. Blocks makes the objects of metric results, as the summary has them.
func (s *State) Encode(blocks func([]metrics.Metric) artifact.Object) ([]byte, error) {
	written := *s
	written.Phases, written.WarmupRecords = append([]PhaseState{}, s.Phases...), nil
	f := stateFile{SchemaVersion: StateVersion, State: &written}
	var err error
	if f.Config, err = artifact.AppendJSON(nil, s.Config.Object()); err != nil {
		return nil, err
	}
	if s.Warmup != nil {
		if f.Warmup, err = artifact.AppendJSON(nil, blocks(s.Warmup)); err != nil {
			return nil, err
		}
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
func appendRecords(document []byte, lines []json.RawMessage) []byte {
	if len(lines) == 0 {
		return document
	}
	document = append(bytes.TrimSuffix(document, []byte("\n}\n")), ",\n  \"warmup_records\": ["...)
	for i, line := range lines {
		if i > 0 {
			document = append(document, ',')
		}
		document = append(append(document, "\n    "...), line...)
	}
	return append(document, "\n  ]\n}\n"...)
}

// major returns the part of a version before the first dot.
func major(version string) string {
	m, _, _ := strings.Cut(version, ".")
	return m
}

// ParseState reads a state file.
func ParseState(data []byte) (*State, error) {
	f := stateFile{State: new(State)}
	err := json.Unmarshal(data, &f)
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped):
		return nil, fmt.Errorf("its member %s cannot be a JSON %s", mistyped.Field, mistyped.Value)
	case err != nil:
		return nil, err
	case f.SchemaVersion == "":
		return nil, errors.New("it has no schema_version")
	case major(f.SchemaVersion) != major(StateVersion):
		return nil, fmt.Errorf("it has the schema_version %.20s, and this program reads %s.x: use the version that "+
			"made the run, %.40s",
			f.SchemaVersion, major(StateVersion), f.AIPerfVersion)
	case f.Status != StateRunning && f.Status != StateFinished:
		return nil, fmt.Errorf("its status is %.40q", f.Status)
	case f.Config == nil:
		return nil, errors.New("it has no metrics_config")
	}
	s := f.State
	if s.Config, err = metrics.ParseConfig(f.Config); err != nil {
		return nil, fmt.Errorf("metrics_config: %w", err)
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
	s.Warmup = []metrics.Metric{}
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
		return nil, fmt.Errorf("%s: not the state of a run: %w", path, err)
	}
	return s, nil
}
