package browse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/config"
	"aiperf/internal/result/foreign"
	"aiperf/internal/result/library"
	"aiperf/internal/result/recompute"
)

// reports are the pages of single runs and of comparisons, which take reading all records: each is made once, one at a
// time, and kept in memory and in the cache folder until the files of the runs change.
type reports struct {
	o    Options
	ctx  context.Context
	stop context.CancelFunc
	turn chan struct{} // one at a time

	mu    sync.Mutex
	all   map[string]*made
	order []string // oldest first
	work  sync.WaitGroup
}

// made is a report, complete when done is closed.
type made struct {
	done finished
	page []byte
	err  error
}

// keptReports bounds the reports in memory, of some 300 kB each.
const keptReports = 40

func newReports(o Options) *reports {
	p := &reports{o: o, turn: make(chan struct{}, 1), all: map[string]*made{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

func (p *reports) close() {
	p.stop()
	p.work.Wait()
}

// ofRun returns the report of a run, which may not be complete.
func (p *reports) ofRun(it *item) *made {
	folder := it.folder
	return p.of(it.id+it.stamp, func(ctx context.Context) ([]byte, error) {
		if !folder.HasRecords {
			return nil, errors.New("there are no records")
		}
		return recompute.Page(ctx, recompute.ReportOptions{Dir: folder.Path, Version: ""})
	})
}

// of returns the page of a key, which may not be complete; it is made by the function unless it is there.
func (p *reports) of(key string, compute func(context.Context) ([]byte, error)) *made {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, ok := p.all[key]; ok {
		return m
	}
	m := &made{done: make(finished)}
	p.all[key], p.order = m, append(p.order, key)
	for len(p.order) > keptReports {
		delete(p.all, p.order[0])
		p.order = p.order[1:]
	}
	p.work.Go(func() {
		defer close(m.done)
		m.page, m.err = p.make(key, compute)
	})
	return m
}

// make reads the report from the cache folder, or computes it.
func (p *reports) make(key string, compute func(context.Context) ([]byte, error)) ([]byte, error) {
	cached := ""
	if p.o.Cache != "" {
		sum := sha256.Sum256([]byte(key + p.o.Version))
		cached = filepath.Join(p.o.Cache, "reports", hex.EncodeToString(sum[:12])+".html")
		if page, err := bounded.ReadFile(cached); err == nil && len(page) > 0 {
			return page, nil
		}
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-p.ctx.Done():
		return nil, p.ctx.Err()
	}
	page, err := compute(p.ctx)
	debug.FreeOSMemory() // a million records leave much behind
	if err != nil {
		return nil, err
	}
	if cached != "" {
		if os.MkdirAll(filepath.Dir(cached), 0o700) == nil {
			_ = artifact.WriteFile(cached, page) // without it the report is computed again
			tidy(filepath.Dir(cached), maxReports)
		}
	}
	return page, nil
}

// maxReports bounds the bytes of the reports in the cache folder.
const maxReports = 100 << 20

// watched are the files of which a change makes an item another one.
func watched(d *library.Folder) []string {
	if d.Kind != library.Run {
		return []string{d.File, d.Aggregate}
	}
	return []string{foreign.File(d.File), bounded.ResolveCompressed(d.Files.Path(config.RecordsJSONL)), d.Files.Path(config.RunState),
		d.Files.Path(config.GPUTelemetryJSONL)}
}
