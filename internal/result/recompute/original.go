package recompute

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/gpu"
	"aiperf/internal/wire/api"
	apis "aiperf/internal/wire/endpoint"
)

// notRecomputed lists what the records of the original do not have.
const notRecomputed = "This is a run of AIPerf %s, whose records contain only metrics: the ends of streams after " +
	"their last content (full_*), schedule delays, texts and the client's health are not recomputed"

// original is a run of the original program. It has no state file: the state is derived from its summary, its phases
// and its records.
type original struct {
	from config.Artifacts
	// firstNS is when the first request of the profiling phase was sent, where its time slices begin.
	firstNS     int64
	concurrency *float64
}

// originalSummary is what is read of the summary.
type originalSummary struct {
	Version      string          `json:"aiperf_version"`
	BenchmarkID  string          `json:"benchmark_id"`
	Input        json.RawMessage `json:"input_config"`
	RunInfo      summary.RunInfo `json:"run_info"`
	WasCancelled bool            `json:"was_cancelled"`
	IsComplete   *bool           `json:"is_complete"`
	Incomplete   string          `json:"incomplete_reason"`
	StartTime    string          `json:"start_time"`
	EndTime      string          `json:"end_time"`
	Succeeded    block           `json:"request_count"`
	Failed       block           `json:"error_request_count"`
	RTT          *block          `json:"network_rtt"`
}

type block struct {
	Avg float64 `json:"avg"`
}

// originalConfig is what is read of the configuration.
type originalConfig struct {
	Endpoint struct {
		Type         string `json:"type"`
		Streaming    bool   `json:"streaming"`
		ServerTokens bool   `json:"use_server_token_count"`
	} `json:"endpoint"`
	Phases []struct {
		Kind        string   `json:"kind"`
		Type        string   `json:"type"`
		Concurrency *float64 `json:"concurrency"`
	} `json:"phases"`
	Artifacts struct {
		SliceSeconds float64 `json:"slice_duration"`
		ShowTrace    bool    `json:"show_trace_timing"`
	} `json:"artifacts"`
	SLOs map[string]float64 `json:"slos"`
}

// findOriginal looks for a run of the original in a folder that holds no state file.
func findOriginal(dir string) (*original, *summary.State, error) {
	path, err := summary.FindSummary(dir)
	if err != nil {
		return nil, nil, err
	}
	o := &original{from: config.Artifacts{Dir: dir}}
	if name := filepath.Base(path); name != o.from.Name(config.SummaryJSON) {
		o.from.Prefix = strings.TrimSuffix(name, ".json")
	}
	records := o.from.Path(config.RecordsJSONL)
	if _, err := bounded.StatCompressed(records); err != nil {
		return nil, nil, fmt.Errorf("%s holds no %s: there are no records to compute anything from", dir,
			filepath.Base(records))
	}
	data, err := bounded.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	state, err := o.state(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return o, state, nil
}

// state derives the state from the summary.
func (o *original) state(data []byte) (*summary.State, error) {
	var s originalSummary
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("not a summary of a run: %w", err)
	}
	var c originalConfig
	if err := json.Unmarshal(s.Input, &c); err != nil {
		return nil, fmt.Errorf("input_config: %w", err)
	}
	input, err := artifact.ParseObject(s.Input)
	if err != nil {
		return nil, fmt.Errorf("input_config: %w", err)
	}
	d, _ := api.Lookup(strings.ReplaceAll(c.Endpoint.Type, "-", "_"))
	if d.Name == "" {
		return nil, fmt.Errorf("input_config: the endpoint type %.40q is not known to this version", c.Endpoint.Type)
	}
	state := &summary.State{
		Status: summary.StateFinished, ExportLevel: "records",
		Run: summary.Run{
			AIPerfVersion: s.Version, BenchmarkID: s.BenchmarkID, InputConfig: input, EndpointTitle: d.MetricsTitle,
			WasCancelled: s.WasCancelled,
			RunInfo:      s.RunInfo,
			Counts:       summary.Counts{Sent: int64(s.Succeeded.Avg) + int64(s.Failed.Avg)},
		},
	}
	if s.IsComplete != nil && !*s.IsComplete {
		state.Run.Incomplete = s.Incomplete
	}
	state.Console.ShowTrace = c.Artifacts.ShowTrace
	state.Console.Notes = []string{fmt.Sprintf(notRecomputed, s.Version)}
	if err := o.configure(state, &c, &d); err != nil {
		return nil, err
	}
	if s.RTT != nil {
		rtt := time.Duration(math.Round(s.RTT.Avg * 1e6))
		state.NetworkRTT = &rtt
	}
	return state, o.place(state, &s)
}

// configure sets how metrics are computed.
func (o *original) configure(state *summary.State, c *originalConfig, d *api.Descriptor) error {
	m := metrics.DefaultConfig()
	m.Streaming = c.Endpoint.Streaming && d.Streams
	apis.Capabilities(d, &m)
	m.UseServerTokens = c.Endpoint.ServerTokens
	m.SliceNS = int64(math.Round(c.Artifacts.SliceSeconds * 1e9))
	for tag, value := range c.SLOs {
		slo, err := metrics.NewSLO(tag, value)
		if err != nil {
			return fmt.Errorf("input_config: slos: %w", err)
		}
		m.SLOs = append(m.SLOs, slo)
	}
	var concurrencies []*float64
	for _, p := range c.Phases {
		if p.Kind == string(config.WarmupPhase) {
			continue
		}
		concurrencies = append(concurrencies, p.Concurrency)
		m.FixedSchedule = m.FixedSchedule || p.Type == "fixed_schedule"
		m.OpenLoop = m.OpenLoop || p.Type != "concurrency" && p.Type != "agentic_replay"
	}
	state.Config, o.concurrency = m, config.Common(concurrencies)
	return nil
}

// place finds when the profiling phase ran: to the nanosecond in the file of the phases, to the microsecond in the
// summary, which has the local time of the machine of the run; the first request gives its offset.
func (o *original) place(state *summary.State, s *originalSummary) error {
	var mu sync.Mutex
	_, err := recordfile.Read(o.from.Path(config.RecordsJSONL), recordfile.ParseOriginal, func(r *record.Record) {
		if r.Phase != record.PhaseProfiling {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if start := r.Facts[record.StartWall]; o.firstNS == 0 || start < o.firstNS {
			o.firstNS = start
		}
	})
	if err != nil {
		return err
	}
	phases, err := o.phases()
	if err != nil {
		return err
	}
	state.Phases = phases
	state.Window = summary.WindowOf(phases, string(config.ProfilingPhase), state.Window)
	if state.Window.WindowStartNS == 0 {
		start, startErr := time.Parse("2006-01-02T15:04:05.999999", s.StartTime)
		end, endErr := time.Parse("2006-01-02T15:04:05.999999", s.EndTime)
		if err := errors.Join(startErr, endErr); err != nil {
			return fmt.Errorf("start_time and end_time: %w", err)
		}
		offset := int64(time.Duration(o.firstNS - start.UnixNano()).Round(15 * time.Minute))
		state.Window.WindowStartNS, state.Window.WindowEndNS = start.UnixNano()+offset, end.UnixNano()+offset
	}
	state.Run.StartNS = state.Window.WindowStartNS
	return nil
}

// phases reads the phases from the file that a run of several phases has; there are none without the file.
func (o *original) phases() ([]summary.PhaseState, error) {
	path := o.from.Path(config.PhaseManifest)
	data, err := bounded.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var manifest summary.PhaseManifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out []summary.PhaseState
	for _, p := range manifest.Phases {
		out = append(out, summary.PhaseState{
			Name: p.Name, Kind: p.Kind, StartNS: p.StartNS, SentEndNS: p.EndNS, RequestsEndNS: p.EndNS,
			Sent: p.Total, Completed: p.Total, Errors: p.Failures, WasCancelled: p.WasCancelled,
		})
	}
	return out, nil
}

// addGPUs adds the figures of GPUs, computed from the recording of the run, if there is one.
func (o *original) addGPUs(result *summary.Result, grace time.Duration) error {
	store, err := gpu.ReadStore(o.from.Path(config.GPUTelemetryJSONL))
	if errors.Is(err, fs.ErrNotExist) || err == nil && store.Empty() {
		return nil
	}
	if err != nil {
		return err
	}
	window := gpu.Window{StartNS: result.StartNS, EndNS: result.EndNS, GraceNS: int64(grace)}
	load := result.GPULoad()
	load.Concurrency = o.concurrency
	result.AddGPUs(&summary.GPUState{
		Telemetry: store.Telemetry(window), Efficiency: store.Efficiency(window, load), Shown: true,
	})
	return nil
}
