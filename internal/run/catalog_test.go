package run

import (
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/pluginfile"
)

// TestTrapMetricsThatNoRunCanHave: a condition on one of them would never be met.
func TestTrapMetricsThatNoRunCanHave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tag, want string
		change    func(*config.Run)
	}{
		{"request_latency", "", nil},
		{"server_start_time", "", nil},
		{"time_to_first_tokn", "did you mean time_to_first_token?", nil},
		{"time_to_first_token", "add --streaming", nil},
		{"time_to_first_token", "", func(c *config.Run) { c.Endpoint.Streaming = true }},
		{"goodput", "add --goodput", nil},
		{"goodput", "", func(c *config.Run) { c.SLOs = []config.SLO{{Tag: "request_latency", Value: 5}} }},
		{"output_token_throughput", "", nil},
		{"output_token_throughput", "endpoint type embeddings", func(c *config.Run) { c.Endpoint.Type = "embeddings" }},
		{"politeness", "no metric of this name", nil},
		{"politeness", "", func(c *config.Run) { c.Plugins.Metrics = []pluginfile.Program{{Name: "politeness"}} }},
		{"request_latency", "", func(c *config.Run) { c.Endpoint.Type = "an endpoint of a plug-in" }},
	} {
		cfg := &config.Run{Endpoint: config.Endpoint{Type: "chat"}}
		if c.change != nil {
			c.change(cfg)
		}
		if got := Lacks(cfg, c.tag); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.tag, got, c.want)
		}
	}
}
