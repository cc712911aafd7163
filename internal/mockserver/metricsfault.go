package mockserver

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
)

// metricsFault says how the metrics pages are spoilt. Times count from the start of the server.
type metricsFault struct {
	status         int           // answer with this status
	contentType    string        // instead of the right one
	instead        string        // "html", "json" or "binary": something else than a page
	truncated      bool          // the page ends within a line
	dropAfterBytes int           // the connection is closed after that many bytes; -1 = off
	hugeMiB        int           // a page of that many MiB; -1 = one that never ends; 0 = off
	slow           time.Duration // pause before each byte of the page
	delay          time.Duration // before anything else
	never          bool          // no answer
	gzip           bool          // the page comes compressed, whatever the client accepts
	nan, inf       bool          // the first gauge is not a number, or infinite
	duplicate      bool          // the first family stands twice
	labels         int           // so many further series in the first counter
	constant       bool          // the page stays what it was when it was first read
	resetAfter     instant       // counters restart from 0, once
	relayoutAfter  instant       // histograms have other bounds
	retypeAfter    instant       // the first gauge is a counter
	dieAfter       instant       // connections are closed without an answer
	backAfter      instant       // until then, if it is set
	gpuGoneAfter   instant       // the last GPU of a page is gone
	gpuBackAfter   instant       // until then, if it is set
	noEnergy       bool          // GPUs have no energy counter
	rate           float64       // the fraction of scrapes that is hit

	spec string
}

// instant is a time after the start that comes only if it is set.
type instant struct {
	set bool
	at  time.Duration
}

func (i instant) passed(since time.Duration) bool { return i.set && since >= i.at }

// metricsFaultKeys are the keys of --metrics-fault.
var metricsFaultKeys = []faultKey[metricsFault]{
	{name: "html", flag: func(f *metricsFault) { f.instead = "html" }},
	{name: "json", flag: func(f *metricsFault) { f.instead = "json" }},
	{name: "binary", flag: func(f *metricsFault) { f.instead = "binary" }},
	{name: "truncated", flag: func(f *metricsFault) { f.truncated = true }},
	{name: "status", set: func(f *metricsFault, v string) error { return scalar.SetInt(&f.status, v, 300, 599) }},
	{name: "content_type", set: func(f *metricsFault, v string) error { return setMediaType(&f.contentType, v) }},
	{name: "huge", flag: func(f *metricsFault) { f.hugeMiB = -1 },
		set: func(f *metricsFault, v string) error { return scalar.SetInt(&f.hugeMiB, v, 1, 1<<20) }},
	{name: "slow", flag: func(f *metricsFault) { f.slow = 100 * time.Millisecond },
		set: func(f *metricsFault, v string) error { return setMillis(&f.slow, v) }},
	{name: "delay_ms", set: func(f *metricsFault, v string) error { return setMillis(&f.delay, v) }},
	{name: "never", flag: func(f *metricsFault) { f.never = true }},
	{name: "drop_after_bytes", set: func(f *metricsFault, v string) error {
		return scalar.SetInt(&f.dropAfterBytes, v,
			0, math.MaxInt32)
	}},
	{name: "gzip", flag: func(f *metricsFault) { f.gzip = true }},
	{name: "nan", flag: func(f *metricsFault) { f.nan = true }},
	{name: "inf", flag: func(f *metricsFault) { f.inf = true }},
	{name: "duplicate", flag: func(f *metricsFault) { f.duplicate = true }},
	{name: "labels", set: func(f *metricsFault, v string) error { return scalar.SetInt(&f.labels, v, 1, 1<<20) }},
	{name: "constant", flag: func(f *metricsFault) { f.constant = true }},
	{name: "reset_after_s", set: func(f *metricsFault, v string) error { return f.resetAfter.parse(v) }},
	{name: "relayout_after_s", set: func(f *metricsFault, v string) error { return f.relayoutAfter.parse(v) }},
	{name: "retype_after_s", set: func(f *metricsFault, v string) error { return f.retypeAfter.parse(v) }},
	{name: "die_after_s", set: func(f *metricsFault, v string) error { return f.dieAfter.parse(v) }},
	{name: "rate", set: func(f *metricsFault, v string) error { return scalar.SetFloat(&f.rate, v, 0, 1) }},
}

func (i *instant) parse(v string) error {
	i.set = true
	return scalar.SetTime(&i.at, v, time.Second, MaxWait)
}

func noMetricsFault() metricsFault { return metricsFault{dropAfterBytes: -1, rate: 1} }

func parseMetricsFault(spec string) (metricsFault, error) {
	f := noMetricsFault()
	err := parseItems(metricsFaultKeys, spec, &f)
	f.spec = strings.TrimSpace(spec)
	return f, err
}

// vary changes the families of a page as the fault asks for.
func (f *metricsFault) vary(families []family, bounds *[quantities][]int64, key pageKey) {
	counters, gauges := 0, 0
	for i := range families {
		family := &families[i]
		switch {
		case family.kind == kHistogram && key.relaid:
			family.layout = family.relaid(bounds)
		case family.kind == kCounter && family.dynamic == nil:
			if counters++; counters == 1 {
				family.series = slices.Concat(family.series, exploded(f.labels, family.series[0]))
			}
		case family.kind == kGauge:
			if gauges++; gauges == 1 {
				f.varyGauge(family, key.retyped)
			}
		}
	}
}

func (f *metricsFault) varyGauge(g *family, retyped bool) {
	if retyped {
		g.kind = kCounter
	}
	if !f.nan && !f.inf {
		return
	}
	value := math.NaN()
	if f.inf {
		value = math.Inf(1)
	}
	g.series = slices.Clone(g.series)
	g.series[0].value = constant(value)
}

// exploded are n series beside s, each with a label value of its own.
func exploded(n int, s series) []series {
	list := make([]series, n)
	for i := range list {
		list[i] = series{labels: slices.Concat(s.labels, labels{{"request_id", strconv.Itoa(i)}}), value: s.value}
	}
	return list
}

// relaid is another layout of a histogram: it lacks every second bound and has others that the page
// did not have.
func (f *family) relaid(bounds *[quantities][]int64) []float64 {
	of := f.series[0].of
	before := f.fine(of)
	var layout []float64
	for i, bound := range bounds[of] {
		at, had := slices.BinarySearch(before, bound)
		if had && at%2 == 0 || !had && i%3 == 0 {
			layout = append(layout, float64(bound)/f.unitOf(of))
		}
	}
	return layout
}

// endlessLines is a valid stretch of a page that is written again and again.
func endlessLines() []byte {
	var b []byte
	for i := 0; len(b) < floodBytes; i++ {
		b = append(b, `aiperf_mock_endless{line="`...)
		b = append(strconv.AppendInt(b, int64(i), 10), "\"} 1\n"...)
	}
	return b
}

// insteadOf is what stands in the place of a page, and its type.
func insteadOf(what string) (body []byte, contentType string) {
	switch what {
	case "html":
		return []byte("<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It " +
			"works</h1></body></html>\n"), "text/html; charset=utf-8"
	case "json":
		return []byte(`[{"iter":1,"status":"ok"}]`), jsonType
	}
	body = make([]byte, 4096)
	for i := range body {
		body[i] = byte(i*167 + i>>8)
	}
	return body, "application/octet-stream"
}
