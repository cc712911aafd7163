package summary

import (
	"encoding/json"

	"aiperf/internal/base/artifact"
)

// Client is the judgement of the client in client_health.
type Client struct {
	// Verdict is empty where the client was not judged.
	Verdict string         `json:"verdict"`
	Reasons []ClientReason `json:"reasons"`
	// Bounds are how much of a metric is the client's own, by the tags of the metrics.
	Bounds map[string]ClientBound `json:"error_bound"`
}

// ClientReason is a finding on the client, or on the course of the run.
type ClientReason struct {
	Code    string `json:"code"`
	LeadsTo string `json:"leads_to"`
	Message string `json:"message"`
	Advice  string `json:"advice"`
}

// ClientBound is an upper bound.
type ClientBound struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// ParseClient reads client_health, of a run that has just ended or of a file. What is of another type stays empty.
func ParseClient(health artifact.Object) (c Client) {
	if text, err := artifact.AppendJSON(nil, health); err == nil {
		_ = json.Unmarshal(text, &c) // which sets what it understands
	}
	return c
}
