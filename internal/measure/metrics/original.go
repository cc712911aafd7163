package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"aiperf/internal/measure/record"
)

// LineMetric is a metric of one request as a line has it: a number or a list of numbers, in a unit.
type LineMetric struct {
	Value json.RawMessage `json:"value"`
	Unit  Unit            `json:"unit"`
}

// RestoreFromMetrics derives the facts of a request from its metrics alone: a line of the original has no others. The
// start, the end of the request and its failure are known before. What follows from no metric stays absent, such as the
// end of a stream behind its last content response.
func RestoreFromMetrics(rec *record.Record, endNS int64, written map[string]LineMetric) error {
	f := &rec.Facts
	numbers := map[string]float64{}
	for tag, w := range written {
		if tag == listTag {
			if err := restoreWrittenGaps(rec, w); err != nil {
				return err
			}
			continue
		}
		d, known := Lookup(tag)
		if !known {
			continue
		}
		v, err := w.number(tag, d.Unit)
		if err != nil {
			return err
		}
		numbers[tag] = v
		if m, ok := mirrors[tag]; ok {
			f[m.field] = int64(math.Round(v))
		}
	}
	restoreEnd(rec, endNS)
	if n, ok := numbers["error_isl"]; ok {
		f[record.InputTokens] = int64(n)
	}
	if gap, ok := numbers["time_to_second_token"]; ok && f[record.FirstContent] != record.Absent {
		f[record.SecondContent] = f[record.FirstContent] + int64(math.Round(gap))
	}
	if length, ok := numbers["output_sequence_length"]; ok && f[record.OutputTokens] == record.Absent {
		f[record.OutputTokens] = int64(length) - max(f[record.ReasoningTokens], 0)
	}
	if got, ok := outputLength(f); ok {
		if percent, ok := numbers["osl_mismatch_diff_pct"]; ok && percent > -100 {
			f[record.RequestedTokens] = int64(math.Round(float64(got) / (1 + percent/100)))
		}
	}
	if f[record.Contents] == record.Absent && f[record.LastContent] != record.Absent {
		f[record.Contents] = 1
	}
	return nil
}

// restoreEnd places the end of the request: the last response of any kind, or the failure.
func restoreEnd(rec *record.Record, endNS int64) {
	field := record.LastResponse
	if rec.IsError() {
		field = record.End
	}
	rec.Facts[field] = endNS - rec.Facts[record.StartWall]
}

// number returns the value in the unit that the metric is computed in.
func (w *LineMetric) number(tag string, in Unit) (float64, error) {
	v, err := strconv.ParseFloat(string(w.Value), 64)
	if err != nil || math.Abs(v) > math.MaxInt64/2 {
		return 0, fmt.Errorf("metric %s has the value %.40s, which is not a number of its kind", tag, w.Value)
	}
	ratio, err := RatioOf(w.Unit, in)
	if err != nil {
		return 0, fmt.Errorf("metric %s: %w", tag, err)
	}
	if v *= ratio; math.Abs(v) > math.MaxInt64/2 {
		return 0, fmt.Errorf("metric %s has the value %.40s %.20s, which is too large", tag, w.Value, w.Unit)
	}
	return v, nil
}

func restoreWrittenGaps(rec *record.Record, w LineMetric) error {
	d, _ := Lookup(listTag)
	if w.Unit != d.Display {
		return fmt.Errorf("metric %s has the unit %.20q, not %q", listTag, w.Unit, d.Display)
	}
	return restoreGaps(rec, w.Value)
}
