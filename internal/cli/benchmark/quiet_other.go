//go:build !unix

package benchmark

import "os"

// quietSignals: a failed write raises no signal here.
var quietSignals []os.Signal
