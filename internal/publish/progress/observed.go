package progress

import "time"

// Observed is what servers and GPUs say without a run.
type Observed struct {
	At      time.Time
	Servers []Server
	GPUs    []GPU
	// Searched reports that GPUs were looked for: without it there may still be some.
	Searched bool
}

// Server is one server that is observed.
type Server struct {
	// URL is where its metrics are, without secrets, Kind its name; "" where that is not known.
	URL, Kind string
	// Error is why it has no figures; "" where it has.
	Error string
	// Remark is what to know of the figures; "" is nothing.
	Remark string
	// Figures are its newest ones, server_….
	Figures []Figure
}
