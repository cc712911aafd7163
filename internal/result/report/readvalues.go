package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"aiperf/internal/base/bounded"
)

// RequestKey names a request by what it asked, so that two runs of one dataset can be paired: the turn
// of a conversation, and which time it was asked.
type RequestKey struct {
	Conversation string
	Turn, Time   int
}

// Values are the metrics of the successful requests of a run, one number each.
type Values struct {
	Keys []RequestKey
	// ByTag holds for each metric the values of the requests, in the order of Keys; NaN is impossible,
	// so that present tells which requests have one.
	ByTag map[string]*Column

	names   map[string]string
	scratch row
}

// Column are the values of one metric.
type Column struct {
	Values  []float64
	Present []bool
}

// ReadValues reads the metrics of a per-request file, of this program or of the original. Lists are
// left out, and so is a last line that is not whole.
func ReadValues(path string) (*Values, error) {
	file, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	v := &Values{ByTag: map[string]*Column{}, names: map[string]string{}}
	times := map[RequestKey]int{}
	in := bufio.NewReaderSize(bounded.NewLines(file, bounded.MaxLine, ""), 1<<20)
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return v, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if err := v.add(text, times); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
}

// row is a line as it is compared.
type row struct {
	key    RequestKey
	warmup bool
	values []tagged
}

// tagged is a value of a metric.
type tagged struct {
	tag   string
	value float64
}

// scanRow reads a usual line, see scanRecord. Names of metrics are those of the columns so far.
func (v *Values) scanRow(line []byte, r *row) bool {
	s := newLineScanner(line)
	*r = row{values: r.values[:0]}
	s.object(func(key []byte) {
		switch string(key) {
		case "metadata":
			s.object(func(key []byte) {
				switch string(key) {
				case "conversation_id":
					r.key.Conversation = s.string()
				case "turn_index":
					r.key.Turn = int(s.Int())
				case "benchmark_phase":
					r.warmup = s.string() == "warmup"
				default:
					s.Value()
				}
			})
		case "metrics":
			s.object(func(tag []byte) { v.scanMetric(&s, tag, r) })
		case specDecodeKey, "trace_data", "facts":
			s.Value()
		default:
			s.leave()
		}
	})
	s.End()
	return s.At >= 0
}

func (v *Values) scanMetric(s *lineScanner, tag []byte, r *row) {
	value := s.quantity()
	if s.At < 0 || value[0] == '[' {
		return
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		s.leave()
		return
	}
	name := v.names[string(tag)]
	if name == "" {
		name = string(tag)
		v.names[name] = name
	}
	r.values = append(r.values, tagged{name, n})
}

func (v *Values) add(text []byte, times map[RequestKey]int) error {
	if !v.scanRow(bytes.TrimSuffix(text, []byte{'\n'}), &v.scratch) {
		if err := parseRow(text, &v.scratch); err != nil {
			return err
		}
	}
	r := &v.scratch
	if r.warmup {
		return nil
	}
	key := r.key
	key.Time, times[r.key] = times[r.key], times[r.key]+1
	v.Keys = append(v.Keys, key)
	at := len(v.Keys) - 1
	for _, m := range r.values {
		c := v.ByTag[m.tag]
		if c == nil {
			c = &Column{}
			v.ByTag[m.tag] = c
		}
		for len(c.Values) < at {
			c.Values, c.Present = append(c.Values, 0), append(c.Present, false)
		}
		c.Values, c.Present = append(c.Values, m.value), append(c.Present, true)
	}
	return nil
}

// parseRow reads a line of any shape. A failed request counts as little as one of the warm-up.
func parseRow(text []byte, r *row) error {
	var line struct {
		Metadata struct {
			Conversation string `json:"conversation_id"`
			Turn         int    `json:"turn_index"`
			Phase        string `json:"benchmark_phase"`
		}
		Metrics map[string]struct{ Value json.RawMessage }
		Error   json.RawMessage
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	m := &line.Metadata
	*r = row{key: RequestKey{Conversation: m.Conversation, Turn: m.Turn}, values: r.values[:0]}
	r.warmup = m.Phase == "warmup" || line.Error != nil && string(line.Error) != "null"
	for tag, metric := range line.Metrics {
		var n float64
		if string(metric.Value) != "null" && json.Unmarshal(metric.Value, &n) == nil { // not a list
			r.values = append(r.values, tagged{tag, n})
		}
	}
	return nil
}
