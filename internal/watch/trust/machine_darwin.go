package trust

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// readMachine reads the memory; the rest is not known without the system's own libraries.
func readMachine(r *reading) {
	r.host.processors = runtime.NumCPU()
	if total, err := unix.SysctlUint64("hw.memsize"); err == nil {
		r.host.memory = int64(total)
	}
}
