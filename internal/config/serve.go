package config

import (
	"time"

	"aiperf/internal/base/artifact"
)

// Serve says how the server under test is started for a run.
type Serve struct {
	// Command starts the server, empty where it is not ours to start; Reset is run between runs that share it.
	Command, Reset string
	// Params are the parameters of the server in this run.
	Params artifact.Object
	// Timeout bounds the start and the reset.
	Timeout time.Duration
}
