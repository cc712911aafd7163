package parse

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/scalar"
	"aiperf/internal/config"
	"aiperf/internal/config/fault"
)

// SLOs reads the value of --goodput: "tag:number" pairs separated by blanks. An alias becomes the tag that it
// stands for, and the limit of a time may have a unit. A later pair replaces an earlier one of the same tag. An unknown
// metric is not a fault here.
func SLOs(text string, metric func(name string) (config.MetricFacts, bool)) ([]config.SLO, error) {
	var slos []config.SLO
	for item := range strings.FieldsSeq(text) {
		name, limit, ok := strings.Cut(item, ":")
		if !ok || name == "" || limit == "" {
			return nil, fmt.Errorf("%s: each item must be in 'tag:number' format, separated by blanks",
				fault.Shorten(item))
		}
		slo := config.SLO{Tag: name}
		facts, known := metric(name)
		if known {
			slo.Tag = facts.Tag
		}
		var err error
		if facts.Unit > 0 {
			slo.Value, err = scalar.In(facts.Unit, limit)
		} else {
			slo.Value, err = scalar.Number(limit)
		}
		if err != nil || math.IsInf(slo.Value, 0) {
			return nil, fmt.Errorf("%s: the threshold is not a number", fault.Shorten(item))
		}
		slos = setSLO(slos, slo)
	}
	if len(slos) == 0 {
		return nil, errors.New("the value is empty; write tag:number pairs such as request_latency:250")
	}
	return slos, nil
}

func setSLO(slos []config.SLO, slo config.SLO) []config.SLO {
	for i := range slos {
		if slos[i].Tag == slo.Tag {
			slos[i].Value = slo.Value
			return slos
		}
	}
	return append(slos, slo)
}

// Percentiles reads the ranks of percentiles; p99.9 is 99.9 too. They come ascending, once each.
func Percentiles(items []string) ([]float64, error) {
	var ranks []float64
	for _, item := range items {
		rank, err := scalar.Number(strings.TrimPrefix(item, "p"))
		if err != nil || !(rank > 0 && rank < 100) {
			return nil, fmt.Errorf("%s is not a percentile: give numbers above 0 and below 100, such as 99.9",
				fault.Shorten(item))
		}
		ranks = append(ranks, rank)
	}
	if len(ranks) == 0 {
		return nil, errors.New("no percentile given; write for example 99.9,99.99")
	}
	slices.Sort(ranks)
	return slices.Compact(ranks), nil
}
