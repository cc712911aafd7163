package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"aiperf/internal/wire/endpoint"
)

// CacheBust marks requests so that no prefix cache of the server has their beginning.
type CacheBust struct {
	// Target is the message that is marked and the place of the marker; empty: none.
	Target string
	// RunID makes the marks of runs differ.
	RunID string
	// NoSystem is called once when a system message is to be marked and a request has none; nil: not called.
	NoSystem func()

	once sync.Once
}

// The targets. The first four carry a marker of each play, the others one of the warm-up.
const (
	SystemPrefix    = "system_prefix"
	SystemSuffix    = "system_suffix"
	FirstTurnPrefix = "first_turn_prefix"
	FirstTurnSuffix = "first_turn_suffix"
	WarmupSystem    = "warmup_isolation_system"
	WarmupFirstTurn = "warmup_isolation_first_turn"
	warmupMark      = "[warmup]"
	markDigits      = 12
)

// plays reports that each play has a mark of its own.
func (b *CacheBust) plays() bool {
	switch b.Target {
	case SystemPrefix, SystemSuffix, FirstTurnPrefix, FirstTurnSuffix:
		return true
	}
	return false
}

// warmup reports that requests of a warm-up are marked.
func (b *CacheBust) warmup() bool { return b.Target == WarmupSystem || b.Target == WarmupFirstTurn }

// playMark is the mark of play k of a conversation: the same for all its turns, different for the next
// play and in the next run.
func (b *CacheBust) playMark(k uint64, conversation, conversations int, id string) string {
	pass := k / uint64(max(1, conversations))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d %s", b.RunID, pass, k, conversation, id))
	return "[rid:" + hex.EncodeToString(sum[:])[:markDigits] + "]"
}

// marker is the mark of the next request; its text is empty where the request is not marked.
func (s *Session) marker() endpoint.Mark {
	b := s.store.options.CacheBust
	if b == nil {
		return endpoint.Mark{}
	}
	m := endpoint.Mark{
		Text: s.playMark, After: b.Target == SystemSuffix || b.Target == FirstTurnSuffix,
		System: b.Target == SystemPrefix || b.Target == SystemSuffix || b.Target == WarmupSystem,
	}
	if s.warm && b.warmup() {
		m.Text = warmupMark
	}
	return m
}

// mark marks the context of a request.
func (s *Session) mark(c *endpoint.Context, m endpoint.Mark) {
	if b := s.store.options.CacheBust; !c.Mark(m) && m.System && b.NoSystem != nil {
		b.once.Do(b.NoSystem)
	}
}

// Warm reports whether the requests prepared from now on are those of a warm-up. It reports whether a request
// that was prepared before has to be prepared again.
func (s *Session) Warm(warm bool) (changed bool) {
	changed = s.warm != warm && s.store.options.CacheBust != nil && s.store.options.CacheBust.warmup()
	s.warm = warm
	return changed
}
