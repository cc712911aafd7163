package run

import (
	"context"
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/measure/recordfile"
	"aiperf/internal/result/report"
)

// openOutputs opens the spool of outputs.json.
func (e *execution) openOutputs(lines artifact.LinesOptions) error {
	e.limit(&lines, e.cfg.Env.Record.OutputsMaxBytes, config.OutputsJSON, "AIPERF_RECORD_OUTPUTS_JSON_MAX_BYTES")
	spool := report.OutputsSpool{Redactor: e.redactor, Metrics: func(dst []byte, r *record.Record) []byte {
		return e.set.AppendRecordValues(dst, r, report.OutputMetrics...)
	}}
	var err error
	e.outputs, err = e.openSink(config.OutputsSpool, lines, spool.AppendLine)
	return err
}

// openSink creates a file with a line for each record.
func (e *execution) openSink(
	kind config.Artifact, o artifact.LinesOptions, line recordfile.AppendLine,
) (*recordfile.Writer, error) {
	w, err := recordfile.Create(e.cfg.Artifacts.Path(kind), o, line)
	if err == nil {
		e.sinks = append(e.sinks, w)
	}
	return w, err
}

// limit keeps a file of lines from growing beyond what its variable allows.
func (e *execution) limit(lines *artifact.LinesOptions, bytes int64, kind config.Artifact, variable string) {
	lines.MaxBytes = bytes
	lines.OnFull = func() {
		e.log.Warn(fmt.Sprintf("%s has reached %d bytes: requests that complete from here on are left out of it; %s sets the limit, 0 is none",
			e.cfg.Artifacts.Name(kind), bytes, variable))
	}
}

// outputsExporter makes outputs.json of what was spooled.
func (e *execution) outputsExporter() report.OutputsJSON {
	o := report.OutputsJSON{Spool: e.cfg.Artifacts.Path(config.OutputsSpool), Path: e.cfg.Artifacts.Path(config.OutputsJSON)}
	if e.outputs != nil {
		o.Omitted = e.outputs.Omitted()
	}
	return o
}

// writeOutputs makes outputs.json of a run without results, which may have a warm-up.
func (e *execution) writeOutputs() {
	if err := e.outputsExporter().Export(context.Background(), nil); err != nil {
		e.log.Error("outputs.json could not be written", "error", err)
	}
}
