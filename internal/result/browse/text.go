package browse

import (
	"net/url"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"aiperf/internal/result/answer"
)

// yamlOf writes a JSON value as YAML, in its order.
func yamlOf(raw []byte) string {
	text, err := yaml.JSONToYAML(raw)
	if err != nil {
		return string(raw)
	}
	return string(text)
}

// sortedMetrics returns the metrics of flattened keys, those first that matter most.
func sortedMetrics(units map[string]string) []answer.Metric {
	list := answer.Metrics(units)
	return slices.Clip(list)
}

// escapePath escapes the elements of a path with slashes for an address.
func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
