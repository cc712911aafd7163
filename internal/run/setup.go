package run

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/run/plan"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/hub"
)

// recordQueue bounds the exchanges that wait to become records.
const recordQueue = 4096

func cpus() int { return runtime.GOMAXPROCS(0) }

func newBenchmarkID() string {
	var b [16]byte
	crand.Read(b[:]) // never fails: crypto/rand ends the program if the system has no entropy
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// openDirectory makes the artifact directory, keeps other runs out of it and opens the log file.
func (e *execution) openDirectory() error {
	a := &e.cfg.Artifacts
	if err := os.MkdirAll(filepath.Dir(a.Path(config.SummaryJSON)), 0o755); err != nil {
		return fmt.Errorf("the artifact directory cannot be made: %w; choose another with --artifact-dir", err)
	}
	var err error
	if e.folder, err = artifact.LockFolder(a.Dir); err != nil {
		return fmt.Errorf("%w with --artifact-dir", err)
	}
	if err := e.options.Log.OpenFile(a.Path(config.LogFile)); err != nil {
		return fmt.Errorf("%w; choose another directory with --artifact-dir", err)
	}
	return nil
}

// clearDirectory removes what an earlier run left under the same names. That is done when the dataset is known: a mistake
// in it must not cost older results, and it may be made of one of them.
func (e *execution) clearDirectory() error {
	a := &e.cfg.Artifacts
	replaced := replacedRun(a.Path(config.SummaryJSON))
	var stale []string
	for _, kind := range config.ArtifactKinds() {
		if kind != config.LogFile {
			stale = append(stale, a.Path(kind))
		}
	}
	json, csv := a.PhaseNames()
	ofPhases, folders := report.StalePhases(a.Dir, json, csv)
	if err := artifact.RemoveStale(append(stale, ofPhases...)...); err != nil {
		return fmt.Errorf("files of an earlier run cannot be replaced: %w; choose another directory with --artifact-dir", err)
	}
	for _, folder := range folders {
		_ = os.Remove(folder) // which fails, as it should, when it holds anything else
	}
	if replaced != "" {
		e.log.Warn("The results of an earlier run in the artifact directory are replaced; --artifact-dir keeps them apart",
			"directory", a.Dir, "benchmark_id", replaced)
	}
	return nil
}

// replacedRun is the id of the run whose summary stands at path; "" if there is none.
func replacedRun(path string) string {
	old, err := summary.ReadFigures(path)
	if err != nil {
		return ""
	}
	return old.BenchmarkID
}

func (e *execution) buildDataset(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Env.Service.ProfileConfigureTimeout)
	defer cancel()
	options := plan.Dataset(e.cfg, &e.descriptor)
	options.Published.Hub = hub.FromEnv(os.LookupEnv, hub.Datasets)
	options.Reading.IndexFrom = max(options.Reading.IndexFrom, e.indexFrom)
	if t, ok := e.counter().(*templated); ok && e.descriptor.Name == "chat" {
		options.Template = t
	}
	data, warnings, err := compose.Build(ctx, options, e.tokenizer)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the dataset was not ready within %s; raise AIPERF_SERVICE_PROFILE_CONFIGURE_TIMEOUT: %w", e.cfg.Env.Service.ProfileConfigureTimeout, err)
		}
		return err
	}
	warnings = append(append(warnings, unsentMedia(data, e.descriptor)...), verbatimWarnings(data, e.cfg)...)
	for _, w := range warnings {
		e.log.Warn(w)
	}
	for _, n := range data.Notes {
		e.log.Info(n)
	}
	e.announceRepeats(data)
	if err := checkCacheBust(data, e.cfg.Dataset.CacheBust); err != nil {
		return err
	}
	if err := e.checkThreadedMessages(data); err != nil {
		return err
	}
	e.log.Info("Dataset ready", "conversations", data.Len(), "turns", data.Turns())
	e.data = data
	return nil
}

// openSinks creates the files that are written while the run goes on, so that a directory that
// cannot be written shows before the first request.
func (e *execution) openSinks() error {
	a, lines := &e.cfg.Artifacts, e.linesOptions()
	if a.HTMLReport {
		e.page = &pageData{e: e}
	}
	lines.OnError = e.sinkFailed
	if a.Outputs {
		if err := e.openOutputs(lines); err != nil {
			return err
		}
	}
	if a.ExportLevel == "summary" {
		return nil
	}
	records, err := report.OpenRecords(report.RecordsOptions{
		Path: a.Path(config.RecordsJSONL), Lines: lines, Metrics: e.set.AppendRecordMetrics, Facts: e.set.AppendRecordFacts, Redactor: e.redactor,
	})
	if err != nil {
		return err
	}
	e.sinks = append(e.sinks, records)
	if a.ExportLevel != "raw" {
		return nil
	}
	e.limit(&lines, e.cfg.Env.Record.RawMaxBytes, config.RawJSONL, "AIPERF_RECORD_RAW_MAX_BYTES")
	raw, err := report.OpenRawRecords(report.RawRecordsOptions{Path: a.Path(config.RawJSONL), Lines: lines, Redactor: e.redactor})
	if err != nil {
		return err
	}
	e.sinks = append(e.sinks, raw)
	return nil
}

func (e *execution) linesOptions() artifact.LinesOptions {
	return artifact.LinesOptions{FlushInterval: e.cfg.Env.Metrics.ExportFlushInterval}
}

// sinkFailed is told before the first request at the earliest, once per file.
func (e *execution) sinkFailed(err error) {
	e.log.Error("Records cannot be written any more, the run ends here", "error", err)
	e.ending.cannotWrite(err)
}
