package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/plugin"
)

// startPlugin makes the program that the user named the endpoint of the run.
func (e *execution) startPlugin(ctx context.Context, o endpoint.Options) error {
	c, log := &e.cfg.Endpoint, e.options.Log.Logger("plugin")
	extra, err := artifact.AppendJSON(nil, append(artifact.Object{}, c.Extra...))
	if err != nil {
		return fmt.Errorf("--extra-inputs: %w", err)
	}
	e.plugin, err = plugin.Start(ctx, plugin.Options{
		Command:   c.Plugin,
		CallLimit: e.cfg.Env.Plugin.CallTimeout, StartLimit: e.cfg.Env.Plugin.StartTimeout,
		Greeting: plugin.Greeting{Model: e.cfg.Models[0], Models: e.cfg.Models, Streaming: c.Streaming, Extra: extra},
		Log:      func(line string) { log.Warn(e.redactor.Text(line)) },
	})
	if err != nil {
		return fmt.Errorf("--endpoint-plugin: %w", err)
	}
	e.endpoint = plugin.New(e.plugin, o)
	if c.Streaming && !e.endpoint.Descriptor().Streams {
		return fmt.Errorf("--streaming: the plugin %s does not stream; leave --streaming out", e.plugin.Manifest().Name)
	}
	return nil
}

// pluginPayload is a payload for inputs.json: what the program could not encode is left out, and a body
// that is no JSON stands there as a text. What fails is an error of its request, not of the run.
func (e *execution) pluginPayload(payload []byte, err error) (text []byte, ok bool) {
	var known *endpoint.EncodeError
	switch {
	case e.plugin == nil:
		return payload, true
	case errors.As(err, &known):
		e.unencoded.Do(func() {
			e.log.Warn("inputs.json lacks turns that the plugin could not encode", "error", e.redactor.Text(err.Error()))
		})
		return nil, false
	case err == nil && !json.Valid(payload):
		return artifact.AppendString(nil, string(payload)), true
	}
	return payload, true
}
