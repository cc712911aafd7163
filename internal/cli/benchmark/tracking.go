package benchmark

import (
	"cmp"
	"os/user"
	"path"
	"path/filepath"

	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/publish/mlflow"
	"aiperf/internal/publish/progress"
	"aiperf/internal/publish/upload"
	"aiperf/internal/publish/wandb"
	"aiperf/internal/view/runlog"
)

// openMLflow returns the publisher for the server of --mlflow-tracking-uri, nil where there is none. It reads what the
// environment says of the server, so that a variable that is wrong shows before anything is sent.
func openMLflow(e *command.Env, cfg *config.Run, _ *runlog.Log) (progress.Observer, error) {
	m := &cfg.MLflow
	if m.URI == nil {
		return nil, nil
	}
	environment, err := mlflow.ReadEnvironment(e.LookupEnv)
	if err != nil {
		return nil, err
	}
	redactor := cfg.Redactor()
	o := mlflow.Options{
		URI: m.URI, Environment: environment, Experiment: redactor.Values(m.Experiment), ParentRunID: m.ParentRunID,
		RunName: redactor.Values(m.RunName), User: cmp.Or(environment.User(), userName()),
		Globs: m.Globs, Export: cfg.Artifacts.Name(config.MLflowJSON),
		Interval: cfg.Env.OTel.FlushInterval, Timeout: cfg.Env.MLflow.Timeout, Redactor: redactor,
	}
	if o.Globs == nil {
		o.Globs = upload.Patterns(path.Dir(filepath.ToSlash(cfg.Artifacts.Prefix)))
	}
	for _, tag := range m.Tags {
		o.Tags = append(o.Tags, mlflow.Entry{Key: tag.Name, Value: shown(redactor, tag.Name, tag.Value)})
	}
	return mlflow.New(o), nil
}

// openWandB returns the publisher for the project of --wandb-project, nil where there is none. It reads the key, so
// that a missing one shows before anything is sent.
func openWandB(e *command.Env, cfg *config.Run, _ *runlog.Log) (progress.Observer, error) {
	w := &cfg.WandB
	if w.Project == "" {
		return nil, nil
	}
	environment, err := wandb.ReadEnvironment(e.LookupEnv)
	if err != nil || environment.Disabled {
		return nil, err
	}
	redactor := cfg.Redactor()
	o := wandb.Options{
		Environment: environment, Project: redactor.Values(w.Project), Entity: cmp.Or(w.Entity, environment.Entity),
		RunName: redactor.Values(w.RunName),
		Globs:   append(upload.Patterns(path.Dir(filepath.ToSlash(cfg.Artifacts.Prefix))), "*_timeslices.*"),
		// It is written while this upload goes on.
		Without: []string{cfg.Artifacts.Name(config.MLflowJSON)},
		Timeout: cfg.Env.WandB.Timeout, Redactor: redactor,
	}
	for _, name := range cfg.Env.UI.ConsoleGroups {
		o.Groups = append(o.Groups, metrics.Group(name))
	}
	for _, tag := range w.Tags {
		o.Tags = append(o.Tags, redactor.Values(tag))
	}
	return wandb.New(o), nil
}

// userName is who runs the program, as the system knows him.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}
