package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
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
}

// Column are the values of one metric.
type Column struct {
	Values  []float64
	Present []bool
}

// ReadValues reads the metrics of a per-request file, of this program or of the original. Lists are
// left out, and so is a last line that is not whole.
func ReadValues(path string) (*Values, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	v := &Values{ByTag: map[string]*Column{}}
	times := map[RequestKey]int{}
	in := bufio.NewReaderSize(file, 1<<20)
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return v, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := v.add(text, times); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
}

func (v *Values) add(text []byte, times map[RequestKey]int) error {
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
	if m.Phase == "warmup" || line.Error != nil && string(line.Error) != "null" {
		return nil
	}
	key := RequestKey{Conversation: m.Conversation, Turn: m.Turn}
	key.Time, times[key] = times[key], times[key]+1
	v.Keys = append(v.Keys, key)
	row := len(v.Keys) - 1
	for tag, metric := range line.Metrics {
		var n float64
		if json.Unmarshal(metric.Value, &n) != nil {
			continue // a list
		}
		c := v.ByTag[tag]
		if c == nil {
			c = &Column{}
			v.ByTag[tag] = c
		}
		for len(c.Values) < row {
			c.Values, c.Present = append(c.Values, 0), append(c.Present, false)
		}
		c.Values, c.Present = append(c.Values, n), append(c.Present, true)
	}
	return nil
}
