package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/bounded"
)

// server are the metrics of the servers of a run.
type server map[string]struct {
	Series []struct {
		Stats map[string]json.RawMessage `json:"stats"`
	} `json:"series"`
}

func readServer(path string) (server, error) {
	data, err := bounded.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s", path)
	}
	if err != nil {
		return nil, err
	}
	var doc struct {
		Metrics server `json:"metrics"`
	}
	// Other programs write NaN, which is not JSON: those figures are missing.
	if err := json.Unmarshal(withoutNaN(data), &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return doc.Metrics, nil
}

// withoutNaN replaces the words NaN and Infinity outside of strings by null.
func withoutNaN(data []byte) []byte {
	if json.Valid(data) {
		return data
	}
	var out []byte
	inString := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case inString && c == '\\' && i+1 < len(data):
			out = append(out, c)
			i++
			c = data[i]
		case c == '"':
			inString = !inString
		case !inString && (c == 'N' || c == 'I' || c == '-'):
			if word := constant(data[i:]); word > 0 {
				out = append(out, "null"...)
				i += word - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

func constant(data []byte) int {
	for _, word := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if strings.HasPrefix(string(data[:min(len(data), len(word))]), word) {
			return len(word)
		}
	}
	return 0
}

// gauge is the average of the first series of the first of these metrics that has one.
func (s server) gauge(names ...string) *float64 {
	for _, name := range names {
		if m, ok := s[name]; ok && len(m.Series) > 0 {
			if v, ok := number(m.Series[0].Stats["avg"]); ok {
				return &v
			}
		}
	}
	return nil
}

// counter is what a counter rose by, over all of its series: engines that share the work are one server.
func (s server) counter(name string) (sum float64, ok bool) {
	for _, spelling := range [...]string{name, name + "_total"} {
		for _, series := range s[spelling].Series {
			if v, is := number(series.Stats["total"]); is {
				sum, ok = sum+v, true
			}
		}
		if ok {
			return sum, true
		}
	}
	return 0, false
}

func number(text json.RawMessage) (float64, bool) {
	var v *float64
	if json.Unmarshal(text, &v) != nil || v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return 0, false
	}
	return *v, true
}

// quotient is one counter by another.
func (s server) quotient(above, below string) (float64, bool) {
	a, ok := s.counter(above)
	b, known := s.counter(below)
	return a / b, ok && known && b > 0
}

// acceptLength is the mean number of tokens that one step of the target model yields.
func (s server) acceptLength() *float64 {
	if v := s.gauge("sglang:spec_accept_length", "vllm:spec_decode_mean_accepted_length",
		"trtllm:spec_accept_length"); v != nil {
		return v
	}
	if q, ok := s.quotient("vllm:spec_decode_num_accepted_tokens", "vllm:spec_decode_num_drafts"); ok {
		q++ // each step yields a token of the target model itself
		return &q
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		lower := strings.ToLower(name)
		if strings.Contains(lower, "spec") && strings.Contains(lower, "accept") && strings.Contains(lower, "length") {
			if v := s.gauge(name); v != nil {
				return v
			}
		}
	}
	return nil
}

// acceptRate is the share of the drafted tokens that the target model accepted.
func (s server) acceptRate() *float64 {
	if v := s.gauge("sglang:spec_accept_rate", "vllm:spec_decode_draft_acceptance_rate",
		"trtllm:spec_accept_rate"); v != nil {
		return v
	}
	if q, ok := s.quotient("vllm:spec_decode_num_accepted_tokens", "vllm:spec_decode_num_draft_tokens"); ok {
		return &q
	}
	return nil
}
