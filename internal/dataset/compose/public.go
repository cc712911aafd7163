package compose

import (
	"context"

	"aiperf/internal/dataset/public"
)

// publish reads a public data set, or finds the trace that it consists of.
func (b *builder) publish(ctx context.Context) error {
	o := b.Published
	if b.tok != nil {
		o.Count = b.tok.Count
	}
	o.OwnLimits = b.OSL != nil || len(b.SeqDist) > 0
	if public.IsWeka(o.Name) {
		path, err := public.WekaPath(ctx, o)
		b.Kind, b.Path, b.Format = File, path, "weka_trace"
		return err
	}
	read, err := public.Load(ctx, o)
	if err != nil {
		return err
	}
	b.dataset = read.Dataset
	b.dataset.Notes = read.Notes
	b.warnings = append(b.warnings, read.Warnings...)
	return nil
}
