package run

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"aiperf/internal/base/random"
	"aiperf/internal/config"
	"aiperf/internal/result/report"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
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
			if errors.Is(c.Broken, dataset.ErrNotPlayed) {
				continue
			}
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

// inputSamples conversations are formatted to guess the size of inputs.json.
const inputSamples = 128

// inputsWillBeTooLarge guesses from some conversations, so that gigabytes are not formatted in vain. A file that may
// just be small enough is written until the limit shows.
func (e *execution) inputsWillBeTooLarge() bool {
	limit, n := e.cfg.Env.Dataset.InputsMaxBytes, e.data.Len()
	if limit == 0 || n < 2*inputSamples {
		return false
	}
	sum, squares, pick := 0.0, 0.0, random.Root(uint64(n)).Stream("inputs.samples").At(0)
	for range inputSamples {
		c, bytes := e.data.At(pick.IntN(n)), 0.0
		if errors.Is(c.Broken, dataset.ErrNotPlayed) {
			continue // it takes no place
		}
		for turn := range c.Turns {
			if c.Turns[turn].Silent {
				continue
			}
			payload, err := session.Payload(e.endpoint, c, turn)
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
