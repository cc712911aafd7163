package page

import (
	"aiperf/internal/mockserver/api"
	"aiperf/internal/mockserver/httpd"
	"math"
	"slices"
	"strconv"
)

// vary changes the families of a page as the fault asks for.
func vary(f *httpd.PageFault, families []family, bounds *[quantities][]int64, key pageKey) {
	counters, gauges := 0, 0
	for i := range families {
		family := &families[i]
		switch {
		case family.kind == kHistogram && key.relaid:
			family.layout = family.otherLayout(bounds)
		case family.kind == kCounter && family.dynamic == nil:
			if counters++; counters == 1 {
				family.series = slices.Concat(family.series, manySeries(f.Labels, family.series[0]))
			}
		case family.kind == kGauge:
			if gauges++; gauges == 1 {
				varyGauge(f, family, key.retyped)
			}
		}
	}
}

func varyGauge(f *httpd.PageFault, g *family, retyped bool) {
	if retyped {
		g.kind = kCounter
	}
	if !f.NaN && !f.Inf {
		return
	}
	value := math.NaN()
	if f.Inf {
		value = math.Inf(1)
	}
	g.series = slices.Clone(g.series)
	g.series[0].value = constant(value)
}

// manySeries returns n series like s, each with a label value of its own.
func manySeries(n int, s series) []series {
	list := make([]series, n)
	for i := range list {
		list[i] = series{labels: slices.Concat(s.labels, labels{{"request_id", strconv.Itoa(i)}}), value: s.value}
	}
	return list
}

// otherLayout returns another layout of a histogram: it lacks every second bound and has others that the page
// did not have.
func (f *family) otherLayout(bounds *[quantities][]int64) []float64 {
	of := f.series[0].of
	before := f.unitBounds(of)
	var layout []float64
	for i, bound := range bounds[of] {
		at, had := slices.BinarySearch(before, bound)
		if had && at%2 == 0 || !had && i%3 == 0 {
			layout = append(layout, float64(bound)/f.unitOf(of))
		}
	}
	return layout
}

// insteadOf returns what is sent in place of a page, and its media type.
func insteadOf(what string) (body []byte, contentType string) {
	switch what {
	case "html":
		return []byte("<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It " +
			"works</h1></body></html>\n"), "text/html; charset=utf-8"
	case "json":
		return []byte(`[{"iter":1,"status":"ok"}]`), api.JSONType
	}
	body = make([]byte, 4096)
	for i := range body {
		body[i] = byte(i*167 + i>>8)
	}
	return body, "application/octet-stream"
}
