package operator

import (
	"encoding/json"
	"maps"
	"slices"

	"aiperf/internal/cluster/kube/crd"
)

// serverMetricsFile is the export of what the servers said of themselves during a run.
const serverMetricsFile = "server_metrics_export.json"

// Limits of what a status shows of it. The file on the volume is complete.
const (
	maxServerFile   = 64 << 20 // bytes that are read of the file
	maxServerSeries = 256      // of a metric
	maxServerLabels = 16       // of a series
	maxServerStatus = 262144   // bytes in the status, beyond which it shows nothing
)

// serverMetrics is what a status shows of the export of server metrics: its metrics with their first series, and of
// these their first labels in the order of their names. It is nil where that is too much, or where there is nothing.
func serverMetrics(export []byte) crd.Object {
	var file struct {
		Summary struct {
			Endpoints []any `json:"endpoints_successful"`
		} `json:"summary"`
		Metrics map[string]crd.Object `json:"metrics"`
	}
	if json.Unmarshal(export, &file) != nil || len(file.Metrics) == 0 {
		return nil
	}
	metrics := crd.Object{}
	for name, family := range file.Metrics {
		delete(family, "description")
		if series, ok := family["series"].([]any); ok {
			series = series[:min(len(series), maxServerSeries)]
			for _, item := range series {
				fewerLabels(item)
			}
			family["series"] = series
		}
		metrics[name] = family
	}
	status := crd.Object{"endpoints": file.Summary.Endpoints, "metrics": metrics}
	if text, err := json.Marshal(status); err != nil || len(text) > maxServerStatus {
		return nil
	}
	return status
}

// fewerLabels removes the labels of a series that are too many.
func fewerLabels(series any) {
	s, _ := series.(crd.Object)
	labels, _ := s["labels"].(crd.Object)
	if len(labels) <= maxServerLabels {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(labels))[maxServerLabels:] {
		delete(labels, name)
	}
}
