package summary

import (
	"encoding/json"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/trust"
)

// ParseClient reads client_health, of a run that has just ended or of a file. What is of another type stays empty.
func ParseClient(health artifact.Object) (c trust.Document) {
	if text, err := artifact.AppendJSON(nil, health); err == nil {
		_ = json.Unmarshal(text, &c) // which sets what it understands
	}
	return c
}
