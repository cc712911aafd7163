package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

// maxSeriesBytes bounds the file of a rate series.
const maxSeriesBytes = 16 << 20

// RateSeries reads a file of points {"time_s": t, "qps": r}: a JSON array of them, or an object
// whose only key "points" holds it.
func RateSeries(path string) ([]config.RatePoint, error) {
	text, err := ReadText(path, maxSeriesBytes)
	if err != nil {
		return nil, err
	}
	points, err := RatePoints(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return nil, err
	}
	return points, nil
}

// ReadText reads a file or a pipe of up to limit bytes.
func ReadText(path string, limit int64) ([]byte, error) {
	file, err := bounded.OpenStream(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("the file is larger than %d MiB", limit>>20)
	}
	return text, err
}

// RatePoints reads a rate series as JSON: a list of points, or an object with the key "points".
func RatePoints(text []byte) ([]config.RatePoint, error) {
	if !json.Valid(text) {
		return nil, whereInvalid(text)
	}
	text = bytes.TrimSpace(text)
	if text[0] == '{' {
		var wrapped struct {
			Points json.RawMessage `json:"points"`
		}
		if err := strictly(text, &wrapped); err != nil {
			return nil, fmt.Errorf(`want an object with the single key "points": %w`, err)
		}
		if text = bytes.TrimSpace(wrapped.Points); len(text) == 0 {
			return nil, errors.New(`the key "points" is missing`)
		}
	}
	var rows []json.RawMessage
	if text[0] != '[' || json.Unmarshal(text, &rows) != nil {
		return nil, fmt.Errorf(`want a list of points {"time_s": seconds, "qps": rate}, got %s`,
			fault.Shorten(string(text)))
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("a rate series needs at least 2 points, got %d", len(rows))
	}
	points := make([]config.RatePoint, len(rows))
	for i, row := range rows {
		var p struct {
			Time *float64 `json:"time_s"`
			QPS  *float64 `json:"qps"`
		}
		err := strictly(row, &p)
		switch {
		case err != nil:
			return nil, fmt.Errorf("point %d, %s: %w", i+1, fault.Shorten(string(row)), err)
		case p.Time == nil || p.QPS == nil:
			return nil, fmt.Errorf("point %d, %s: want both time_s and qps", i+1, fault.Shorten(string(row)))
		case *p.Time < 0 || *p.Time > math.MaxInt64/2e9:
			return nil, fmt.Errorf("point %d: time_s %v must be at least 0", i+1, *p.Time)
		case *p.QPS <= 0:
			return nil, fmt.Errorf("point %d: qps %v must be above 0", i+1, *p.QPS)
		case i > 0 && option.Seconds(*p.Time) <= option.Seconds(points[i-1].Seconds):
			return nil, fmt.Errorf("point %d: time_s %v must be later than %v of the point before", i+1, *p.Time,
				points[i-1].Seconds)
		}
		points[i] = config.RatePoint{Seconds: *p.Time, Rate: *p.QPS}
	}
	return points, nil
}

// strictly decodes an object and refuses keys that mean nothing.
func strictly(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// whereInvalid is the error of a text that is no JSON, with its line.
func whereInvalid(text []byte) error {
	err := json.Unmarshal(text, new(any))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(text[:min(int64(len(text)), syntax.Offset)], []byte("\n"))
		return fmt.Errorf("line %d: not valid JSON: %w", line, err)
	}
	return fmt.Errorf("not valid JSON: %w", err)
}
