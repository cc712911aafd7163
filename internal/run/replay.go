package run

import (
	"fmt"
	"math"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
)

// reading says how an input file is read.
func (e *execution) reading() loader.Options {
	d := &e.cfg.Dataset
	o := loader.Options{
		Entries: d.MaxTraces, MaxContext: d.MaxContext, ThinkOnly: d.ThinkOnly, MaxDelayMS: d.MaxDelayMS, Models: e.cfg.Models,
		Weka: loader.WekaOptions(e.cfg.Env.Weka), TraceLab: loader.TraceLabOptions(e.cfg.Env.Dataset.TraceLab),
		BlockSize: d.BlockSize, IgnoreTimes: d.IgnoreTimes, MaxISL: d.Synthesis.MaxISL, MaxOSL: d.Synthesis.MaxOSL, Reshape: e.reshape(),
		IndexFrom: e.indexFrom, MaxLine: e.cfg.Env.Dataset.MaxLineBytes,
	}
	if e.descriptor.InlineMedia {
		o.IndexFrom = math.MaxInt64 // media are fetched into the dataset
	}
	if s := e.cfg.Profiling().Schedule; s != nil {
		o.Scheduled, o.Window = true, loader.Window{StartMS: s.StartMS, EndMS: s.EndMS}
	}
	return o
}

// reshape is nil where the trace stays as it is.
func (e *execution) reshape() *loader.Reshape {
	s := e.cfg.Dataset.Synthesis
	if !s.Reshapes() {
		return nil
	}
	return &loader.Reshape{
		Speedup: s.SpeedupRatio, PrefixLen: s.PrefixLenMultiplier, PromptLen: s.PromptLenMultiplier,
		OutputLen: s.OutputLenMultiplier, PrefixRoots: s.PrefixRootMultiplier,
	}
}

// loadSchedule brings a schedule into load's terms. Its start moves with the times of a sped-up trace.
func (e *execution) loadSchedule(s *config.Schedule) *load.Schedule {
	out := &load.Schedule{AutoOffset: s.AutoOffset}
	if s.StartMS != nil {
		out.StartOffset = time.Duration(e.reshape().Zero(*s.StartMS)) * time.Millisecond
	}
	return out
}

// lateStart is the wait for a first request from which a user may think that nothing happens.
const lateStart = 10 * time.Second

// warnLateStart tells that a recording begins late.
func (e *execution) warnLateStart(s *load.Stats) {
	if first := time.Duration(s.FirstDueNS); first > lateStart {
		e.log.Warn(fmt.Sprintf("The first request of the schedule is due %.1f s after the start: --fixed-schedule-auto-offset lets the first recorded time be the start", first.Seconds()))
	}
}

// checkThreadedMessages refuses extra inputs that would replace the messages which replies are put into.
func (e *execution) checkThreadedMessages(data *dataset.Dataset) error {
	if _, ok := e.cfg.Endpoint.Extra.Get("messages"); !ok {
		return nil
	}
	if holds(data).Threaded > 0 {
		return fmt.Errorf("--extra-inputs messages cannot be used with %s: its requests are built up from messages", e.cfg.Dataset.Path)
	}
	return nil
}

// nanoseconds of a number of milliseconds. The whole ones are taken apart: times since 1970 leave a
// float no digits for the rest.
func nanoseconds(ms float64) int64 {
	whole := math.Floor(ms)
	return int64(whole)*1e6 + int64(math.Round((ms-whole)*1e6))
}
