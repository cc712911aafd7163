package run

import (
	"fmt"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

// holds counts what the turns of a dataset have beside text.
func holds(data *dataset.Dataset) (h dataset.Holds) {
	if data.Store != nil {
		return data.Store.Holds()
	}
	for i := range data.Conversations {
		c := &data.Conversations[i]
		for j := range c.Turns {
			t := &c.Turns[j]
			for _, x := range []struct {
				is bool
				to *int
			}{
				{len(t.Images) > 0, &h.Images}, {len(t.Audios) > 0, &h.Audios}, {len(t.Videos) > 0, &h.Videos},
				{t.RawPayload != nil, &h.Payloads}, {t.RawPayload != nil && endpoint.Verbatim(t.RawPayload).Stream, &h.Streams},
				{t.RawMessages != nil && data.Mode(c) == dataset.DeltasWithoutResponses, &h.Threaded},
			} {
				if x.is {
					*x.to++
				}
			}
		}
	}
	return h
}

// checkHistories refuses conversations whose history an endpoint of single turns has no place for. Those of a file that
// is larger than memory are looked at up to a number; a later one fails when it is sent.
func checkHistories(data *dataset.Dataset, d endpoint.Descriptor) error {
	const enough = 10_000
	if !d.SingleTurn || data.Store != nil && data.DefaultContextMode == dataset.MessageArrayWithResponses {
		return nil
	}
	for i, looked := 0, 0; i < data.Len() && (data.Store == nil || looked < enough); i++ {
		if data.TurnsOf(i) < 2 {
			continue
		}
		looked++
		if c := data.At(i); data.Mode(c) != dataset.MessageArrayWithResponses {
			return fmt.Errorf("--endpoint-type %s takes single turns, but conversation %s has %d: its requests have no place for a history; "+
				"use --session-turns-mean 1, or data with one turn each", d.Name, c.SessionID, len(c.Turns))
		}
	}
	return nil
}
