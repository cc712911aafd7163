package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/random"
	"aiperf/internal/config"
	"aiperf/internal/result/report"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
)

// writeInputs writes inputs.json. A turn that cannot be formatted ends the run; a file that cannot be
// written does not, and is told at the end.
func (c *content) writeInputs(context.Context) error {
	if c.data.NoInputs {
		c.log.Info("inputs.json is left out: the requests are those of the recording")
		return nil
	}
	if c.inputsWillBeTooLarge() {
		c.warnInputsLeftOut()
		return nil
	}
	err := report.WriteInputs(c.cfg.Artifacts.Path(config.InputsJSON), c.redactor, c.cfg.Env.Dataset.InputsMaxBytes,
		c.inputs())
	var payload *report.PayloadError
	switch {
	case errors.As(err, &payload):
		return payload
	case errors.Is(err, report.ErrInputsTooLarge):
		c.warnInputsLeftOut()
	case err != nil:
		c.log.Error("inputs.json could not be written", "error", err)
		c.inputsError = err
	}
	return nil
}

// inputs returns the payloads of all turns that are sent, in the order of the data set, made one at a time.
func (c *content) inputs() iter.Seq2[report.Input, error] {
	return func(yield func(report.Input, error) bool) {
		for i := range c.data.Len() {
			conversation := c.data.At(i)
			if errors.Is(conversation.Broken, dataset.ErrNotPlayed) {
				continue
			}
			for turn := range conversation.Turns {
				if conversation.Turns[turn].Silent {
					continue
				}
				payload, err := session.Payload(c.endpoint, conversation, turn)
				payload, ok := c.pluginPayload(payload, err)
				if !ok {
					continue
				}
				if !yield(report.Input{SessionID: conversation.SessionID, Payload: payload,
					Headers: session.DataHeaders(conversation, turn)}, err) {
					return
				}
			}
		}
	}
}

func (c *content) warnInputsLeftOut() {
	c.log.Warn(fmt.Sprintf("inputs.json is left out: it would be larger than %d bytes; "+
		"AIPERF_DATASET_INPUTS_JSON_MAX_BYTES sets the limit, 0 is none",
		c.cfg.Env.Dataset.InputsMaxBytes))
}

// inputSamples conversations are formatted to guess the size of inputs.json.
const inputSamples = 128

// inputsWillBeTooLarge guesses from some conversations, so that gigabytes are not formatted in vain. A file that may
// just be small enough is written until the limit shows.
func (c *content) inputsWillBeTooLarge() bool {
	limit, n := c.cfg.Env.Dataset.InputsMaxBytes, c.data.Len()
	if limit == 0 || n < 2*inputSamples {
		return false
	}
	sum, squares, pick := 0.0, 0.0, random.Root(uint64(n)).Stream("inputs.samples").At(0)
	for range inputSamples {
		conversation, bytes := c.data.At(pick.IntN(n)), 0.0
		if errors.Is(conversation.Broken, dataset.ErrNotPlayed) {
			continue // it takes no place
		}
		for turn := range conversation.Turns {
			if conversation.Turns[turn].Silent {
				continue
			}
			payload, err := session.Payload(c.endpoint, conversation, turn)
			if err != nil {
				return false // the writer tells of it
			}
			bytes += float64(len(payload))
		}
		sum, squares = sum+bytes, squares+bytes*bytes
		if sum > float64(limit) {
			return true
		}
	}
	const k, sure = inputSamples, 4 // standard errors
	mean := sum / k
	spread := math.Sqrt(max(0, squares/k-mean*mean) / k)
	return (mean-sure*spread)*float64(n) > float64(limit)
}

// pluginPayload is a payload for inputs.json: what the program could not encode is left out, and a body
// that is no JSON stands there as a text. What fails is an error of its request, not of the run.
func (c *content) pluginPayload(payload []byte, err error) (text []byte, ok bool) {
	var known *endpoint.EncodeError
	switch {
	case c.plugin == nil:
		return payload, true
	case errors.As(err, &known):
		c.unencoded.Do(func() {
			c.log.Warn("inputs.json lacks turns that the plugin could not encode", "error",
				c.redactor.Text(err.Error()))
		})
		return nil, false
	case err == nil && !json.Valid(payload):
		return artifact.AppendString(nil, string(payload)), true
	}
	return payload, true
}
