package run

import (
	"context"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/watch/collect"
)

// IdleWatch asks the servers of a configuration, between runs, whether they still work on requests. It is kept over the
// runs of an experiment: where its servers can be asked and how is found out once.
type IdleWatch struct {
	// collector is nil where no server says how many requests it has.
	collector *collect.Collector
}

// Idle is what a wait for idle servers found.
type Idle struct {
	// Known reports that the servers say how many requests they have; without it nothing was waited for.
	Known bool
	// Requests is how many they have by the last scrape.
	Requests float64
}

// idleInterval is the time between two scrapes of a wait.
const idleInterval = 25 * time.Millisecond

// idleScrapes is how many scrapes in succession must find no request: a gauge may be a moment late.
const idleScrapes = 2

// idleReachable bounds the search for the metrics pages of the servers.
const idleReachable = 2 * time.Second

// WatchIdle finds out which servers of a configuration have metrics pages. Servers without one, and configurations
// without server metrics, are no error: nothing is waited for then. The error is one of files that the configuration
// names.
func WatchIdle(ctx context.Context, cfg *config.Run, o Options) (*IdleWatch, error) {
	if !cfg.ServerMetrics.Enabled {
		return &IdleWatch{}, nil
	}
	t := &target{base: newBase(cfg, o, clock.New())}
	if err := t.identify(ctx); err != nil {
		return nil, err
	}
	options := t.pages()
	options.Interval = idleInterval
	collector, err := collect.New(options)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, idleReachable)
	defer cancel()
	collector.Discover(bounded)
	if !collector.Probe(bounded) {
		return &IdleWatch{}, collector.Close()
	}
	w := &IdleWatch{collector: collector}
	collector.Boundary(bounded)
	if _, at := collector.Store().Work(); at == 0 {
		w.Close()
	}
	return w, nil
}

// WaitUntilIdle waits until the servers have no request, running or waiting, at most for a bound or until ctx ends.
func (w *IdleWatch) WaitUntilIdle(ctx context.Context, bound time.Duration) (found Idle) {
	if w == nil || w.collector == nil {
		return Idle{}
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	ticker := time.NewTicker(idleInterval)
	defer ticker.Stop()
	_, last := w.collector.Store().Work()
	for idle := 0; ; {
		w.collector.Boundary(ctx)
		requests, at := w.collector.Store().Work()
		if at != last && at != 0 { // else no server answered
			found.Requests, found.Known = requests, true
			if idle++; requests > 0 {
				idle = 0
			}
		}
		last = at
		if idle == idleScrapes {
			return found
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return found
		}
	}
}

// Close ends the watch.
func (w *IdleWatch) Close() {
	if w != nil && w.collector != nil {
		_ = w.collector.Close() // it has no sink that could hang
		w.collector = nil
	}
}
