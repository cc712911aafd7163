//go:build unix

package trust

import "golang.org/x/sys/unix"

func readProcess(r *reading) {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) == nil {
		r.cpuNS = used.Utime.Nano() + used.Stime.Nano()
	}
	r.descriptorLimit, _ = descriptorLimits()
}

// descriptorLimits returns the limit in force and the one up to which the process may raise it itself.
func descriptorLimits() (soft, hard int64) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0, 0
	}
	return clamp(uint64(limit.Cur)), clamp(uint64(limit.Max))
}

// clamp returns none for a limit that does not fit.
func clamp(limit uint64) int64 {
	if limit > 1<<40 {
		return 0
	}
	return int64(limit)
}
