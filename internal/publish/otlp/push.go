package otlp

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"aiperf/internal/publish/upload"
)

const (
	// maxPause is the longest pause between two pushes to a collector that fails.
	maxPause = 10 * time.Second
	// maxBacklog is how many collections of deltas are kept for such a collector.
	maxBacklog = 60
	// lastTries is the number of attempts of the last push, lastPause the wait after the first.
	lastTries = 3
	lastPause = 250 * time.Millisecond
	// probeTimeout bounds the first, empty push.
	probeTimeout = 5 * time.Second
	// hungTimeout bounds the last push to a collector that has not answered.
	hungTimeout = 2 * time.Second
)

// push pushes until the end of the run.
func (s *stream) push() {
	if !s.probe() {
		s.off.Store(true)
		s.mu.Lock()
		s.waiting = nil
		s.mu.Unlock()
		return
	}
	ticker := time.NewTicker(s.o.Interval)
	defer ticker.Stop()
	var notBefore time.Time
	for {
		select {
		case <-s.ctx.Done():
			s.abandon()
			return
		case <-s.finishing:
			s.last()
			return
		case now := <-ticker.C:
			if now.Before(notBefore) {
				continue
			}
			s.report(s.pushOnce())
			notBefore = time.Now().Add(s.pause())
		}
	}
}

// pause returns the time to wait besides the interval after failed pushes.
func (s *stream) pause() time.Duration {
	f := s.failing.Load()
	if f == nil || f.count < 2 {
		return 0
	}
	return min(s.o.Interval<<min(f.count-1, 10), maxPause) - s.o.Interval/2
}

// lastTimeout returns the time for what is pushed after the run.
func (s *stream) lastTimeout() time.Duration {
	if f := s.failing.Load(); !s.answered.Load() || f != nil && f.kind == upload.Hung {
		return min(hungTimeout, s.o.Timeout)
	}
	return s.o.Timeout
}

// probe reports, by an empty push, whether there is a collector. One that is busy may accept metrics later.
func (s *stream) probe() bool {
	problem := s.export(&metricdata.ResourceMetrics{Resource: resource.Empty()}, min(s.o.Timeout, probeTimeout))
	s.answered.Store(problem == nil || problem.Kind != upload.Hung)
	switch {
	case s.ctx.Err() != nil:
		if s.isFinishing() {
			s.log.Warn(fmt.Sprintf("--otel-url %s did not answer in time; nothing was streamed", s.target.String()))
		}
		return false
	case problem == nil, problem.Kind == upload.Partial:
		s.log.Info("Streaming metrics to " + s.target.String())
	case problem.Kind == upload.Busy:
		s.report(problem)
	default:
		s.log.Warn(fmt.Sprintf("--otel-url %s %s; nothing is streamed in this run", s.target.String(), problem.Text))
		return false
	}
	return true
}

// outOfTime is the problem of a push that was cut off by the end of the stream.
var outOfTime = upload.NoAnswer()

// export pushes one collection.
func (s *stream) export(data *metricdata.ResourceMetrics, timeout time.Duration) *upload.Problem {
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	err := s.exporter.Export(ctx, data)
	p := classify(err, s.exporter.answers.last(), &s.target)
	if err != nil && s.ctx.Err() != nil {
		return outOfTime
	}
	if p != nil {
		p.Text = s.redact(p.Text)
	}
	return p
}

// pushOnce collects the metrics so far and pushes them.
func (s *stream) pushOnce() *upload.Problem {
	if s.figures != nil {
		s.spare = s.take(s.spare)
	}
	if newest := s.newest.Load(); s.timing != nil && newest != nil {
		s.timing.observe(newest.Phases)
		s.timing.grade(newest.Accuracy)
	}
	added := s.added.Load()
	data := &s.reused
	if s.o.Environment.delta {
		data = new(metricdata.ResourceMetrics)
	}
	if err := s.reader.Collect(s.ctx, data); err != nil {
		if s.ctx.Err() != nil {
			return outOfTime
		}
		return &upload.Problem{Text: "cannot be sent metrics: " + err.Error(), Kind: upload.Refused}
	}
	if s.figures != nil {
		s.adding.Lock()
		s.figures.restore(data)
		s.adding.Unlock()
	}
	s.collected, added = added, added-s.collected
	if s.o.Environment.delta || len(s.backlog) == 0 {
		s.backlog = append(s.backlog, batch{data, added})
	} else {
		s.backlog[0].records += added // the sums are those of all records so far
	}
	if len(s.backlog) > maxBacklog {
		s.lost += s.backlog[0].records
		s.backlog = s.backlog[1:]
	}
	return s.pushBacklog()
}

// pushBacklog pushes what was collected, the oldest first. Deltas that the collector rejects are dropped: they would
// block all others. It returns the last problem.
func (s *stream) pushBacklog() (worst *upload.Problem) {
	for len(s.backlog) > 0 {
		problem := s.export(s.backlog[0].data, s.o.Timeout)
		switch {
		case problem == nil || problem.Kind == upload.Partial:
			s.pushes++
			s.arrived += s.backlog[0].records
		case problem.Kind == upload.Rejected && s.o.Environment.delta:
			s.lost += s.backlog[0].records
		default:
			return problem
		}
		if problem != nil {
			worst = problem
		}
		s.backlog[0].data = nil
		s.backlog = s.backlog[1:]
	}
	s.backlog = nil
	return worst
}

// report logs the result of a push, once for each change.
func (s *stream) report(p *upload.Problem) {
	before := s.failing.Load()
	switch {
	case p != nil && p.Kind == upload.Partial:
		if !s.reportedPartial {
			s.reportedPartial = true
			s.log.Warn(fmt.Sprintf("OpenTelemetry: %s %s", s.target.String(), p.Text))
		}
	case p != nil:
		if before == nil {
			next := "retrying"
			if p.Kind == upload.Rejected && s.o.Environment.delta {
				next = "these metrics are dropped"
			}
			s.log.Warn(fmt.Sprintf("OpenTelemetry: %s %s; %s, the run continues", s.target.String(), p.Text, next))
			before = &failure{since: time.Now()}
		}
		s.failing.Store(&failure{since: before.since, count: before.count + 1, kind: p.Kind})
		return
	}
	if before != nil {
		s.failing.Store(nil)
		s.log.Info(fmt.Sprintf("OpenTelemetry: %s accepts pushes again, after %d failed pushes in %.0f s",
			s.target.String(), before.count, time.Since(before.since).Seconds()))
	}
}

func (s *stream) isFinishing() bool {
	select {
	case <-s.finishing:
		return true
	default:
		return false
	}
}

// abandon ends a stream whose collector used up all the time. One that was closed logs nothing.
func (s *stream) abandon() {
	if s.isFinishing() {
		s.conclude(outOfTime)
	}
}

// last pushes the rest and logs what did not arrive.
func (s *stream) last() {
	if s.ctx.Err() != nil {
		s.abandon()
		return
	}
	tries := lastTries
	if s.failing.Load() != nil {
		tries = 1
	}
	p := s.pushOnce()
	for pause := lastPause; p != nil && (p.Kind == upload.Busy || p.Kind == upload.Unreachable) && tries > 1; pause *= 2 {
		tries--
		select {
		case <-s.ctx.Done():
		case <-time.After(pause):
		}
		p = s.pushBacklog()
	}
	s.conclude(p)
}

// conclude logs the end of the stream.
func (s *stream) conclude(p *upload.Problem) {
	s.adding.Lock() // a batch that is being added counts as added
	s.mu.Lock()
	dropped, all := s.dropped, s.added.Load()+int64(len(s.waiting))
	s.mu.Unlock()
	s.adding.Unlock()
	if dropped > 0 {
		s.log.Warn(fmt.Sprintf("OpenTelemetry: the metrics lack %d requests: the buffer was full; raise "+
			"AIPERF_OTEL_MAX_BUFFERED_RECORDS (%d)", dropped, s.o.MaxBuffered))
	}
	if s.lost > 0 {
		s.log.Warn(fmt.Sprintf("OpenTelemetry: the metrics of %d requests were dropped: %s did not accept them",
			s.lost, s.target.String()))
	}
	if p != nil && p.Kind != upload.Partial {
		s.log.Warn(fmt.Sprintf("OpenTelemetry: the last push failed: %s %s; it lacks %d of %d requests and the "+
			"final metrics of the load",
			s.target.String(), p.Text, all-s.arrived, all))
		return
	}
	s.report(p)
	s.log.Info(fmt.Sprintf("OpenTelemetry: %s received the metrics of %d requests in %d pushes", s.target.String(),
		s.arrived, s.pushes))
}
