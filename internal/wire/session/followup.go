package session

import (
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
)

// followUp brings the steps of an endpoint's job into the client's terms.
type followUp struct{ job endpoint.Job }

// Next implements client.FollowUp.
func (f followUp) Next(url string, body []byte) client.Next {
	s := f.job.Step(url, body)
	return client.Next{URL: s.URL, Wait: s.Wait, Keep: s.Keep, Discard: s.Discard, Err: decodeError(s.Err)}
}

// TimedOut implements client.FollowUp.
func (f followUp) TimedOut(limit time.Duration) *record.Error {
	return decodeError(f.job.TimedOut(limit))
}

// Failed implements client.FollowUp.
func (f followUp) Failed(status int, err *record.Error) *record.Error {
	return decodeError(f.job.Failed(status, err.Message))
}

func decodeError(e *endpoint.DecodeError) *record.Error {
	if e == nil {
		return nil
	}
	return &record.Error{Code: e.Code, HasCode: e.HasCode, Type: e.Type, Message: e.Message}
}
