package session

import (
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
)

// followUp is an endpoint's job as the client follows it.
type followUp struct{ endpoint.Job }

// Next implements client.FollowUp.
func (f followUp) Next(url string, body []byte) client.Next { return client.Next(f.Step(url, body)) }
