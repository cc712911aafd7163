package run

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path"
	"path/filepath"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
)

// searches measure for phases that search their load what comes back, and write what they did. It is nil in a run
// without such a phase.
type searches struct {
	passive
	*base
	engine *engine
	// windows are those of the phases by index, nil for a phase without a search.
	windows []*window
	// The metrics that limits may be on; one that the run does not have is nil.
	latency, ttft, itl, tokens *metrics.Sample
	// files are by phase as well.
	files []*searchFile
}

// window is what came back in a phase since the loop took the one before.
type window struct {
	mu sync.Mutex
	load.Window
}

// newSearches returns the searches of a run, nil for none.
func newSearches(b *base, engine *engine, set *metrics.Set) *searches {
	s := &searches{base: b, engine: engine, windows: make([]*window, len(b.cfg.Phases)),
		files: make([]*searchFile, len(b.cfg.Phases))}
	any := false
	for i := range b.cfg.Phases {
		if b.cfg.Phases[i].Adaptive != nil {
			s.windows[i], any = &window{}, true
		}
	}
	if !any {
		return nil
	}
	for _, m := range []struct {
		tag  string
		into **metrics.Sample
	}{{"request_latency", &s.latency}, {"time_to_first_token", &s.ttft}, {"inter_token_latency", &s.itl},
		{"output_sequence_length", &s.tokens}} {
		if sample, ok := set.Sample(m.tag); ok {
			*m.into = &sample
		}
	}
	return s
}

// source returns the windows as load takes them.
func (s *searches) source() load.WindowSource {
	if s == nil {
		return nil
	}
	return s
}

// TakeWindow implements load.WindowSource.
func (s *searches) TakeWindow(phase int) load.Window {
	w := s.windows[phase]
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.Window
	w.Window = load.Window{Successes: make([]load.Sample, 0, len(taken.Successes))}
	return taken
}

// record implements part: the sample goes into the window of its phase.
func (s *searches) record(r *record.Record) {
	if s.windows[r.PhaseIndex] == nil || r.ContextOverflowSkip {
		return
	}
	w := s.windows[r.PhaseIndex]
	var one load.Sample
	if !r.IsError() {
		issued, _ := r.Get(record.CreditIssued)
		one = load.Sample{
			IssuedNS: r.Facts[record.StartWall] + issued, LatencyMS: inMilliseconds(s.latency, r),
			TTFTMS: inMilliseconds(s.ttft, r), ITLMS: inMilliseconds(s.itl, r),
		}
		if tokens := valueOf(s.tokens, r); tokens > 0 {
			one.OutputTokens = int64(tokens)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case r.WasCancelled:
		w.Cancelled++
	case r.IsError():
		w.Errors++
	default:
		w.Successes = append(w.Successes, one)
	}
}

// valueOf returns what a request says of a metric in its unit, NaN for nothing.
func valueOf(m *metrics.Sample, r *record.Record) float64 {
	if m == nil {
		return math.NaN()
	}
	var room [1]float64
	if list := m.AppendValues(room[:0], r); len(list) == 1 {
		return list[0]
	}
	return math.NaN()
}

// inMilliseconds is valueOf a time.
func inMilliseconds(m *metrics.Sample, r *record.Record) float64 { return valueOf(m, r) / 1e6 }

// searchFile is the file of the events of one phase.
type searchFile struct {
	out     *os.File
	written int // events
	err     error
}

// write appends the events that are not in the files yet, and logs what was decided.
func (s *searches) write() {
	if s == nil {
		return
	}
	for _, r := range s.engine.Searches() {
		f := s.files[r.Phase]
		if f == nil {
			f = &searchFile{}
			s.files[r.Phase] = f
			f.out, f.err = createBelow(s.path(r.Phase, report.SearchEvents))
			f.err = errors.Join(f.err, s.writeManifest())
		}
		for _, event := range r.Events[f.written:] {
			f.add(&event)
			s.say(&event)
		}
	}
}

func (f *searchFile) add(e *load.AdaptiveEvent) {
	f.written++
	if f.err != nil {
		return
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = f.out.Write(append(line, '\n'))
	}
	f.err = err
}

func createBelow(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.Create(path)
}

func (s *searches) path(phase int, name string) string {
	return report.PhasePath(s.cfg.Artifacts.Dir, s.cfg.Phases[phase].Name, name)
}

// say reports a decision to people who follow the log.
func (s *searches) say(e *load.AdaptiveEvent) {
	switch e.Event {
	case "adaptive_phase_started", "adaptive_decision", "sustain_started":
	default:
		return
	}
	attributes := []any{"phase", e.PhaseName, "stage", e.Phase, "variable", e.ControlVariable}
	if e.BindingSLA != nil && e.SLAValue != nil {
		attributes = append(attributes, "tried", e.ControlValueBefore, "nearest_limit", *e.BindingSLA, "measured",
			*e.SLAValue)
	}
	if e.Reason != nil {
		attributes = append(attributes, "result", *e.Reason)
	}
	attributes = append(attributes, "next", e.ControlValueAfter)
	s.log.Info("Search of the load", attributes...)
}

// searchManifest lists the files of the searches.
type searchManifest struct {
	Searches      []searchEntry `json:"adaptive_phases"`
	SchemaVersion int           `json:"schema_version"`
}

type searchEntry struct {
	Events         string `json:"events_path"`
	PhaseIndex     int    `json:"phase_index"`
	PhaseKind      string `json:"phase_kind"`
	PhaseName      string `json:"phase_name"`
	ProfilingIndex *int   `json:"profiling_index"`
	Summary        string `json:"summary_path"`
}

// writeManifest lists the files of the searches that have begun.
func (s *searches) writeManifest() error {
	d := searchManifest{SchemaVersion: load.AdaptiveSchema}
	for _, r := range s.engine.Searches() {
		of := &r.Summary
		below := func(name string) string { return path.Join(report.PhasesDir, of.PhaseName, name) }
		d.Searches = append(d.Searches, searchEntry{Events: below(report.SearchEvents), PhaseIndex: of.PhaseIndex,
			PhaseKind: of.PhaseKind, PhaseName: of.PhaseName, ProfilingIndex: of.ProfilingIndex,
			Summary: below(report.SearchSummary)})
	}
	return artifact.WriteObject(s.cfg.Artifacts.Path(config.SearchManifest), artifact.ObjectOf(d))
}

// stop implements part: the load is over, and with it the searches.
func (s *searches) stop() error {
	s.write()
	var errs []error
	for _, r := range s.engine.Searches() {
		f := s.files[r.Phase]
		errs = append(errs, f.err)
		if f.out != nil {
			errs = append(errs, f.out.Close())
		}
		text, err := json.MarshalIndent(&r.Summary, "", "  ")
		if err == nil {
			err = artifact.WriteFile(s.path(r.Phase, report.SearchSummary), append(text, '\n'))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// finish implements part.
func (s *searches) finish(o *ended) error {
	for _, r := range s.engine.Searches() {
		o.shown.Searches = append(o.shown.Searches, foundBy(&r, s.cfg.Phases[r.Phase].Adaptive.SLA))
	}
	return nil
}

// foundBy returns what a search found, as the final report shows it.
func foundBy(r *load.AdaptiveResult, limits []load.SLA) summary.Search {
	s := &r.Summary
	found := summary.Search{
		Phase: s.PhaseName, Variable: s.ControlVariable, Status: s.Status, Reason: s.CompletedReason,
		LastPassing: s.LastPassingValue, FirstFailing: s.FirstFailingValue, Value: s.ControlValue,
		Windows: len(s.Candidates), SustainWindows: s.SustainWindows, SustainPassed: s.SustainPassedWindows,
	}
	// The last window with the value that is reported says how the service performed there.
	for _, c := range s.Candidates {
		if s.LastPassingValue != nil && c.Accepted && c.CandidateValue == *s.LastPassingValue {
			found.Throughput = c.ThroughputRPS
		}
	}
	for _, sla := range limits {
		found.Limits = append(found.Limits, summary.SearchLimit{
			Metric: sla.Metric, Stat: sla.Stat, Op: sla.Op, Threshold: sla.Threshold, Unit: sla.Unit(),
			Passing: measuredAt(r.Events, sla, s.LastPassingValue, true),
			Failing: measuredAt(r.Events, sla, s.FirstFailingValue, false),
		})
	}
	return found
}

// measuredAt returns what the last window with a value and a verdict measured of a limit; nil for nothing.
func measuredAt(events []load.AdaptiveEvent, sla load.SLA, value *float64, passed bool) (measured *float64) {
	for i := range events {
		e := &events[i]
		if value != nil && e.SLAPassed != nil && *e.SLAPassed == passed && e.ControlValueBefore == *value &&
			e.Event == "adaptive_window" {
			measured = e.SLAValues[sla.String()]
		}
	}
	return measured
}

// searchOf returns the search of a phase as observers see it, nil without one.
func searchOf(all []load.AdaptiveResult, phase int) *progress.Search {
	for i := range all {
		r := &all[i]
		if r.Phase != phase || len(r.Events) == 0 {
			continue
		}
		e := &r.Events[len(r.Events)-1]
		return &progress.Search{
			Stage: e.Phase, Variable: e.ControlVariable, Value: e.ControlValue, LastPassing: e.LastPassingValue,
			FirstFailing: e.FirstFailingValue, Windows: len(r.Summary.Candidates),
		}
	}
	return nil
}
