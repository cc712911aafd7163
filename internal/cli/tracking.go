package cli

import (
	"cmp"
	"os/user"
	"path"
	"path/filepath"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/mlflow"
	"aiperf/internal/run"
)

// tracking tracks the runs of the program on an MLflow server, one after the other.
type tracking struct {
	environment *mlflow.Environment
	redactor    *artifact.Redactor
	tracker     *mlflow.Tracker
}

// newTracking reads what the environment says of the server; nil is for runs that are not tracked.
func (a *app) newTracking(cfg *config.Run) (*tracking, error) {
	if cfg.MLflow.URI == nil {
		return nil, nil
	}
	environment, err := mlflow.ReadEnvironment(a.env)
	if err != nil {
		return nil, err
	}
	return &tracking{environment: environment, redactor: cfg.Redactor()}, nil
}

// Begin implements run.Observer.
func (t *tracking) Begin(b run.Beginning) {
	cfg := b.Config
	m := &cfg.MLflow
	o := mlflow.Options{
		URI: m.URI, Environment: t.environment, Experiment: t.redactor.Values(m.Experiment), ParentRunID: m.ParentRunID,
		RunName: t.redactor.Values(runName(m.RunName, &b)), User: cmp.Or(t.environment.User(), userName()),
		Params: parameters(cfg, t.redactor),
		Dir:    cfg.Artifacts.Dir, Globs: m.Globs, Export: cfg.Artifacts.Path(config.MLflowJSON),
		Interval: cfg.Env.OTel.FlushInterval, Timeout: cfg.Env.MLflow.Timeout,
		BenchmarkID: b.BenchmarkID, Version: Version, Set: b.Metrics, Log: b.Log.Logger("mlflow"),
		Redact: t.redactor.Text,
	}
	if o.Globs == nil {
		o.Globs = mlflow.DefaultGlobs(path.Dir(filepath.ToSlash(cfg.Artifacts.Prefix)))
	}
	for _, tag := range m.Tags {
		value := t.redactor.Values(tag.Value)
		if artifact.IsSensitiveName(tag.Name) {
			value = artifact.Redacted
		}
		o.Tags = append(o.Tags, mlflow.Entry{Key: tag.Name, Value: value})
	}
	if label := b.Info.RunLabel; label != "" {
		o.Tags = append(o.Tags, mlflow.Entry{Key: "aiperf.run_label", Value: label})
	}
	t.tracker = mlflow.New(o)
}

// shortID is how much of a benchmark's id stands in names.
const shortID = 8

// runName is the name of a run elsewhere: the user's own, which the runs of a series share and are told apart by their
// labels.
func runName(own string, b *run.Beginning) string {
	if own != "" && b.Info.RunLabel != "" {
		return own + "-" + b.Info.RunLabel
	}
	return cmp.Or(own, "aiperf-"+b.BenchmarkID[:min(shortID, len(b.BenchmarkID))])
}

// userName is who runs the program, as the system knows him.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// parameters are what a tracker is told of the configuration.
func parameters(cfg *config.Run, redactor *artifact.Redactor) []mlflow.Entry {
	p := cfg.Profiling()
	text := func(v any) string {
		b, err := artifact.AppendJSON(nil, v)
		if err != nil {
			return ""
		}
		return string(b)
	}
	urls := make([]string, len(cfg.Endpoint.URLs))
	for i, u := range cfg.Endpoint.URLs {
		urls[i] = artifact.RedactURLs(u)
	}
	directory, err := filepath.Abs(cfg.Artifacts.Dir)
	if err != nil {
		directory = cfg.Artifacts.Dir
	}
	list := []mlflow.Entry{
		{Key: "endpoint.type", Value: cfg.Endpoint.Type},
		{Key: "endpoint.models", Value: strings.Join(cfg.Models, ",")},
		{Key: "endpoint.urls", Value: strings.Join(urls, ",")},
		{Key: "timing.mode", Value: p.YAMLType()},
		{Key: "output.artifact_directory", Value: directory},
	}
	if p.Concurrency != nil {
		list = append(list, mlflow.Entry{Key: "loadgen.concurrency", Value: text(int64(*p.Concurrency))})
	}
	if rate := p.PlannedRate(); rate > 0 {
		list = append(list, mlflow.Entry{Key: "loadgen.request_rate", Value: text(rate)})
	}
	if p.Requests != nil {
		list = append(list, mlflow.Entry{Key: "loadgen.request_count", Value: text(*p.Requests)})
	}
	if p.Duration != nil {
		list = append(list, mlflow.Entry{Key: "loadgen.benchmark_duration", Value: text(p.Duration.Seconds())})
	}
	list = append(list, mlflow.Entry{Key: "aiperf.cli_command", Value: cfg.CLICommand})
	for i := range list {
		list[i].Value = redactor.Values(list[i].Value)
	}
	return list
}

// Record implements run.Observer.
func (t *tracking) Record(r *record.Record) { t.tracker.Record(r) }

// Show implements run.Observer.
func (t *tracking) Show(s run.Snapshot) { t.tracker.Show(s.Phases, s.NowNS) }

// End implements run.Observer.
func (t *tracking) End(out *run.Outcome, s run.Snapshot) {
	t.tracker.Show(s.Phases, s.NowNS)
	var ending mlflow.Ending
	for i := range s.Phases {
		if p := &s.Phases[i]; p.Kind == load.Profiling {
			ending.Expected = p.ExpectedRequests
		}
		ending.Cancelled = ending.Cancelled || s.Phases[i].WasCancelled
	}
	if out != nil {
		ending.Result = &out.Result
		ending.Cancelled = out.Result.WasCancelled
		ending.Failed = len(faults(out)) > 0
	}
	t.tracker.Finish(ending)
}

// waitForUploads waits until the observers that upload something have done so.
func waitForUploads(observers []run.Observer, i *interrupts) {
	for _, o := range observers {
		if t, ok := o.(*tracking); ok {
			t.wait(i.Stop)
		}
	}
}

// wait waits for the upload; a run that failed before its first request has none.
func (t *tracking) wait(stop <-chan struct{}) {
	if t.tracker == nil {
		return
	}
	t.tracker.Wait(stop)
	t.tracker = nil
}
