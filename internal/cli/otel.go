package cli

import (
	"fmt"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/otlp"
	"aiperf/internal/run"
)

// telemetry streams the runs of the program to the collector of --otel-url, one after the other. A nil one does
// nothing.
type telemetry struct {
	environment otlp.Environment
	stream      *otlp.Stream // that of the run under way; nil where none could be started
}

// readTelemetry reads what the environment says of the collector before anything is sent, so that a variable that is
// wrong shows at once.
func (a *app) readTelemetry(cfg *config.Run) (*telemetry, error) {
	if cfg.OTel.URL == nil {
		return nil, nil
	}
	environment, err := otlp.ReadEnvironment(a.env)
	if err != nil {
		return nil, err
	}
	return &telemetry{environment: environment}, nil
}

func (t *telemetry) observers() []run.Observer {
	if t == nil {
		return nil
	}
	return []run.Observer{t}
}

// ownPushTimeout is the default of AIPERF_OTEL_REQUEST_TIMEOUT_SECONDS, before which the standard's variable goes.
const ownPushTimeout = 10 * time.Second

// Begin implements run.Observer.
func (t *telemetry) Begin(b run.Beginning) {
	c, env, log := &b.Config.OTel, &b.Config.Env.OTel, b.Log.Logger("otel")
	timeout := env.RequestTimeout
	if timeout == ownPushTimeout {
		timeout = t.environment.Timeout(timeout)
	}
	hide := b.Config.Redactor().Values
	o := otlp.Options{
		URL: c.URL, Environment: t.environment, Requests: c.Metrics, Timing: c.Timing,
		Interval: env.FlushInterval, Timeout: timeout, MaxBatch: env.MaxBatch, MaxBuffered: env.MaxBuffered,
		Set: b.Metrics, EndpointType: b.Config.Endpoint.Type, Model: hide(b.Config.Models[0]), Provider: c.Provider,
		URLs:        b.URLs,
		BenchmarkID: b.BenchmarkID, Version: Version, Log: log,
	}
	for _, a := range c.Attributes {
		if a.Value = hide(a.Value); artifact.IsSensitiveName(a.Name) {
			a.Value = artifact.Redacted
		}
		o.Attributes = append(o.Attributes, otlp.Attribute(a))
	}
	var err error
	if t.stream, err = otlp.New(o); err != nil {
		log.Warn(fmt.Sprintf("--otel-url %v; nothing is streamed in this run", err))
	}
}

// Record implements run.Observer.
func (t *telemetry) Record(r *record.Record) {
	if t.stream != nil {
		t.stream.Record(r)
	}
}

// Show implements run.Observer.
func (t *telemetry) Show(s run.Snapshot) {
	if t.stream != nil {
		t.stream.Show(s.Phases, s.NowNS)
	}
}

// Flush implements run.Flusher.
func (t *telemetry) Flush(s run.Snapshot) {
	t.Show(s)
	if t.stream != nil {
		t.stream.Finish()
	}
}

// End implements run.Observer.
func (t *telemetry) End(*run.Outcome, run.Snapshot) {
	if t.stream != nil {
		t.stream.Close()
	}
}
