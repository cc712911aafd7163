package run

import (
	"context"
	"slices"
	"time"

	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/control"
)

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
	names, from, err := o.target.serverModels(ctx)
	if err != nil {
		return // the errors of the run say enough
	}
	note := o.redactor.Text(from + " offers " + control.Listed(names))
	o.log.Warn(note)
	o.Console.Notes = append(slices.Clip(o.Console.Notes), note)
}
