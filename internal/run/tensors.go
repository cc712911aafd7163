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
func (c *content) describable() endpoint.Describable {
	d, ok := c.endpoint.(endpoint.Describable)
	if !ok || c.firstTurn().RawPayload != nil {
		return nil
	}
	return d
}

func (c *content) firstTurn() *dataset.Turn { return c.data.At(0).Turns[0].Whole() }

// writeKnownInputs writes inputs.json unless its requests are not known before the servers are ready.
func (c *content) writeKnownInputs(ctx context.Context) error {
	if c.describable() != nil {
		return nil
	}
	return c.writeInputs(ctx)
}

// describeModels asks the servers for the inputs of the run's models, and refuses a run whose requests a model cannot
// take. It then writes inputs.json. A server that does not say gets the requests in the form that fits most servers.
func (c *content) describeModels(ctx context.Context) error {
	d := c.describable()
	if d == nil {
		return nil
	}
	o, own, err := c.control()
	if err != nil {
		return err
	}
	defer own.Close()
	for _, name := range c.cfg.Models {
		m, err := c.askInputs(ctx, o, name)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		c.log.Info("The inputs of the model " + name + " are " + m.InputNames())
		switch err := d.Describe(name, m, c.firstTurn()); {
		case err != nil && m.Configured:
			return err
		case err != nil: // which inputs may be left out is not known
			c.log.Warn("The server may refuse the requests: " + err.Error())
		}
	}
	return c.writeInputs(ctx)
}

// askInputs asks all servers of the run for the inputs of a model. The first that says them counts; one that says others
// gets a warning.
func (c *content) askInputs(ctx context.Context, o control.Options, model string) (m *oip.Model, err error) {
	from := ""
	for _, url := range c.urls {
		got := o.ModelInputs(ctx, url, model, c.cfg.Endpoint.GRPC)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case got == nil:
		case m == nil:
			m, from = got, c.redactor.URL(url)
		case !reflect.DeepEqual(m, got):
			c.log.Warn(fmt.Sprintf("%s says that the model %s has other inputs (%s) than %s says; the requests have the "+
				"form of the latter", c.redactor.URL(url), model, got.InputNames(), from))
		}
	}
	return m, nil
}
