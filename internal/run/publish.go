package run

import (
	"os"
	"sync"
	"time"

	"aiperf/internal/publish"
	"aiperf/internal/publish/otlp"
	"aiperf/internal/record"
)

// publishers are those who are told of the run while it goes on.
type publishers []publish.Publisher

// newPublishers starts those that the configuration asks for. Only a setting that is wrong is an error.
func (e *execution) newPublishers() (publishers, error) {
	var list publishers
	if e.cfg.OTel.URL != nil {
		stream, err := e.newStream()
		if err != nil {
			return nil, err
		}
		list = append(list, stream)
	}
	return list, nil
}

// ownPushTimeout is the default of AIPERF_OTEL_REQUEST_TIMEOUT_SECONDS, before which the standard's variable goes.
const ownPushTimeout = 10 * time.Second

// newStream starts the stream of OpenTelemetry metrics.
func (e *execution) newStream() (*otlp.Stream, error) {
	c, env := &e.cfg.OTel, &e.cfg.Env.OTel
	timeout := env.RequestTimeout
	if timeout == ownPushTimeout {
		timeout = e.otel.Timeout(timeout)
	}
	o := otlp.Options{
		URL: c.URL, Environment: e.otel, Requests: c.Metrics, Timing: c.Timing,
		Interval: env.FlushInterval, Timeout: timeout, MaxBatch: env.MaxBatch, MaxBuffered: env.MaxBuffered,
		Set: e.set, EndpointType: e.cfg.Endpoint.Type, Model: e.cfg.Models[0], Provider: c.Provider, URLs: e.urls,
		BenchmarkID: e.id, Version: e.options.Version,
		Source: e.source(), Log: e.options.Log.Logger("otel"), Redact: e.redactor.Text,
	}
	for _, a := range c.Attributes {
		o.Attributes = append(o.Attributes, otlp.Attribute(a))
	}
	return otlp.New(o)
}

// readOTel reads what the environment says of OpenTelemetry, where it is asked for.
func (e *execution) readOTel() error {
	if e.cfg.OTel.URL == nil {
		return nil
	}
	var err error
	e.otel, err = otlp.ReadEnvironment(os.LookupEnv)
	return err
}

// source is what publishers may ask of this run.
func (e *execution) source() publish.Source {
	return publish.Source{Phases: e.engine.Snapshot, NowNS: e.clock.NowNS}
}

func (p publishers) record(r *record.Record) {
	for _, one := range p {
		one.Record(r)
	}
}

// finish lets all of them pass on what they have, at the same time; the returned function waits for them.
func (p publishers) finish() (wait func()) {
	var finishing sync.WaitGroup
	for _, one := range p {
		finishing.Go(one.Finish)
	}
	return finishing.Wait
}

func (p publishers) close() {
	for _, one := range p {
		one.Close()
	}
}
