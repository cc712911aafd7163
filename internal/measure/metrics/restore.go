package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// RestoreResult makes a result of its block in a file. Bounds are not part of a block.
func RestoreResult(tag string, block []byte) (Metric, error) {
	d, known := Lookup(tag)
	if !known {
		return Metric{}, fmt.Errorf("metric %s is not known to this version", tag)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(block, &members); err != nil {
		return Metric{}, fmt.Errorf("metric %s: %w", tag, err)
	}
	m := metric{Definition: d}
	r := m.result()
	number := func(name string) float64 {
		var v *float64
		if json.Unmarshal(members[name], &v) != nil || v == nil {
			return math.NaN()
		}
		return *v
	}
	if err := json.Unmarshal(members["unit"], &r.Unit); err != nil {
		return r, fmt.Errorf("metric %s has no unit", tag)
	}
	r.Stats.Avg = number("avg")
	if _, spread := members["min"]; !m.hasDistribution() && !(m.flat && spread) {
		if n, err := strconv.ParseInt(string(members["avg"]), 10, 64); err == nil {
			r.EpochNS, r.Stats.Avg = n, float64(n)
		}
		if d.parts != nil {
			r.EpochNS, r.Stats.Sum, r.Stats.Count = 0, number("sum"), int64(number("count"))
		}
		return r, nil
	}
	r.Distribution = true
	r.Stats.Min, r.Stats.Max, r.Stats.Std, r.Stats.Sum = number("min"), number("max"), number("std"), number("sum")
	if n := number("count"); !math.IsNaN(n) {
		r.Stats.Count = int64(n)
	}
	for i, key := range PercentileKeys {
		r.Stats.Percentiles[i] = number(key)
	}
	r.Method = MethodExact
	if text, ok := members["method"]; ok {
		if err := json.Unmarshal(text, &r.Method); err != nil {
			return r, fmt.Errorf("metric %s: method: %w", tag, err)
		}
	}
	var further []float64
	for name := range members {
		if rank, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64); err == nil && RankKey(rank) == name {
			further = append(further, rank)
		}
	}
	for _, rank := range furtherRanks(further) {
		r.Further = append(r.Further, Percentile{rank, number(RankKey(rank))})
	}
	return r, nil
}
