package run

import (
	"context"
	"log/slog"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/plan"
	"aiperf/internal/view/runlog"
)

// logSetup writes at debug level what the run is about to do.
func (e *execution) logSetup(workers int) {
	if !e.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	text, err := artifact.AppendJSON(nil, e.runConfig())
	if err != nil {
		text = []byte(err.Error())
	}
	e.log.Debug("Configuration: " + string(text))
	e.log.Debug("Requests go to " + strings.Join(e.urls, ", "))
	e.log.Debug("Ready", "workers", workers, "record_processors", plan.Processors(e.cfg, cpus()), "cores", cpus())
}

// logRecord writes one line for a finished request: at debug level for one that failed, at trace level
// for any.
func (e *execution) logRecord(r *record.Record) {
	level := runlog.LevelTrace
	if r.Err != nil {
		level = runlog.LevelDebug
	}
	if !e.log.Enabled(context.Background(), level) {
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
	e.log.LogAttrs(context.Background(), level, message, attributes...)
}
