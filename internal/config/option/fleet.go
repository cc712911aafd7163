package option

// fleetFields are the options of a run that several processes make.
type fleetFields struct {
	NATSURL, NATSListen, NATSTokenFile, NATSNKeyFile, NATSCredsFile, NATSCAFile, NATSCertFile, NATSKeyFile,
	FleetName, FleetRecords Opt[string]
	NATSAllowClearText    Opt[bool]
	Agents, WaitForAgents Opt[int64]
	AgentsTimeout         Opt[float64]
}

func (f *fleetFields) rows() []Option {
	const fleet = "fleet."
	return []Option{
		opt(&f.Agents, "agents", "", 2,
			"Make the load with this many processes on this machine, each of which gets an equal share.",
			limits(Between(1, 1000)), yaml(fleet+"agents")),
		opt(&f.WaitForAgents, "wait-for-agents", "", 2, "Make the load with this many agents, which are started "+
			"elsewhere with aiperf agent --join, each of which gets an equal share.", limits(Between(1, 10000)),
			yaml(fleet+"wait_for_agents")),
		opt(&f.AgentsTimeout, "agents-timeout", "300", 3, "Seconds within which all agents must have joined.", seconds,
			limits(Above(0)), yaml(fleet+"timeout")),
		opt(&f.NATSURL, "nats-url", "", 2, "NATS server that the agents and this program meet at (nats://HOST:PORT or "+
			"tls://HOST:PORT; it needs JetStream).", derived("a server within this program"), yaml(fleet+"nats.url")),
		opt(&f.NATSListen, "nats-listen", "127.0.0.1:0", 2, "Address of the NATS server within this program: "+
			"HOST:PORT; 0.0.0.0:4222 with --nats-cert-file lets agents of other machines join.",
			yaml(fleet+"nats.listen")),
		opt(&f.NATSTokenFile, "nats-token-file", "", 2, "File with the token that agents must have.",
			derived("AIPERF_NATS_TOKEN, else a new one, which is shown"), mustExist, yaml(fleet+"nats.token_file")),
		opt(&f.NATSNKeyFile, "nats-nkey-file", "", 3,
			"File with the seed of the nkey that agents must have, instead of a token.", mustExist,
			yaml(fleet+"nats.nkey_file")),
		opt(&f.NATSCredsFile, "nats-creds-file", "", 3, "File with the credentials for the server of --nats-url.",
			mustExist, yaml(fleet+"nats.creds_file")),
		opt(&f.NATSCAFile, "nats-ca-file", "", 3, "PEM file of the authorities of certificates on the links to agents.",
			mustExist, yaml(fleet+"nats.ca_file")),
		opt(&f.NATSCertFile, "nats-cert-file", "", 3, "PEM file of the certificate of the NATS server within this "+
			"program, whose links are then encrypted; with --nats-url that of this client.", mustExist,
			yaml(fleet+"nats.cert_file")),
		opt(&f.NATSKeyFile, "nats-key-file", "", 3, "PEM file of the key of that certificate.", mustExist,
			yaml(fleet+"nats.key_file")),
		opt(&f.NATSAllowClearText, "nats-allow-clear-text", "false", 3,
			"Let the links to agents of other machines carry the token, prompts and the API key without encryption.",
			yaml(fleet+"nats.allow_clear_text")),
		opt(&f.FleetName, "fleet-name", "default", 3, "Name of the fleet, where several share a NATS server.",
			yaml(fleet+"name")),
		opt(&f.FleetRecords, "fleet-records", "here", 3, "Where the raw exchanges of --export-level raw are written.",
			yaml(fleet+"records"), choices("here", "Agents send them, and they are written to the folder of the run.",
				"stay", "Each agent writes its own; fleet.json lists the folders.")),
	}
}
