package benchmark

import (
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/publish/otlp"
	"aiperf/internal/publish/progress"
	"aiperf/internal/view/runlog"
)

// ownPushTimeout is the default of AIPERF_OTEL_REQUEST_TIMEOUT_SECONDS, before which the standard's variable goes.
const ownPushTimeout = 10 * time.Second

// openOTel returns the publisher for the collector of --otel-url, nil where there is none. It reads what the
// environment says of the collector, so that a variable that is wrong shows before anything is sent.
func openOTel(e *command.Env, cfg *config.Run, _ *runlog.Log) (progress.Observer, error) {
	c, env := &cfg.OTel, &cfg.Env.OTel
	if c.URL == nil {
		return nil, nil
	}
	environment, err := otlp.ReadEnvironment(e.LookupEnv)
	if err != nil {
		return nil, err
	}
	o := otlp.Options{
		URL: c.URL, Environment: environment, Requests: c.Metrics, Timing: c.Timing, Interval: env.FlushInterval,
		Timeout: env.RequestTimeout, MaxBatch: env.MaxBatch, MaxBuffered: env.MaxBuffered, Provider: c.Provider,
	}
	if o.Timeout == ownPushTimeout {
		o.Timeout = environment.Timeout(o.Timeout)
	}
	redactor := cfg.Redactor()
	for _, at := range c.Attributes {
		o.Attributes = append(o.Attributes, otlp.Attribute{Name: at.Name, Value: shown(redactor, at.Name, at.Value)})
	}
	return otlp.New(o), nil
}

// shown returns the value of a name as it may be published.
func shown(redactor *artifact.Redactor, name, value string) string {
	if artifact.IsSensitiveName(name) {
		return artifact.Redacted
	}
	return redactor.Values(value)
}
