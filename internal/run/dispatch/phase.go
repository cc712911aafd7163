package dispatch

import (
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/wire/session"
)

// Phase is what records say of a phase, and how its sessions are played.
type Phase struct {
	servermetrics.PhaseID
	// Scheduled reports that its sessions have recorded times.
	Scheduled bool
	Play      session.Play
}
