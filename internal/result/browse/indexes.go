package browse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"aiperf/internal/config"
	"aiperf/internal/result/library"
)

// indexes are those of the requests of runs: each is made on first use, one at a time, saved in the cache folder, and
// kept in memory as long as there is room.
type indexes struct {
	o    Options
	ctx  context.Context
	stop context.CancelFunc
	turn chan struct{}
	work sync.WaitGroup

	mu    sync.Mutex
	all   map[string]*indexed
	order []string // least recently used first
}

// indexed is an index, complete when done is closed.
type indexed struct {
	done  finished
	share atomic.Uint64 // of the file that was read, as the bits of a float
	x     *library.RequestIndex
	err   error
}

// Bounds of the indexes in memory and in the cache folder, in bytes.
const (
	maxIndexed      = 150 << 20
	maxIndexedFiles = 1 << 30
)

func newIndexes(o Options) *indexes {
	x := &indexes{o: o, turn: make(chan struct{}, 1), all: map[string]*indexed{}}
	x.ctx, x.stop = context.WithCancel(context.Background())
	return x
}

func (x *indexes) close() {
	x.stop()
	x.work.Wait()
}

// of returns the index of a file of a run, which may not be complete. Names is that of [library.IndexOptions].
func (x *indexes) of(it *item, kind config.Artifact) *indexed {
	path := it.folder.Files.Path(kind)
	key := path + it.stamp
	x.mu.Lock()
	defer x.mu.Unlock()
	if m, ok := x.all[key]; ok {
		x.order = append(slices.DeleteFunc(x.order, func(k string) bool { return k == key }), key)
		return m
	}
	m := &indexed{done: make(finished)}
	x.all[key], x.order = m, append(x.order, key)
	x.work.Go(func() {
		m.x, m.err = x.make(m, path, kind == config.RawJSONL)
		close(m.done)
		x.shrink()
	})
	return m
}

// shrink forgets the indexes that have not been used for the longest time, until the others fit.
func (x *indexes) shrink() {
	x.mu.Lock()
	defer x.mu.Unlock()
	var total int64
	for _, m := range x.all {
		if m.done.ready() && m.x != nil {
			total += m.x.Bytes()
		}
	}
	for k := 0; k < len(x.order)-1 && total > maxIndexed; {
		m := x.all[x.order[k]]
		if !m.done.ready() {
			k++
			continue
		}
		if m.x != nil {
			total -= m.x.Bytes()
		}
		delete(x.all, x.order[k])
		x.order = slices.Delete(x.order, k, k+1)
	}
}

// make loads the index, or builds it.
func (x *indexes) make(m *indexed, path string, names bool) (*library.RequestIndex, error) {
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-x.ctx.Done():
		return nil, x.ctx.Err()
	}
	saved := ""
	if x.o.Cache != "" {
		if absolute, err := filepath.Abs(path); err == nil {
			sum := sha256.Sum256([]byte(absolute))
			saved = filepath.Join(x.o.Cache, "requests", hex.EncodeToString(sum[:12]))
		}
	}
	if saved != "" {
		if index, err := library.LoadIndex(saved, path); err == nil {
			return index, nil
		}
	}
	index, err := library.BuildIndex(x.ctx, path, library.IndexOptions{Names: names, Progress: func(share float64) {
		m.share.Store(math.Float64bits(share))
	}})
	debug.FreeOSMemory()
	if err != nil {
		return nil, err
	}
	if saved != "" && os.MkdirAll(filepath.Dir(saved), 0o700) == nil {
		if index.Save(saved) == nil { // without it the file is read again
			tidy(filepath.Dir(saved), maxIndexedFiles)
		}
	}
	return index, nil
}
