// Package prom compares our parser of metrics pages with those of Prometheus itself: on well-formed pages they must
// read the same values for the same series.
package prom

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"aiperf/internal/watch/prom"
)

// flat is a page as one number for each name and label set, counters without _total, bounds and
// quantiles as numbers: what all parsers can be compared by.
type flat map[string]float64

func (f flat) add(name string, pairs map[string]string, v float64) {
	var b strings.Builder
	b.WriteString(name)
	for _, k := range slices.Sorted(maps.Keys(pairs)) {
		value := pairs[k]
		if k == "le" || k == "quantile" {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				value = strconv.FormatFloat(n, 'g', -1, 64)
			}
		}
		fmt.Fprintf(&b, ",%q=%q", k, value)
	}
	f[b.String()] = v
}

func with(pairs map[string]string, k, v string) map[string]string {
	out := maps.Clone(pairs)
	if out == nil {
		out = map[string]string{}
	}
	out[k] = v
	return out
}

// ours reads a page with our parser, several times, the last time out of its memory.
func ours(body []byte, openMetrics bool) (flat, error) {
	p := prom.NewParser(prom.Options{})
	f := flat{}
	for range 3 {
		samples, err := p.Parse(body, openMetrics)
		if err != nil {
			return nil, err
		}
		clear(f)
		for _, s := range samples {
			pairs := map[string]string{}
			for _, l := range s.Series.Labels {
				pairs[l.Name] = l.Value
			}
			name := s.Series.Family.Name
			if s.Series.Family.Type != prom.Histogram {
				f.add(name, pairs, s.Value)
				continue
			}
			for i, bound := range s.Series.Bounds {
				f.add(name+"_bucket", with(pairs, "le", bound), s.Buckets[i])
			}
			f.add(name+"_sum", pairs, s.Sum)
			f.add(name+"_count", pairs, s.Count)
		}
	}
	return f, nil
}

// kept says how a sample of the page is exported, by the types that the page declares.
func kept(name string, types map[string]model.MetricType) (exported string, ok bool) {
	switch types[name] {
	case model.MetricTypeSummary:
		return "", false
	case model.MetricTypeCounter:
		return strings.TrimSuffix(name, "_total"), true
	}
	for _, suffix := range []string{"_sum", "_count"} {
		if base, cut := strings.CutSuffix(name, suffix); cut && types[base] == model.MetricTypeSummary {
			return "", false
		}
	}
	if base, cut := strings.CutSuffix(name, "_total"); cut && types[base] == model.MetricTypeCounter {
		return base, true
	}
	return name, !strings.HasSuffix(name, "_created")
}

// textparsed reads a page with the parser of the Prometheus server.
func textparsed(body []byte, openMetrics bool) (flat, error) {
	var p textparse.Parser
	if openMetrics {
		p = textparse.NewOpenMetricsParser(body, labels.NewSymbolTable())
	} else {
		p = textparse.NewPromParser(body, labels.NewSymbolTable(), false)
	}
	type sample struct {
		labels labels.Labels
		value  float64
	}
	var samples []sample
	types := map[string]model.MetricType{}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch entry {
		case textparse.EntryType:
			name, kind := p.Type()
			types[string(name)] = kind
		case textparse.EntrySeries:
			var s sample
			_, _, s.value = p.Series()
			p.Labels(&s.labels)
			samples = append(samples, s)
		}
	}
	f := flat{}
	for _, s := range samples {
		pairs := s.labels.Map()
		name, ok := kept(pairs[model.MetricNameLabel], types)
		delete(pairs, model.MetricNameLabel)
		if ok && !math.IsNaN(s.value) && !math.IsInf(s.value, 0) {
			f.add(name, pairs, s.value)
		}
	}
	return f, nil
}

// expfmted reads a classic page with the library of the exporters.
func expfmted(body []byte) (flat, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	f := flat{}
	scalar := func(name string, pairs map[string]string, v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			f.add(name, pairs, v)
		}
	}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			pairs := map[string]string{}
			for _, l := range m.GetLabel() {
				pairs[l.GetName()] = l.GetValue()
			}
			switch {
			case strings.HasSuffix(name, "_created"):
			case m.Counter != nil:
				scalar(strings.TrimSuffix(name, "_total"), pairs, m.GetCounter().GetValue())
			case m.Gauge != nil:
				scalar(name, pairs, m.GetGauge().GetValue())
			case m.Untyped != nil:
				scalar(name, pairs, m.GetUntyped().GetValue())
			case m.Histogram != nil:
				h := m.GetHistogram()
				for _, b := range h.GetBucket() {
					f.add(name+"_bucket", with(pairs, "le", fmt.Sprint(b.GetUpperBound())),
						float64(b.GetCumulativeCount()))
				}
				f.add(name+"_sum", pairs, h.GetSampleSum())
				f.add(name+"_count", pairs, float64(h.GetSampleCount()))
			}
		}
	}
	return f, nil
}

// same fails on the first differences of two readings of a page.
func same(t *testing.T, body []byte, who string, want, got flat) {
	t.Helper()
	differences := 0
	for k := range union(want, got) {
		w, inWant := want[k]
		g, inGot := got[k]
		if inWant == inGot && math.Float64bits(w) == math.Float64bits(g) {
			continue
		}
		if differences++; differences <= 5 {
			t.Errorf("%s: %s reads %v (%v), ours %v (%v)", k, who, w, inWant, g, inGot)
		}
	}
	if differences > 0 {
		t.Fatalf("%d differences in\n%.3000s", differences, body)
	}
}

func union(a, b flat) flat {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
