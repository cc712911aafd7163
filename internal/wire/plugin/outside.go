package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
)

// loadParams asks for a part of a file, from 0.
type loadParams struct {
	File   string `json:"file"`
	Format string `json:"format"`
	Part   int    `json:"part"`
}

// loadResult is a part of a file as lines of the format; More announces another one.
type loadResult struct {
	Lines []json.RawMessage `json:"lines"`
	More  bool              `json:"more"`
}

// Load has the program turn a file into lines of a dataset format, part by part, and hands them to take. Each is a JSON
// object on one line; it is valid until take returns. A file without any line is an error.
func (h *Host) Load(ctx context.Context, file, format string, take func(line []byte) error) error {
	lines, compact := 0, new(bytes.Buffer)
	for part := 0; ; part++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var r loadResult
		if err := h.call("load", loadParams{file, format, part}, &r); err != nil {
			return err
		}
		if len(r.Lines) == 0 && r.More {
			return fmt.Errorf("part %d has no lines, and more are announced", part)
		}
		for _, line := range r.Lines {
			lines++
			if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
				return fmt.Errorf("its line %d is not a JSON object: %s", lines, clip(string(line)))
			}
			compact.Reset()
			if err := json.Compact(compact, line); err != nil {
				return err
			}
			compact.WriteByte('\n')
			if err := take(compact.Bytes()); err != nil {
				return err
			}
		}
		switch {
		case r.More:
		case lines == 0:
			return errors.New("it found nothing in the file")
		default:
			return nil
		}
	}
}

// ExportParams are what an exporter gets.
type ExportParams struct {
	// Folder is the absolute path of the run's folder, in which the exporter may write files.
	Folder string `json:"folder"`
	// Summary is the document of profile_export_aiperf.json, SummaryFile its name in the folder.
	Summary     json.RawMessage `json:"summary"`
	SummaryFile string          `json:"summary_file"`
	// RecordsFile is the name of the file with a line for each request, absent where there is none.
	RecordsFile string `json:"records_file,omitempty"`
}

// Export hands a finished run to the program and returns what it says of that; it may be empty.
func (h *Host) Export(p *ExportParams) (message string, err error) {
	var r struct {
		Message string `json:"message"`
	}
	err = h.call("export", p, &r)
	return clip(r.Message), err
}

// Limits of a call of a metric.
const (
	batchRecords = 1000
	batchBytes   = 8 << 20
)

// Measurement is what a metric found: a value for each of some requests, or a single one. At most one of both is set.
type Measurement struct {
	Values []float64
	Value  *float64
}

// measureParams are the lines of requests, as they stand in the per-request file.
type measureParams struct {
	Records []json.RawMessage `json:"records"`
}

// Measure hands the lines of a run's requests to the program, in batches and in their order, and asks for its figure.
func (h *Host) Measure(lines iter.Seq2[[]byte, error]) (Measurement, error) {
	var m Measurement
	var batch measureParams
	size, total := 0, 0
	flush := func() error {
		if len(batch.Records) == 0 {
			return nil
		}
		var r struct {
			Values []*float64 `json:"values"`
		}
		if err := h.call("measure", &batch, &r); err != nil {
			return err
		}
		if r.Values != nil && len(r.Values) != len(batch.Records) {
			return fmt.Errorf("measure gave %d values for %d records", len(r.Values), len(batch.Records))
		}
		for _, v := range r.Values {
			if v != nil {
				m.Values = append(m.Values, *v)
			}
		}
		batch.Records, size = batch.Records[:0], 0
		return nil
	}
	for line, err := range lines {
		if err != nil {
			return m, err
		}
		batch.Records = append(batch.Records, bytes.Clone(line))
		size += len(line)
		total++
		if len(batch.Records) == batchRecords || size >= batchBytes {
			if err := flush(); err != nil {
				return m, err
			}
		}
	}
	if err := flush(); err != nil {
		return m, err
	}
	var r struct {
		Value *float64 `json:"value"`
	}
	if err := h.call("finish", map[string]int{"count": total}, &r); err != nil {
		return m, err
	}
	if m.Value = r.Value; m.Value != nil && m.Values != nil {
		return Measurement{}, errors.New("it gave values of requests and a single value; a metric has one of both")
	}
	return m, nil
}
