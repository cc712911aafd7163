package run

import (
	"context"
	"fmt"
	"reflect"

	"aiperf/internal/wire/control"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/oip"
	"aiperf/internal/workload/dataset"
)

// describable is the endpoint as one whose requests take their form from what the servers say of the models; nil if it is
// none, or if the requests are those of a recording.
func (e *execution) describable() endpoint.Describable {
	d, ok := e.target.endpoint.(endpoint.Describable)
	if !ok || e.firstTurn().RawPayload != nil {
		return nil
	}
	return d
}

func (e *execution) firstTurn() *dataset.Turn { return e.content.data.At(0).Turns[0].Whole() }

// writeInputs writes inputs.json unless its requests are not known before the servers are ready.
func (e *execution) writeInputs(ctx context.Context) error {
	if e.describable() != nil {
		return nil
	}
	return e.content.writeInputs(ctx)
}

// describeModels asks the servers for the inputs of the run's models, and refuses a run whose requests a model cannot
// take. It then writes inputs.json. A server that does not say gets the requests in the form that fits most servers.
func (e *execution) describeModels(ctx context.Context) error {
	d := e.describable()
	if d == nil {
		return nil
	}
	o, own, err := e.target.control()
	if err != nil {
		return err
	}
	defer own.Close()
	for _, name := range e.cfg.Models {
		m, err := e.askInputs(ctx, o, name)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		e.log.Info("The inputs of the model " + name + " are " + m.InputNames())
		switch err := d.Describe(name, m, e.firstTurn()); {
		case err != nil && m.Configured:
			return err
		case err != nil: // which inputs may be left out is not known
			e.log.Warn("The server may refuse the requests: " + err.Error())
		}
	}
	return e.content.writeInputs(ctx)
}

// askInputs asks all servers of the run for the inputs of a model. The first that says them counts; one that says others
// gets a warning.
func (e *execution) askInputs(ctx context.Context, o control.Options, model string) (m *oip.Model, err error) {
	from := ""
	for _, url := range e.target.urls {
		got := o.ModelInputs(ctx, url, model, e.cfg.Endpoint.GRPC)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case got == nil:
		case m == nil:
			m, from = got, e.redactor.URL(url)
		case !reflect.DeepEqual(m, got):
			e.log.Warn(fmt.Sprintf("%s says that the model %s has other inputs (%s) than %s says; the requests have the "+
				"form of the latter", e.redactor.URL(url), model, got.InputNames(), from))
		}
	}
	return m, nil
}
