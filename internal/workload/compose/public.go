package compose

import (
	"context"
	"fmt"
	"slices"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/public"
)

// loadPublic reads a public data set, or finds the trace that it consists of.
func (b *builder) loadPublic(ctx context.Context) error {
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
	if err := b.applySchedule(); err != nil {
		return err
	}
	b.warnings = append(b.warnings, read.Warnings...)
	return nil
}

// applySchedule applies the user's window of the schedule to recorded times, or forgets them.
func (b *builder) applySchedule() error {
	all := b.dataset.InMemory()
	if b.Reading.IgnoreTimes {
		for i := range all {
			for j := range all[i].Turns {
				t := &all[i].Turns[j]
				t.TimestampMS, t.DelayMS = nil, nil
			}
		}
	}
	if !b.Reading.Scheduled {
		return nil
	}
	before := len(all)
	all = slices.DeleteFunc(all, func(c dataset.Conversation) bool {
		at := c.Turns[0].TimestampMS
		return at != nil && !b.Reading.Window.Holds(*at)
	})
	b.dataset.Conversations = all
	switch left := len(all); {
	case left == 0:
		return fmt.Errorf("--public-dataset %s: nothing is left: all %d requests are outside of "+
			"--fixed-schedule-start-offset and --fixed-schedule-end-offset", b.Published.Name, before)
	case left < before:
		b.dataset.Notes = append(b.dataset.Notes,
			fmt.Sprintf("%d requests outside of the schedule's window left out", before-left))
	}
	return nil
}
