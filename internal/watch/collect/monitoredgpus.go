package collect

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/watch/gpu"
)

// monitoredGPUs follows the GPUs that one of several collectors finds.
type monitoredGPUs struct {
	catalog *gpu.Catalog
	keep    time.Duration

	mu       sync.Mutex
	store    *gpu.Store
	begun    int64
	searched bool
}

// watch tries the collectors in turn and follows the first that finds GPUs.
func (g *monitoredGPUs) watch(ctx context.Context, collectors []func(GPUSink) (GPUCollector, error),
	log *slog.Logger) {
	for _, open := range collectors {
		if ctx.Err() != nil {
			return
		}
		c, err := open(g)
		if err != nil {
			log.Warn(err.Error())
			continue
		}
		found, err := c.Probe(ctx)
		if err != nil {
			log.Debug(err.Error())
		}
		if found && err == nil {
			g.found()
			c.Baseline(ctx)
			c.Start()
			<-ctx.Done()
		}
		_ = c.Close()
	}
	g.found()
}

func (g *monitoredGPUs) found() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.searched = true
}

// Read implements [GPUSink].
func (g *monitoredGPUs) Read(readings []gpu.Reading) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range readings {
		if g.store == nil || r.TimestampNS-g.begun > int64(g.keep) {
			g.store, g.begun = gpu.NewStore(g.catalog), r.TimestampNS
		}
		g.store.Add(r)
	}
}

func (g *monitoredGPUs) newest() (list []gpu.DeviceNewest, searched bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.store == nil {
		return nil, g.searched
	}
	return g.store.Newest(g.begun), true
}
