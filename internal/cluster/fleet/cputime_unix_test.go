//go:build unix

package fleet

import (
	"syscall"
	"time"
)

// cpuTime is the processor time of this process so far: on a busy machine it says more than the time that passed.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
