package client

import (
	"fmt"
	"io"
	"sync"

	"aiperf/internal/wire/client/stamp"
)

// TimestampSource is where the instants of responses come from.
type TimestampSource string

// The sources.
const (
	// TimestampAuto is the kernel where it reports when bytes came, else the read.
	TimestampAuto TimestampSource = "auto"
	// TimestampKernel is the same, but a system that has no such stamps is an error.
	TimestampKernel TimestampSource = "kernel"
	// TimestampUser is the instant at which a read returned to this program. The read lag is
	// measured nevertheless, where the kernel has stamps.
	TimestampUser TimestampSource = "user"
)

// StampSource is where the instants of a client's responses come from.
type StampSource struct {
	// Source is TimestampKernel or TimestampUser.
	Source TimestampSource
	// Reason is why the kernel's stamps are missing, on the whole or on some connection; "" if none are.
	Reason string
}

// sources are the origins of a client's stamps.
type sources struct {
	kernel bool      // the kernel's stamps are the instants of responses, wherever there are any
	hold   io.Closer // nil if there are none

	mu     sync.Mutex
	reason string
}

func newSources(asked TimestampSource) (*sources, error) {
	s := &sources{}
	hold, err := stamp.Hold()
	switch {
	case err == nil:
		s.hold, s.kernel = hold, asked != TimestampUser
	case asked == TimestampKernel:
		return nil, fmt.Errorf("timestamp source kernel: %w; choose auto or user", err)
	default:
		s.reason = err.Error()
	}
	return s, nil
}

// measured reports whether kernel stamps are enabled.
func (s *sources) measured() bool { return s.hold != nil }

// noteFallback notes why a connection has no stamps of the kernel; the first reason stays.
func (s *sources) noteFallback(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == "" {
		s.reason = reason
	}
}

func (s *sources) close() {
	if s.hold != nil {
		_ = s.hold.Close()
	}
}

// StampSource returns where the instants of the responses so far come from. An Exchange has its own.
func (c *Client) StampSource() StampSource {
	s := c.sources
	s.mu.Lock()
	defer s.mu.Unlock()
	out := StampSource{Source: TimestampUser, Reason: s.reason}
	if s.kernel {
		out.Source = TimestampKernel
	}
	return out
}
