package run

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/report"
	"aiperf/internal/run/plan"
	"aiperf/internal/view/runlog"
	"aiperf/internal/wire/endpoint"
)

// recorder turns finished requests into values of metrics and lines of files, and hands them to the parts of the run.
type recorder struct {
	*base
	ending *ending
	parts  *parts

	set               *metrics.Set
	profiling, warmup *metrics.Engine
	apart             phaseEngines
	slicing           sync.Once // before the first profiling record
	warmupRows        warmupRows
	sinks             []*recordfile.Writer
	// outputs is nil when generated texts are not exported.
	outputs *recordfile.Writer
	// sealed has further records left out, as the results are made.
	sealed atomic.Bool
}

// measure makes the engines of the metrics that the configuration asks for: one for each kind of phase, and one for
// each phase that is not the only one of its kind. Slices are
// those of the profiling phases together.
func (rs *recorder) measure(d *endpoint.Descriptor) (err error) {
	c := plan.Metrics(rs.cfg, d)
	if rs.set, err = metrics.NewSet(c); err != nil {
		return fmt.Errorf("--goodput: %s", strings.TrimPrefix(err.Error(), "goodput: "))
	}
	c.SliceNS = 0
	unsliced, err := metrics.NewSet(c)
	if err != nil {
		return err
	}
	rs.profiling = rs.set.NewEngine()
	if rs.cfg.Warmup() != nil {
		rs.warmup = unsliced.NewEngine()
	}
	count := map[config.PhaseKind]int{}
	for i := range rs.cfg.Phases {
		count[rs.cfg.Phases[i].Kind]++
	}
	rs.apart = make(phaseEngines, len(rs.cfg.Phases))
	for i := range rs.cfg.Phases {
		if kind := rs.cfg.Phases[i].Kind; count[kind] > 1 {
			rs.apart[i] = unsliced.NewEngine()
		}
	}
	return nil
}

// openSinks creates the files that are written while the run goes on, so that a directory that
// cannot be written shows before the first request.
func (rs *recorder) openSinks(context.Context) error {
	if rs.options.WithoutFiles {
		return nil
	}
	a, lines := &rs.cfg.Artifacts, artifact.LinesOptions{FlushInterval: rs.cfg.Env.Metrics.ExportFlushInterval}
	lines.OnError = func(err error) { // before the first request at the earliest, once per file
		rs.log.Error("Records cannot be written any more, the run ends here", "error", err)
		rs.ending.cannotWrite(err)
	}
	if a.Outputs {
		if err := rs.openOutputs(lines); err != nil {
			return err
		}
	}
	if a.ExportLevel == "summary" {
		return nil
	}
	format := recordfile.Format{
		Metrics: rs.set.AppendRecordMetrics, Facts: rs.set.AppendRecordFacts, Redactor: rs.redactor,
	}
	records := lines
	records.Compress = a.RecordsCompress == "zstd"
	if _, err := rs.openSink(a.Records(), records, format.AppendLine); err != nil || a.ExportLevel != "raw" {
		return err
	}
	rs.limit(&lines, rs.cfg.Env.Record.RawMaxBytes, config.RawJSONL, "AIPERF_RECORD_RAW_MAX_BYTES")
	_, err := rs.openSink(config.RawJSONL, lines, recordfile.RawFormat{Redactor: rs.redactor}.AppendLine)
	return err
}

// openOutputs opens the spool of outputs.json.
func (rs *recorder) openOutputs(lines artifact.LinesOptions) error {
	rs.limit(&lines, rs.cfg.Env.Record.OutputsMaxBytes, config.OutputsJSON, "AIPERF_RECORD_OUTPUTS_JSON_MAX_BYTES")
	spool := report.OutputsSpool{Redactor: rs.redactor, Metrics: func(dst []byte, r *record.Record) []byte {
		return rs.set.AppendRecordValues(dst, r, report.OutputMetrics...)
	}}
	var err error
	rs.outputs, err = rs.openSink(config.OutputsSpool, lines, spool.AppendLine)
	return err
}

// openSink creates a file with a line for each record.
func (rs *recorder) openSink(
	kind config.Artifact, o artifact.LinesOptions, line recordfile.AppendLine,
) (*recordfile.Writer, error) {
	w, err := recordfile.Create(rs.cfg.Artifacts.Path(kind), o, line)
	if err == nil {
		rs.sinks = append(rs.sinks, w)
	}
	return w, err
}

// limit keeps a file of lines from growing beyond what its variable allows.
func (rs *recorder) limit(lines *artifact.LinesOptions, bytes int64, kind config.Artifact, variable string) {
	lines.MaxBytes = bytes
	lines.OnFull = func() {
		rs.log.Warn(fmt.Sprintf("%s has reached %d bytes: requests that complete from here on are left out of it; %s "+
			"sets the limit, 0 is none",
			rs.cfg.Artifacts.Name(kind), bytes, variable))
	}
}

// deliver takes each record, from several goroutines at once.
func (rs *recorder) deliver(r *record.Record) {
	if rs.sealed.Load() {
		return
	}
	if r.Raw == nil || !r.Raw.CutOff {
		rs.count(r)
	}
	for _, s := range rs.sinks {
		s.Add(r)
	}
	if rs.options.Records != nil {
		rs.options.Records(r)
	}
}

// count takes a request that succeeded or failed.
func (rs *recorder) count(r *record.Record) {
	rs.logRecord(r)
	rs.set.Judge(r)
	r.ContextOverflowSkip = rs.set.Skips(r)
	rs.apart.add(r)
	if r.Phase == record.PhaseWarmup {
		rs.warmup.Add(r)
		rs.warmupRows.add(r)
	} else {
		rs.slicing.Do(func() { rs.profiling.SliceFrom(rs.profilingStartNS()) })
		rs.profiling.Add(r)
	}
	for _, p := range *rs.parts {
		p.record(r)
	}
}

// logRecord writes one line for a finished request: at debug level for one that failed, at trace level
// for any.
func (rs *recorder) logRecord(r *record.Record) {
	level := runlog.LevelTrace
	if r.Err != nil {
		level = runlog.LevelDebug
	}
	if !rs.log.Enabled(context.Background(), level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("phase", r.PhaseName), slog.Int64("session_num", r.SessionNum),
		slog.String("conversation_id", r.ConversationID), slog.Int("turn", r.TurnIndex),
	}
	if end, ok := r.Get(record.End); ok {
		attributes = append(attributes, slog.Float64("ms", float64(end)/1e6))
	}
	message := "Request finished"
	if r.Err != nil {
		message = "Request failed"
		attributes = append(attributes, slog.String("type", r.Err.Type), slog.String("error", r.Err.Message))
	}
	rs.log.LogAttrs(context.Background(), level, message, attributes...)
}

// profilingStartNS is when the profiling phase began, wall epoch ns: it has, where there are records of it.
func (rs *recorder) profilingStartNS() int64 {
	if p := phaseOf(rs.ending.engine.Snapshot(), load.Profiling); p != nil {
		return rs.clock.WallNS(p.StartNS)
	}
	return 0
}

// outputsExporter makes outputs.json of what was spooled.
func (rs *recorder) outputsExporter() report.OutputsJSON {
	o := report.OutputsJSON{Spool: rs.cfg.Artifacts.Path(config.OutputsSpool),
		Path: rs.cfg.Artifacts.Path(config.OutputsJSON)}
	if rs.outputs != nil {
		o.Omitted = rs.outputs.Omitted()
	}
	return o
}

// writeOutputs makes outputs.json of a run without results, which may have a warm-up.
func (rs *recorder) writeOutputs() {
	if err := rs.outputsExporter().Export(context.Background(), nil); err != nil {
		rs.log.Error("outputs.json could not be written", "error", err)
	}
}

// warmupLimit bounds the lines of warm-up requests that the state of the run keeps: it is written each second.
const warmupLimit = 1 << 20

// warmupRows keeps what the warm-up's metrics are computed from, unless that is too much.
type warmupRows struct {
	mu    sync.Mutex
	lines []json.RawMessage
	bytes int
}

func (w *warmupRows) add(r *record.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytes > warmupLimit {
		return
	}
	line := recordfile.AppendRow(nil, r)
	w.lines, w.bytes = append(w.lines, line), w.bytes+len(line)
	if w.bytes > warmupLimit {
		w.lines = nil
	}
}

// all are the lines of all requests; none when there were too many.
func (w *warmupRows) all() []json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines[:len(w.lines):len(w.lines)]
}
