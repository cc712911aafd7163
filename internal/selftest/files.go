package selftest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aiperf/internal/measure/recordfile"
	"aiperf/internal/watch/trust"
)

// serverLine is what the mock server recorded of a request. Instants are wall nanoseconds.
type serverLine struct {
	RequestID string  `json:"request_id"`
	Model     string  `json:"model"`
	Input     int64   `json:"isl"`
	Output    int64   `json:"output_tokens"`
	Status    int     `json:"status"`
	Outcome   string  `json:"outcome"`
	ArrivalNS int64   `json:"arrival_ns"`
	EventNS   []int64 `json:"event_ns"`
}

// value is a metric of the record that is one number.
func value(r *recordfile.Request, tag string) (float64, bool) {
	v := r.Number(tag)
	if v == nil {
		return 0, false
	}
	return *v, true
}

// list is a metric of the record that is a list.
func list(r *recordfile.Request, tag string) []float64 {
	var v []float64
	if json.Unmarshal(r.Metrics[tag], &v) != nil {
		return nil
	}
	return v
}

// rawLine is a line of profile_export_raw.jsonl. PerfNS are of the run's monotonic clock.
type rawLine struct {
	Metadata struct {
		RequestID string `json:"x_request_id"`
		StartNS   int64  `json:"request_start_ns"`
	} `json:"metadata"`
	StartPerfNS int64 `json:"start_perf_ns"`
	Responses   []struct {
		PerfNS  int64 `json:"perf_ns"`
		Packets []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"packets"`
	} `json:"responses"`
}

// summaryFile holds the members of profile_export_aiperf.json.
type summaryFile map[string]json.RawMessage

// stat is a statistic of a metric.
func (s summaryFile) stat(tag, name string) (float64, bool) {
	var m map[string]any
	if json.Unmarshal(s[tag], &m) != nil {
		return 0, false
	}
	v, ok := m[name].(float64)
	return v, ok
}

func (s summaryFile) health() (h trust.Document, err error) {
	if err := json.Unmarshal(s["client_health"], &h); err != nil {
		return h, fmt.Errorf("client_health: %w", err)
	}
	return h, nil
}

// reason is the first finding that led to the verdict.
func reason(h *trust.Document) string {
	for _, r := range h.Reasons {
		if r.LeadsTo == h.Verdict {
			return r.Message
		}
	}
	return ""
}

// orZero returns what is pointed to, the zero value of nothing.
func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func readSummary(path string) (summaryFile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s summaryFile
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return s, nil
}

// readLines reads a file of JSON lines.
func readLines[T any](path string) ([]T, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []T
	d := json.NewDecoder(bufio.NewReaderSize(file, 1<<20))
	for {
		var line T
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("%s, line %d: %w", filepath.Base(path), len(list)+1, err)
		}
		list = append(list, line)
	}
}
