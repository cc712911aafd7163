package run

import (
	"context"
	"slices"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/plan"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/control"
)

// shownURLs are those that are asked, without secrets.
func (e *execution) shownURLs() []string {
	list := make([]string, len(e.urls))
	for i, u := range e.urls {
		list[i] = e.redactor.URL(u)
	}
	return list
}

// modelsPatience bounds the question which models a server has, once requests for one failed.
const modelsPatience = 5 * time.Second

// advise logs what to try against the errors of the run, and asks the server for its models where that helps.
func (o *outcome) advise() {
	var failures []*record.Error
	for i := range o.Result.Errors {
		failures = append(failures, &o.Result.Errors[i].Error)
	}
	list := hint.ForAll(failures)
	o.Hints = list
	for _, h := range list {
		o.log.Warn("Requests failed. " + h.String())
	}
	if !slices.ContainsFunc(list, func(h hint.Hint) bool { return h.Name == hint.UnknownModel }) || o.cfg.Endpoint.GRPC {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), modelsPatience)
	defer cancel()
	names, from, err := o.serverModels(ctx)
	if err != nil {
		return // the errors of the run say enough
	}
	note := o.redactor.Text(from + " offers " + control.Listed(names))
	o.log.Warn(note)
	o.Console.Notes = append(slices.Clip(o.Console.Notes), note)
}

// serverModels asks the first server of the run for its models; from is the address that answered.
func (e *execution) serverModels(ctx context.Context) (names []string, from string, err error) {
	own, err := e.controlTransport()
	if err != nil {
		return nil, "", err
	}
	defer own.Close()
	return e.controlOptions(own).ListModels(ctx, e.cfg.Endpoint.URLs[0])
}

// controlTransport is a client of its own: what it does leaves no warm connection to the load.
func (e *execution) controlTransport() (transport, error) {
	options := e.clientOptions(1)
	options.Reuse, options.Timeout = client.ReuseNever, 0
	return e.newTransport(options)
}

func (e *execution) controlOptions(own transport) control.Options {
	log, headers := e.options.Log.Logger("control"), plan.Headers(e.cfg, &e.descriptor, e.options.Version)
	return control.Options{
		Sender:  own,
		Headers: func(stream bool, contentType string) []record.Header { return headers.List(stream, contentType) },
		Log:     func(message string) { log.Info(e.redactor.Text(message)) },
	}
}

// FindModel returns the only model that the first server of a run offers, for a run whose user named none, and a line for
// the log that says so.
func FindModel(ctx context.Context, cfg *config.Run, o Options) (model, note string, err error) {
	e := &execution{cfg: cfg, options: o, log: o.Log.Logger("run"), clock: clock.New()}
	defer e.close()
	if err := e.bind(ctx); err != nil {
		return "", "", err
	}
	if err := e.identify(ctx); err != nil {
		return "", "", err
	}
	names, from, err := e.serverModels(ctx)
	switch {
	case err != nil:
		return "", "", &NoModelError{e.redactor.Text(err.Error())}
	case len(names) != 1 || names[0] == "":
		return "", "", &NoModelError{e.redactor.Text(from + " offers " + control.Listed(names))}
	}
	return names[0], "No --model is given: taking the only one that " + from + " offers, " + names[0], nil
}

// NoModelError is a run without a model: the user named none, and the server does not offer exactly one.
type NoModelError struct{ Reason string }

func (e *NoModelError) Error() string {
	return "no --model is given, and " + e.Reason + "; name the model to benchmark with --model"
}
