package resolve

import (
	"net"
	"net/url"
	"strconv"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
)

// fleet decides which processes make the load.
type fleet struct{ *asked }

// ofFleet are the options that mean nothing without agents.
func ofFleet(p *option.Tree) []option.Field {
	return []option.Field{&p.AgentsTimeout, &p.NATSURL, &p.NATSListen, &p.NATSTokenFile, &p.NATSNKeyFile,
		&p.NATSCredsFile, &p.NATSCAFile, &p.NATSCertFile, &p.NATSKeyFile, &p.NATSAllowClearText, &p.FleetName,
		&p.FleetRecords}
}

// wanted reports whether there are agents.
func (fl *fleet) wanted() bool { return fl.p.Agents.IsSet() || fl.p.WaitForAgents.IsSet() }

func (fl *fleet) check() {
	if !fl.wanted() {
		for _, flag := range activeOf(ofFleet(&fl.p.Tree)...) {
			fl.fault("", "%s needs --agents or --wait-for-agents", flag)
		}
		return
	}
	fl.checkServer()
	if fl.p.NATSKeyFile.Given() != fl.p.NATSCertFile.Given() {
		fl.fault("", "--nats-cert-file and --nats-key-file need each other")
	}
	if name := fl.p.FleetName.Get(); !plainName(name) {
		fl.fault("", "%s %q may have letters, digits, - and _ only", fl.p.FleetName.Flag(), name)
	}
	if fl.p.FleetRecords.Get() == "stay" && fl.p.ExportLevel.Get() != "raw" {
		fl.warn("%s stay has no effect without --export-level raw", fl.p.FleetRecords.Flag())
	}
}

// checkServer checks where agents and coordinator meet.
func (fl *fleet) checkServer() {
	own := !fl.p.NATSURL.Given()
	if own {
		host, port, err := net.SplitHostPort(fl.p.NATSListen.Get())
		number, notNumber := strconv.ParseUint(port, 10, 16)
		if err != nil || notNumber != nil {
			fl.fault("", "%s %q is not an address to listen on: want HOST:PORT", fl.p.NATSListen.Flag(),
				fl.p.NATSListen.Get())
			return
		}
		if !fl.p.NATSCertFile.Given() && !parse.Confidential("nats://"+net.JoinHostPort(host, port)) {
			fl.refuseClearText(&fl.p.NATSListen, "encrypt them with --nats-cert-file and --nats-key-file")
		}
		if fl.p.WaitForAgents.IsSet() && number == 0 && !fl.p.NATSListen.Given() {
			fl.warn("%s without --nats-listen: only agents of this machine can join; --nats-listen 0.0.0.0:4222 lets those "+
				"of others join", fl.p.WaitForAgents.Flag())
		}
		if fl.p.NATSCredsFile.Given() {
			fl.fault("", "%s is for the server of --nats-url; the one within this program takes a token or an nkey",
				fl.p.NATSCredsFile.Flag())
		}
		return
	}
	u, err := url.Parse(fl.p.NATSURL.Get())
	if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss" {
		fl.fault("", "%s is not an address of a NATS server: want nats://HOST:PORT or tls://HOST:PORT",
			fl.p.NATSURL.Flag())
		return
	}
	// The client encrypts nats://, too, when it has certificates.
	encrypts := u.Scheme == "nats" && (fl.p.NATSCAFile.Given() || fl.p.NATSCertFile.Given())
	if !encrypts && !parse.Confidential(fl.p.NATSURL.Get()) {
		fl.refuseClearText(&fl.p.NATSURL, "encrypt them with tls://HOST:PORT, and --nats-ca-file if the server's "+
			"certificate is your own")
	}
}

// refuseClearText refuses links beyond this machine that are not encrypted, unless they are asked for.
func (fl *fleet) refuseClearText(address *option.Opt[string], instead string) {
	if !fl.p.NATSAllowClearText.Get() {
		fl.fault("", "%s: the links to the agents would carry the token, prompts and the API key in clear text; %s, or allow "+
			"this with --nats-allow-clear-text", address.Flag(), instead)
	}
}

// plainName reports whether a name can be a part of a subject.
func plainName(name string) bool {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return name != ""
}

// build returns nil where there are no agents.
func (fl *fleet) build() *config.Fleet {
	p := fl.p
	if !fl.wanted() {
		return nil
	}
	f := &config.Fleet{
		Local: p.Agents.IsSet(), Wait: option.Seconds(p.AgentsTimeout.Get()), Name: p.FleetName.Get(),
		URL: p.NATSURL.Get(), Listen: p.NATSListen.Get(), TokenFile: p.NATSTokenFile.Get(),
		NKeyFile: p.NATSNKeyFile.Get(), CredentialsFile: p.NATSCredsFile.Get(),
		TLS: config.TLS{CAFile: p.NATSCAFile.Get(), CertFile: p.NATSCertFile.Get(),
			KeyFile: p.NATSKeyFile.Get()},
		RawStays: p.FleetRecords.Get() == "stay",
	}
	if n := first(p.WaitForAgents.Pointer(), p.Agents.Pointer()); n != nil {
		f.Agents = int(*n)
	}
	return f
}
