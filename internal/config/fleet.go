package config

import "time"

// Fleet says which processes make the load.
type Fleet struct {
	// Agents is their number; Local ones are started by this program, others are waited for no longer than Wait.
	Agents int
	Local  bool
	Wait   time.Duration
	// Name separates fleets that share a NATS server.
	Name string
	// URL is that of the NATS server; empty for one of this program's own, which listens on Listen (HOST:PORT).
	URL, Listen string
	// The files hold what processes prove themselves with; empty = none.
	TokenFile, NKeyFile, CredentialsFile string
	TLS                                  TLS
	// RawStays leaves raw exchanges in files of the agents.
	RawStays bool
}
