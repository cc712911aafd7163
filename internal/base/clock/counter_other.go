//go:build !windows

package clock

// counter is a source of instants that is finer than the runtime's clock. Here the runtime's is the finest.
type counter struct{}

func newCounter() counter { return counter{} }

// counts reports whether there is one.
func (counter) counts() bool { return false }

// elapsedNS is the time since the counter was made.
func (counter) elapsedNS() int64 { return 0 }

// preciseWallNS is the wall clock beside a counter.
func preciseWallNS() int64 { return 0 }
