//go:build !unix

package cli

import "os"

// quietSignals: a failed write raises no signal here.
var quietSignals []os.Signal
