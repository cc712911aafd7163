package config

import "time"

// Catalog answers questions about things that live in other rooms.
type Catalog interface {
	// Metric finds a metric by its tag or an alias of it.
	Metric(name string) (MetricFacts, bool)
	// MetricTags lists the tags a goodput threshold may name, and their aliases, for suggestions.
	MetricTags() []string
	// Threshold checks a condition of --fail-if; percentiles are the ranks of --percentiles.
	Threshold(text string, percentiles []float64) error
	// DatasetFormat tells the format of a file from its content, "" if it cannot.
	DatasetFormat(path string) string
	// DatasetRoots is the number of sessions of a dag_jsonl file that no other one refers to, 0 if it cannot be read.
	DatasetRoots(path string) int64
}

// MetricFacts is what resolution needs to know about a metric.
type MetricFacts struct {
	// Tag is the metric's tag, also where it was found by an alias.
	Tag string
	// Unit is the unit in which a time is displayed; 0 for metrics that are not times.
	Unit time.Duration
	// Derived metrics are computed from aggregates and have no value for a single request.
	Derived bool
}
