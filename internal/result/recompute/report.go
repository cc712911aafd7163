package recompute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/measure/timeline"
	"aiperf/internal/measure/twin"
	"aiperf/internal/result/files"
	"aiperf/internal/result/report"
	"aiperf/internal/result/report/console"
	"aiperf/internal/result/summary"
)

// ReportOptions say which run is recomputed, and with which changes.
type ReportOptions struct {
	// Dir is the folder of the run, OutputDir where the files go; "" is "report" below the run's.
	Dir, OutputDir string
	// SLOs replace the objectives of goodput; nil keeps those of the run.
	SLOs []metrics.SLO
	// Slice is the length of time slices, 0 none; nil keeps that of the run.
	Slice *time.Duration
	// Percentiles are the ranks of further percentiles; nil keeps those of the run.
	Percentiles []float64
	// From and To select requests by the time of sending, from the start of the profiling phase: From is inclusive, To
	// is not.
	From, To *time.Duration
	// ExcludeErrors are codes and types of errors; requests that failed with them are ignored. "all" means all errors.
	ExcludeErrors []string
	// Parquet asks for all records as Parquet.
	Parquet bool
	// Version is the version of this program; "" means that of the run.
	Version string
	// HTML asks for the report as a page.
	HTML bool
	// GPUGrace is how long after the end of the load an energy counter is still read, in a run of the original.
	GPUGrace time.Duration
	// ExportWidth is the width of the console's text; 0 is the default.
	ExportWidth int
	// Groups are the groups of metrics in the console's text; nil means those of the run.
	Groups []string
}

// Report recomputes the summaries of a run from its records and writes them. Without changes they equal those of the
// live run, byte by byte.
func Report(ctx context.Context, o ReportOptions) (*summary.Result, *console.Options, error) {
	r, from, err := replay(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	result, err := r.result()
	if err != nil {
		return nil, nil, err
	}
	to := config.Artifacts{Dir: cmp.Or(o.OutputDir, filepath.Join(o.Dir, "report")), Prefix: filepath.Base(from.Prefix)}
	if from.Prefix == "" {
		to.Prefix = ""
	}
	options, err := r.export(ctx, result, from, to)
	return result, options, err
}

// Page computes the HTML report of a run from its records and writes nothing.
func Page(ctx context.Context, o ReportOptions) ([]byte, error) {
	o.HTML = true
	r, from, err := replay(ctx, o)
	if err != nil {
		return nil, err
	}
	result, err := r.result()
	if err != nil {
		return nil, err
	}
	page, err := r.page(ctx, from)
	if page == nil {
		return nil, err // else a part is missing, and the page leaves it out
	}
	return files.Page(result, r.shown(), from, *page)
}

// replay reads the records of a run.
func replay(ctx context.Context, o ReportOptions) (*recomputation, config.Artifacts, error) {
	from, state, orig, err := findRun(o.Dir)
	if err != nil {
		return nil, from, err
	}
	if state.ExportLevel == "summary" {
		return nil, from, fmt.Errorf("%s was run with --export-level summary: there are no records to compute "+
			"anything from", o.Dir)
	}
	r := &recomputation{o: o, state: state, config: state.Config, orig: orig, answers: from.Path(config.AccuracyJSONL)}
	if err := r.configure(); err != nil {
		return nil, from, err
	}
	if err := r.read(from.Path(config.RecordsJSONL)); err != nil {
		return nil, from, err
	}
	if err := r.warmup(); err != nil {
		return nil, from, err
	}
	return r, from, ctx.Err()
}

// findRun finds a run in a folder: by its state file, with any prefix, or a run of the original, which has no state
// file.
func findRun(dir string) (config.Artifacts, *summary.State, *original, error) {
	usual := config.Artifacts{Dir: dir}
	found := usual
	if _, err := os.Stat(usual.Path(config.RunState)); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return usual, nil, nil, err
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usual, nil, nil, fmt.Errorf("%s is not the folder of a run", dir)
		}
		suffix := config.Artifacts{Prefix: "x"}.Name(config.RunState)[1:]
		matches, _ := filepath.Glob(filepath.Join(globEscape(dir), "*"+suffix))
		switch len(matches) {
		case 0:
			orig, state, err := findOriginal(dir)
			var none *summary.NoSummaryError
			if errors.As(err, &none) {
				return usual, nil, nil, fmt.Errorf("%s holds no %s, and no %s of the original", dir,
					usual.Name(config.RunState), usual.Name(config.SummaryJSON))
			}
			if err != nil {
				return usual, nil, nil, fmt.Errorf("%s holds no %s, and no run of the original: %w", dir,
					usual.Name(config.RunState), err)
			}
			return orig.from, state, orig, nil
		case 1:
			found.Prefix = strings.TrimSuffix(filepath.Base(matches[0]), suffix)
		default:
			return usual, nil, nil, fmt.Errorf("%s holds several runs (%s): give each a folder of its own", dir,
				strings.Join(matches, ", "))
		}
	}
	state, err := summary.ReadState(found.Path(config.RunState))
	return found, state, nil, err
}

// globEscape returns the pattern that matches only the path.
func globEscape(path string) string {
	if os.PathSeparator == '\\' {
		return path // nothing can be escaped; brackets in the path match wrongly
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// recomputation is the state of one report.
type recomputation struct {
	o      ReportOptions
	state  *summary.State
	config metrics.Config
	set    *metrics.Set
	engine *metrics.Engine
	// startNS and endNS are the window of o, wall epoch ns; 0 = open.
	startNS, endNS int64
	// records counts the lines, excluded those of excluded errors.
	records, excluded atomic.Int64
	// failed and succeeded count those that belong to the report.
	failed, succeeded atomic.Int64
	// answers is the path of the graded answers; ungraded is set where they are missing.
	answers       string
	ungraded      bool
	cut           bool
	warmupResults []metrics.Metric
	warmups       phaseEngines
	// parts are the profiling phases of a run that had several.
	parts phaseEngines
	// requests are those of the HTML report; nil without one.
	requests *timeline.Recorder
	// replayed are those that are compared with a recording; nil where none was played.
	replayed *twin.Collector
	// orig is set if the run is one of the original. warming is the warm-up, nil without one.
	orig    *original
	warming *warming
}

// configure applies the changes to the run's configuration.
func (r *recomputation) configure() error {
	if r.o.SLOs != nil {
		r.config.SLOs = r.o.SLOs
	}
	if r.o.Slice != nil {
		r.config.SliceNS = int64(*r.o.Slice)
	}
	if r.o.Percentiles != nil {
		r.config.Percentiles = r.o.Percentiles
	}
	if (r.o.From != nil || r.o.To != nil) && r.state.Run.StartNS == 0 {
		return errors.New("the run ended before its profiling phase began: there is no window")
	}
	if r.o.From != nil {
		r.startNS = r.state.Run.StartNS + int64(*r.o.From)
	}
	if r.o.To != nil {
		r.endNS = r.state.Run.StartNS + int64(*r.o.To)
	}
	if r.startNS != 0 && r.endNS != 0 && r.startNS >= r.endNS {
		return fmt.Errorf("the window is empty: --from %s is not before --to %s", *r.o.From, *r.o.To)
	}
	var err error
	if r.set, err = metrics.NewSet(r.config); err != nil {
		return fmt.Errorf("--goodput: %s", strings.TrimPrefix(err.Error(), "goodput: "))
	}
	r.engine = r.set.NewEngine()
	if err := r.openParts(); err != nil {
		return err
	}
	r.engine.SliceFrom(max(r.state.Run.StartNS, r.startNS))
	if r.orig != nil {
		r.engine.SliceFrom(max(r.orig.firstNS, r.startNS))
		if r.warming, err = r.newWarming(); err != nil {
			return err
		}
	}
	if r.state.Recorded != nil && !r.selects() {
		r.replayed = twin.NewCollector(false)
	}
	if r.o.HTML {
		r.requests = timeline.New(r.state.Run.StartNS)
	}
	return nil
}

func (r *recomputation) read(path string) error {
	var err error
	foreign := newForeignRecord(r.state)
	parse := recordfile.Parse
	if r.orig != nil {
		parse = recordfile.ParseOriginal
	}
	r.cut, err = recordfile.Read(path, parse, func(rec *record.Record) {
		if rec.Phase != record.PhaseProfiling {
			if r.warming != nil && rec.Phase == record.PhaseWarmup {
				r.warming.add(rec)
			}
			return
		}
		foreign.see(rec)
		r.records.Add(1)
		start := rec.Facts[record.StartWall]
		if !r.within(start) {
			return
		}
		if rec.Err != nil && r.excludes(rec.Err) {
			r.excluded.Add(1)
			return
		}
		if rec.Err != nil {
			r.failed.Add(1)
		} else {
			r.succeeded.Add(1)
		}
		r.set.Judge(rec)
		r.engine.Add(rec)
		if part := r.parts[rec.PhaseIndex]; part != nil {
			part.Add(rec)
		}
		if r.replayed != nil {
			r.replayed.Add(rec)
		}
		if r.requests != nil && !rec.ContextOverflowSkip {
			r.requests.Add(rec)
		}
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.noRecords(path)
	case err != nil:
		return err
	}
	if err := foreign.err(path); err != nil {
		return err
	}
	if sent := r.state.Run.Counts.Sent - r.state.Run.Counts.CutOff; r.state.Status == summary.StateFinished &&
		r.records.Load() > sent {
		return fmt.Errorf("%s holds %d records, and only %d requests of the run ended: some records belong to "+
			"another run", path, r.records.Load(), sent)
	}
	if seen := r.engine.Snapshot(); seen.Requests() == 0 {
		if !r.selects() {
			return r.noRecords(path)
		}
		return errors.New("no request is left: widen --from and --to, or exclude fewer errors")
	}
	return nil
}

// noRecords returns the error for a records file that is empty or absent, by whether it should be.
func (r *recomputation) noRecords(path string) error {
	if ended := r.state.Run.Counts.Sent - r.state.Run.Counts.CutOff; ended > 0 &&
		r.state.Status == summary.StateFinished {
		return fmt.Errorf("%s holds no records, and %d requests of the run ended", path, ended)
	}
	return fmt.Errorf("%s holds no records: none of its requests ended", r.o.Dir)
}

// excludes reports whether an error is excluded.
func (r *recomputation) excludes(e *record.Error) bool {
	return slices.ContainsFunc(r.o.ExcludeErrors, func(what string) bool {
		return strings.EqualFold(what, "all") || strings.EqualFold(what, e.Type) || e.HasCode &&
			what == strconv.Itoa(e.Code)
	})
}

// selects reports whether only a part of the requests counts.
func (r *recomputation) selects() bool {
	return r.startNS != 0 || r.endNS != 0 || len(r.o.ExcludeErrors) > 0
}

// result builds the result from the records, as the live run does.
func (r *recomputation) result() (*summary.Result, error) {
	run, window := r.state.Run, r.state.Window
	seen := r.engine.Snapshot()
	completed := seen.Requests()
	if r.state.Status != summary.StateFinished {
		run.Incomplete = cmp.Or(run.Incomplete, "the run was killed; its last state was written "+
			time.Unix(0, r.state.UpdatedNS).UTC().Format(time.RFC3339)+
			", and at most the last second of records is missing")
		run.Counts.Sent = max(run.Counts.Sent, r.records.Load())
	} else if missing := run.Counts.Sent - run.Counts.CutOff - r.records.Load(); missing > 0 || r.cut {
		lost := fmt.Sprintf("%d records are missing", missing)
		if missing == 1 {
			lost = "a record is missing"
		}
		run.Incomplete = cmp.Or(run.Incomplete, lost+" from the per-request file")
	}
	if r.startNS != 0 {
		run.StartNS = max(run.StartNS, r.startNS)
	}
	r.clip(&window)
	if r.selects() {
		run.Counts = summary.Counts{Sent: completed}
	}
	if err := r.regrade(&run); err != nil {
		return nil, err
	}
	r.engine.SetRunFacts(window)
	result := summary.Build(run, r.engine, nil)
	result.Warmup, result.ClientHealth = r.state.Warmup, r.state.ClientHealth
	if r.warmupResults != nil {
		result.Warmup = r.warmupResults
	}
	if !r.selects() {
		result.AddGPUs(r.state.GPU)
		result.Reconcile(r.state.Ledger)
		result.Servers, result.Stages = r.state.Servers, r.state.Stages
		result.AddOutside(r.state.Outside)
	}
	if r.replayed != nil {
		if list, _, ok := r.replayed.Requests(); ok && len(list) > 0 {
			result.CompareWith(r.state.Recorded, list)
		}
	}
	result.Recomputed = r.changes()
	r.addParts(&result)
	if r.orig != nil && !r.selects() {
		return &result, r.orig.addGPUs(&result, r.o.GPUGrace)
	}
	return &result, nil
}

// clip leaves of a window what is in that of the report.
func (r *recomputation) clip(window *summary.Window) {
	if r.startNS != 0 {
		window.WindowStartNS = max(window.WindowStartNS, r.startNS)
	}
	if r.endNS != 0 && window.WindowEndNS != 0 {
		window.WindowEndNS = min(window.WindowEndNS, r.endNS)
	}
}

// changesDocument says how a report differs from that of the live run.
type changesDocument struct {
	Version       string                `json:"aiperf_version,omitempty"`
	SLOs          artifact.Map[float64] `json:"slos,omitzero"`
	SliceDuration *float64              `json:"slice_duration,omitempty"`
	Percentiles   []float64             `json:"percentiles,omitzero"`
	FromNS        int64                 `json:"from_ns,omitempty"`
	ToNS          int64                 `json:"to_ns,omitempty"`
	// The others are left out where they would have to be of the selected requests and are those of the whole run, or
	// where their files are not there any more.
	WithoutGPUs           bool `json:"without_gpu_telemetry,omitempty"`
	WithoutReconciliation bool `json:"without_reconciliation,omitempty"`
	WithoutAccuracy       bool `json:"without_accuracy,omitempty"`
	*excludedDocument
}

// excludedDocument exists where errors are excluded.
type excludedDocument struct {
	Errors   []string `json:"excluded_errors"`
	Requests int64    `json:"excluded_requests"`
}

// changes returns the differences from the live run, nil if there are none.
func (r *recomputation) changes() artifact.Object {
	d := changesDocument{Percentiles: r.o.Percentiles, FromNS: r.startNS, ToNS: r.endNS,
		WithoutGPUs:           r.selects() && r.state.GPU != nil,
		WithoutReconciliation: r.selects() && r.state.Ledger != nil,
		WithoutAccuracy:       r.ungraded}
	if r.o.Version != r.state.Run.AIPerfVersion {
		d.Version = r.o.Version
	}
	if r.o.SLOs != nil {
		d.SLOs = artifact.Map[float64]{}
	}
	for _, slo := range r.o.SLOs {
		d.SLOs.Add(slo.Tag, slo.Value)
	}
	if r.o.Slice != nil {
		d.SliceDuration = new(r.o.Slice.Seconds())
	}
	if len(r.o.ExcludeErrors) > 0 {
		d.excludedDocument = &excludedDocument{r.o.ExcludeErrors, r.excluded.Load()}
	}
	if o := artifact.ObjectOf(d); len(o) > 0 {
		return o
	}
	return nil
}

// export writes the files and returns the options of the console's report.
func (r *recomputation) export(
	ctx context.Context, result *summary.Result, from, to config.Artifacts,
) (*console.Options, error) {
	if err := os.MkdirAll(to.Dir, 0o755); err != nil {
		return nil, err
	}
	lock, err := artifact.LockFolder(to.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w with --output-dir", err)
	}
	defer lock.Release()
	if err := removeStalePhases(from, to); err != nil {
		return nil, err
	}
	if len(result.Slices) == 0 {
		if err := artifact.RemoveStale(to.Path(config.TimeslicesJSON), to.Path(config.TimeslicesCSV)); err != nil {
			return nil, err
		}
	}
	o := files.Options{From: from, To: to, Parquet: r.o.Parquet, Width: r.o.ExportWidth,
		// The spool exists only if the run was killed before it wrote the file.
		Outputs: &report.OutputsJSON{Spool: from.Path(config.OutputsSpool), Path: to.Path(config.OutputsJSON),
			Keep: true},
	}
	var unread error
	if r.o.HTML {
		o.Page, unread = r.page(ctx, from)
	}
	phases, unlisted := r.phaseFiles(ctx, result, from, to)
	if phases != nil {
		unlisted = phases.Write()
	}
	options, unwritten := files.Write(ctx, result, r.shown(), o)
	return &options, errors.Join(unwritten, unread, unlisted)
}

// shown is the state of the run as the reports show it.
func (r *recomputation) shown() *summary.State {
	state := *r.state
	state.Config = r.config
	if r.o.Groups != nil {
		state.Console.Groups = r.o.Groups
	}
	if r.selects() {
		state.GPU = nil // it is that of the whole run
	}
	return &state
}
