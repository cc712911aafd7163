package report

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/result/summary"
)

// TimeslicesJSON writes profile_export_aiperf_timeslices.json. A run without slices has no such file.
type TimeslicesJSON struct{ Path string }

// Name implements Exporter.
func (TimeslicesJSON) Name() string { return "time slices JSON" }

// Export implements Exporter. The document is written slice by slice: as a whole it may be many times
// as large as the results.
func (t TimeslicesJSON) Export(_ context.Context, r *summary.Result) error {
	if len(r.Slices) == 0 {
		return nil
	}
	return artifact.WriteStream(t.Path, func(out *bufio.Writer) error {
		w := timeslicesWriter{out: out}
		w.text("{\n  \"timeslices\": [")
		for i := range r.Slices {
			if i > 0 {
				w.text(",")
			}
			w.text("\n    ")
			if err := w.object(TimesliceObject(&r.Slices[i]), "    "); err != nil {
				return err
			}
		}
		w.text("\n  ],\n  \"input_config\": ")
		if err := w.object(r.InputConfig, "  "); err != nil {
			return err
		}
		w.text("\n}\n")
		return nil
	})
}

// TimesliceObject is the entry of one slice: its number, its bounds, and its metric blocks by tag.
func TimesliceObject(s *metrics.Slice) artifact.Object {
	d := summary.TimesliceDocument{Index: s.Index, StartNS: s.StartNS, EndNS: s.EndNS}
	if !s.Complete {
		d.Complete = &s.Complete
	}
	for _, m := range summary.ByTag(s.Results) {
		if m.Distribution || artifact.Finite(m.Stats.Avg) {
			d.Metrics = append(d.Metrics, artifact.Member{Key: m.Tag, Value: MetricBlock(&m)})
		}
	}
	return artifact.ObjectOf(d)
}

// timeslicesWriter formats the document as an indented JSON encoder would. Write errors stick to the
// buffered writer.
type timeslicesWriter struct {
	out     *bufio.Writer
	compact []byte
	scratch bytes.Buffer
}

func (w *timeslicesWriter) text(s string) { _, _ = w.out.WriteString(s) }

// object writes a value that begins on a line indented by indent.
func (w *timeslicesWriter) object(o artifact.Object, indent string) error {
	compact, err := artifact.AppendJSON(w.compact[:0], o)
	if err != nil {
		return err
	}
	w.compact = compact
	w.scratch.Reset()
	if err := json.Indent(&w.scratch, compact, indent, "  "); err != nil {
		return err
	}
	_, _ = w.out.Write(w.scratch.Bytes())
	return nil
}
