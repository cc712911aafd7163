package selftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/measure/recordfile"
)

// relative is the relative difference that the order of additions may cause.
const relative = 1e-9

// arithmetic recomputes the headline metrics of a run from the raw time stamps of the client and the token counts of
// the server, by the definitions of docs/metrics.md.
func (t *tester) arithmetic() ([]Section, error) {
	s := Section{ID: "arithmetic", Title: "Arithmetic",
		Meaning: "records and summary recomputed from the raw time stamps: equal except for the rounding of sums",
		Columns: []string{"values"}}
	out, truth, err := t.exchange("arithmetic",
		[]string{"--ttft", "8", "--itl", "2", "--ttft-jitter-cv", "0.5", "--itl-jitter-cv", "0.5"},
		[]string{"--streaming", "--concurrency", "8", "--request-count", pick(t, "64", "24"), "--isl", "40",
			"--isl-stddev", "10",
			"--osl", "24", "--osl-stddev", "8", "--extra-inputs", "ignore_eos:true", "--export-level", "raw"})
	if errors.Is(err, errStopped) {
		return nil, err
	}
	if err != nil {
		s.Lines = []Line{{ID: "run", Title: "run", Grade: Fail, Note: err.Error()}}
		return []Section{s}, nil
	}
	raw, rawErr := out.raw()
	records, recordsErr := out.records()
	summary, summaryErr := out.summary()
	if err := errors.Join(rawErr, recordsErr, summaryErr); err != nil {
		return nil, err
	}
	s.Lines = compute(raw, records, truth, summary)
	return []Section{s}, nil
}

// computed are the values of a run by metric, one for each request or, for gaps, many.
type computed struct {
	values            map[string][]float64
	firstNS, lastNS   int64
	requests, outputs float64
}

// compute makes the lines: each record's values, the statistics over them, and the rates.
func compute(raw []rawLine, records []*recordfile.Request, truth []serverLine, summary summaryFile) []Line {
	var d differences
	byID := matched(&d, records, truth)
	recordOf := map[string]*recordfile.Request{}
	for _, r := range records {
		recordOf[r.RequestID] = r
	}
	c := computed{values: map[string][]float64{}, firstNS: math.MaxInt64}
	compared := 0
	for i := range raw {
		id := raw[i].Metadata.RequestID
		s, r := byID[id], recordOf[id]
		if s == nil || r == nil {
			d.add("request %s is in the raw records only", id)
			continue
		}
		compared += c.request(&d, &raw[i], r, s)
	}
	if len(raw) != len(records) {
		d.add("%d raw records of %d requests", len(raw), len(records))
	}
	perRecord := Line{ID: "records", Title: "metrics of each request", Grade: d.grade(), Note: d.note(),
		Cells:   []string{whole(int64(compared))},
		Figures: []Figure{{"values", int64(compared)}, {"differences", int64(d.count)}}}
	return []Line{perRecord, c.statistics(summary), c.rates(summary)}
}

// request compares the record of a request with the expected values, and keeps these; it returns their number.
func (c *computed) request(d *differences, raw *rawLine, r *recordfile.Request, s *serverLine) int {
	content := raw.content()
	if len(content) == 0 || int64(len(content)) != s.Output {
		d.add("request %s has %d responses with content, the server wrote %d", raw.Metadata.RequestID, len(content),
			s.Output)
		return 0
	}
	ms := func(from, to int64) float64 { return float64(to-from) / 1e6 }
	first, last := content[0], content[len(content)-1]
	c.firstNS, c.lastNS = min(c.firstNS, raw.StartPerfNS), max(c.lastNS, last)
	c.requests++
	c.outputs += float64(s.Output)
	want := map[string]float64{
		"time_to_first_token":    ms(raw.StartPerfNS, first),
		"request_latency":        ms(raw.StartPerfNS, last),
		"output_sequence_length": float64(s.Output),
		"input_sequence_length":  float64(s.Input),
	}
	if s.Output > 1 {
		want["inter_token_latency"] = ms(first, last) / float64(s.Output-1)
	}
	for tag, v := range want {
		c.values[tag] = append(c.values[tag], v)
		if got, ok := value(r, tag); !ok || !near(got, v) {
			d.add("request %s: %s %v, expected %v", raw.Metadata.RequestID, tag, got, v)
		}
	}
	gaps := list(r, "inter_chunk_latency")
	if len(gaps) != len(content)-1 {
		d.add("request %s has %d gaps between %d chunks", raw.Metadata.RequestID, len(gaps), len(content))
		return len(want)
	}
	for i, gap := range gaps {
		v := ms(content[i], content[i+1])
		c.values["inter_chunk_latency"] = append(c.values["inter_chunk_latency"], v)
		if !near(gap, v) {
			d.add("request %s, gap %d: %v, expected %v", raw.Metadata.RequestID, i, gap, v)
		}
	}
	return len(want) + len(gaps)
}

// content returns the times of the responses with text.
func (r *rawLine) content() []int64 {
	var list []int64
	for _, response := range r.Responses {
		for _, p := range response.Packets {
			var event struct {
				Choices []struct {
					Delta struct {
						Content   string `json:"content"`
						Reasoning string `json:"reasoning_content"`
					} `json:"delta"`
				} `json:"choices"`
			}
			if p.Name != "data" || json.Unmarshal([]byte(p.Value), &event) != nil {
				continue
			}
			if len(event.Choices) > 0 && event.Choices[0].Delta.Content+event.Choices[0].Delta.Reasoning != "" {
				list = append(list, response.PerfNS)
			}
		}
	}
	return list
}

func near(a, b float64) bool { return math.Abs(a-b) <= relative*math.Max(1, math.Abs(b)) }

// statistics compares averages, extremes, deviations and percentiles.
func (c *computed) statistics(summary summaryFile) Line {
	var d differences
	compared := 0
	tags := make([]string, 0, len(c.values))
	for tag := range c.values {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	for _, tag := range tags {
		values := slices.Sorted(slices.Values(c.values[tag]))
		avg, std := moments(values)
		for name, want := range map[string]float64{
			"count": float64(len(values)), "avg": avg, "std": std, "min": values[0], "max": values[len(values)-1],
			"p50": percentile(values, 50), "p90": percentile(values, 90), "p99": percentile(values, 99),
		} {
			compared++
			if got, ok := summary.stat(tag, name); !ok || !near(got, want) {
				d.add("%s, %s: %v, expected %v", tag, name, got, want)
			}
		}
	}
	if compared == 0 {
		d.add("nothing to compare")
	}
	return Line{ID: "statistics", Title: "statistics over requests", Grade: d.grade(), Note: d.note(),
		Cells:   []string{whole(int64(compared))},
		Figures: []Figure{{"values", int64(compared)}, {"differences", int64(d.count)}}}
}

// rates compares the duration and the rates.
func (c *computed) rates(summary summaryFile) Line {
	var d differences
	seconds := float64(c.lastNS-c.firstNS) / 1e9
	want := []struct {
		tag   string
		value float64
	}{
		{"benchmark_duration", seconds}, {"request_throughput", c.requests / seconds},
		{"output_token_throughput", c.outputs / seconds},
	}
	for _, w := range want {
		if got, ok := summary.stat(w.tag, "avg"); !ok || !near(got, w.value) {
			d.add("%s: %v, expected %v", w.tag, got, w.value)
		}
	}
	return Line{ID: "rates", Title: "duration and rates", Grade: d.grade(), Note: d.note(),
		Cells:   []string{fmt.Sprint(len(want))},
		Figures: []Figure{{"values", int64(len(want))}, {"differences", int64(d.count)}}}
}

// moments are the average and the standard deviation of the population.
func moments(values []float64) (avg, std float64) {
	for _, v := range values {
		avg += v
	}
	avg /= float64(len(values))
	for _, v := range values {
		std += (v - avg) * (v - avg)
	}
	return avg, math.Sqrt(std / float64(len(values)))
}

// percentile interpolates linearly between the two nearest ranks of sorted values.
func percentile(sorted []float64, rank float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := rank / 100 * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
