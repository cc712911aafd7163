package run

import (
	"errors"
	"fmt"
	"iter"

	"aiperf/internal/config"
	"aiperf/internal/report"
	"aiperf/internal/session"
)

// writeInputs writes inputs.json. A turn that cannot be formatted ends the run; a file that cannot be
// written does not, and is told at the end.
func (e *execution) writeInputs() error {
	if e.data.NoInputs {
		e.log.Info("inputs.json is left out: the requests are those of the recording")
		return nil
	}
	if e.inputsWillBeTooLarge() {
		e.warnInputsLeftOut()
		return nil
	}
	err := report.WriteInputs(e.cfg.Artifacts.Path(config.InputsJSON), e.redactor, e.cfg.Env.Dataset.InputsMaxBytes, e.inputs())
	var payload *report.PayloadError
	switch {
	case errors.As(err, &payload):
		return payload
	case errors.Is(err, report.ErrInputsTooLarge):
		e.warnInputsLeftOut()
	case err != nil:
		e.log.Error("inputs.json could not be written", "error", err)
		e.inputsError = err
	}
	return nil
}

func (e *execution) inputs() iter.Seq2[report.Input, error] {
	return func(yield func(report.Input, error) bool) {
		for i := range e.data.Len() {
			c := e.data.At(i)
			for turn := range c.Turns {
				if c.Turns[turn].Silent {
					continue
				}
				payload, err := session.Payload(e.endpoint, c, turn)
				payload, ok := e.pluginPayload(payload, err)
				if !ok {
					continue
				}
				if !yield(report.Input{SessionID: c.SessionID, Payload: payload}, err) {
					return
				}
			}
		}
	}
}

func (e *execution) warnInputsLeftOut() {
	e.log.Warn(fmt.Sprintf("inputs.json is left out: it would be larger than %d bytes; AIPERF_DATASET_INPUTS_JSON_MAX_BYTES sets the limit, 0 is none",
		e.cfg.Env.Dataset.InputsMaxBytes))
}

// Conversations that are formatted to guess the size of inputs.json, and by how much the guess must exceed the limit:
// a file near it is written until the limit shows.
const (
	inputSamples = 32
	inputMargin  = 2
)

// inputsWillBeTooLarge guesses from some conversations, so that gigabytes are not formatted in vain.
func (e *execution) inputsWillBeTooLarge() bool {
	limit, n := e.cfg.Env.Dataset.InputsMaxBytes, e.data.Len()
	if limit == 0 || n < 2*inputSamples {
		return false
	}
	bytes, turns := int64(0), int64(0)
	for i := range inputSamples {
		c := e.data.At(i * n / inputSamples)
		for turn := range c.Turns {
			if c.Turns[turn].Silent {
				continue
			}
			payload, err := session.Payload(e.endpoint, c, turn)
			if err != nil {
				return false // the writer tells of it
			}
			bytes, turns = bytes+int64(len(payload)), turns+1
			if bytes > limit {
				return true
			}
		}
	}
	return turns > 0 && float64(bytes)/float64(turns)*float64(e.data.Turns()) > inputMargin*float64(limit)
}
