//go:build unix

package benchmark

import (
	"os"
	"syscall"
)

// quietSignals report a failed write that the write itself reports too: a reader who went away, a
// file that reached the size limit. By default they end the program, with the results unwritten.
var quietSignals = []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ}
