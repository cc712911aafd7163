// Package prom reads Prometheus text: the classic exposition format and OpenMetrics, by one tolerant
// parser, and fetches it from an endpoint.
//
// Vocabulary: a family is a metric name with its type and help; a series is one label set of a family;
// a body is the text of one scrape. The invariant: between scrapes only values change, so a [Parser] keeps what it
// learned, and the same bytes before a value always lead to the same *[Series], without parsing labels again. The
// package must never know what a metric means.
package prom

// Type is what a family measures.
type Type uint8

// The types that are kept. Info is a gauge of value 1 under NAME_info. Summaries stand apart, see [Options].
const (
	Unknown Type = iota
	Gauge
	Counter
	Histogram
	Summary
)

// String returns the type as it stands in files.
func (t Type) String() string {
	return [...]string{"unknown", "gauge", "counter", "histogram", "summary"}[t]
}

// Bucketed reports whether a series has several numbers, a sum and a count.
func (t Type) Bucketed() bool { return t == Histogram || t == Summary }

// Label is one label of a series. Label lists are sorted by name.
type Label struct{ Name, Value string }

// Family is a metric. Name is the exported one: a counter's _total is stripped, unless another family of the page
// has the name without.
type Family struct {
	Name, Help string
	Type       Type
}

// Series is one label set of a family at one endpoint, the same pointer in every body of a Parser.
type Series struct {
	Family *Family
	Labels []Label
	// Bounds are the texts of a histogram's le labels, ascending, +Inf last, as its first body gave them; of a summary
	// those of its quantile labels.
	Bounds []string
	// Upper are the bounds as numbers.
	Upper []float64
}

// Sample is the value of a series in one body.
type Sample struct {
	Series *Series
	// Value is set for all but histograms and summaries.
	Value float64
	// Buckets are the cumulative counts in the order of Series.Bounds, of a summary its quantiles, NaN where one is not
	// known; valid until the next body is parsed.
	Buckets    []float64
	Sum, Count float64
}
