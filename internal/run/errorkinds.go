package run

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"aiperf/internal/measure/record"
	"aiperf/internal/publish/progress"
)

const (
	// maxErrorKinds bounds the kinds of errors that are told apart for observers; later ones are counted together.
	maxErrorKinds = 50
	// maxKindMessage is the length at which the last message of a kind is cut, in characters.
	maxKindMessage = 300
)

// otherErrorKinds is the type under which the kinds beyond maxErrorKinds are counted.
const otherErrorKinds = "other errors"

// errorKinds counts the errors of the profiling phases by code and type, and keeps the last message of each, for
// observers. It counts nothing until it is wanted.
type errorKinds struct {
	wanted atomic.Bool

	mu    sync.Mutex
	kinds map[errorKind]*progress.ErrorKind
	// changed reports that the list is older than the counts.
	changed bool
	list    []progress.ErrorKind
}

// news tells the observers of each finished request.
type news struct {
	passive
	followers []*progress.Follower
	kinds     errorKinds
}

func (n *news) record(r *record.Record) {
	if r.ContextOverflowSkip {
		return
	}
	if r.Phase != record.PhaseWarmup {
		n.kinds.add(r.Err)
	}
	for _, f := range n.followers {
		f.Record(r)
	}
}

type errorKind struct {
	code int
	name string
}

// add counts an error.
func (k *errorKinds) add(e *record.Error) {
	if e == nil || !k.wanted.Load() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kinds == nil {
		k.kinds = map[errorKind]*progress.ErrorKind{}
	}
	key := errorKind{e.Code, e.Type}
	if k.kinds[key] == nil && len(k.kinds) >= maxErrorKinds {
		key = errorKind{0, otherErrorKinds}
	}
	kind := k.kinds[key]
	if kind == nil {
		kind = &progress.ErrorKind{Code: key.code, Type: strings.Clone(key.name)}
		k.kinds[key] = kind
	}
	kind.Message = e.Message
	kind.Count++
	k.changed = true
}

// newest returns the kinds so far, the most frequent first. The errors of records have passed the redactor.
func (k *errorKinds) newest() []progress.ErrorKind {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.changed {
		return k.list
	}
	k.changed, k.list = false, make([]progress.ErrorKind, 0, len(k.kinds))
	for _, kind := range k.kinds {
		own := *kind
		own.Message = shortened(own.Message)
		k.list = append(k.list, own)
	}
	slices.SortFunc(k.list, func(a, b progress.ErrorKind) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Type, b.Type))
	})
	return k.list
}

// shortened cuts a message that is too long.
func shortened(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxKindMessage {
			return text[:i] + "…"
		}
	}
	return text
}
