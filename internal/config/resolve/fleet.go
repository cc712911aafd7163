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
var ofFleet = []string{
	"agents-timeout", "nats-url", "nats-listen", "nats-token-file", "nats-nkey-file", "nats-creds-file", "nats-ca-file",
	"nats-cert-file", "nats-key-file", "nats-allow-clear-text", "fleet-name", "fleet-records",
}

// wanted reports whether there are agents.
func (fl *fleet) wanted() bool { return fl.p.IsSet("agents") || fl.p.IsSet("wait-for-agents") }

func (fl *fleet) check() {
	if !fl.wanted() {
		for _, flag := range fl.activeOf(ofFleet...) {
			fl.fault("", "%s needs --agents or --wait-for-agents", flag)
		}
		return
	}
	fl.checkServer()
	if fl.given("nats-key-file") != fl.given("nats-cert-file") {
		fl.fault("", "--nats-cert-file and --nats-key-file need each other")
	}
	if name := fl.p.Text("fleet-name"); !plainName(name) {
		fl.fault("", "%s %q may have letters, digits, - and _ only", fl.flag("fleet-name"), name)
	}
	if fl.p.Text("fleet-records") == "stay" && fl.p.Text("export-level") != "raw" {
		fl.warn("%s stay has no effect without --export-level raw", fl.flag("fleet-records"))
	}
}

// checkServer checks where agents and coordinator meet.
func (fl *fleet) checkServer() {
	own := !fl.given("nats-url")
	if own {
		host, port, err := net.SplitHostPort(fl.p.Text("nats-listen"))
		number, notNumber := strconv.ParseUint(port, 10, 16)
		if err != nil || notNumber != nil {
			fl.fault("", "%s %q is not an address to listen on: want HOST:PORT", fl.flag("nats-listen"),
				fl.p.Text("nats-listen"))
			return
		}
		if !fl.given("nats-cert-file") && !parse.Confidential("nats://"+net.JoinHostPort(host, port)) {
			fl.refuseClearText("nats-listen", "encrypt them with --nats-cert-file and --nats-key-file")
		}
		if fl.p.IsSet("wait-for-agents") && number == 0 && !fl.given("nats-listen") {
			fl.warn("%s without --nats-listen: only agents of this machine can join; --nats-listen 0.0.0.0:4222 lets those "+
				"of others join", fl.flag("wait-for-agents"))
		}
		if fl.given("nats-creds-file") {
			fl.fault("", "%s is for the server of --nats-url; the one within this program takes a token or an nkey",
				fl.flag("nats-creds-file"))
		}
		return
	}
	u, err := url.Parse(fl.p.Text("nats-url"))
	if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss" {
		fl.fault("", "%s is not an address of a NATS server: want nats://HOST:PORT or tls://HOST:PORT", fl.flag("nats-url"))
		return
	}
	// The client encrypts nats://, too, when it has certificates.
	encrypts := u.Scheme == "nats" && (fl.given("nats-ca-file") || fl.given("nats-cert-file"))
	if !encrypts && !parse.Confidential(fl.p.Text("nats-url")) {
		fl.refuseClearText("nats-url", "encrypt them with tls://HOST:PORT, and --nats-ca-file if the server's certificate is "+
			"your own")
	}
}

// refuseClearText refuses links beyond this machine that are not encrypted, unless they are asked for.
func (fl *fleet) refuseClearText(name, instead string) {
	if !fl.p.Bool("nats-allow-clear-text") {
		fl.fault("", "%s: the links to the agents would carry the token, prompts and the API key in clear text; %s, or allow "+
			"this with --nats-allow-clear-text", fl.flag(name), instead)
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
		Local: p.IsSet("agents"), Wait: option.Seconds(*p.Float("agents-timeout")), Name: p.Text("fleet-name"),
		URL: p.Text("nats-url"), Listen: p.Text("nats-listen"), TokenFile: p.Text("nats-token-file"),
		NKeyFile: p.Text("nats-nkey-file"), CredentialsFile: p.Text("nats-creds-file"),
		TLS: config.TLS{CAFile: p.Text("nats-ca-file"), CertFile: p.Text("nats-cert-file"),
			KeyFile: p.Text("nats-key-file")},
		RawStays: p.Text("fleet-records") == "stay",
	}
	for _, name := range []string{"agents", "wait-for-agents"} {
		if n := p.Int(name); n != nil {
			f.Agents = int(*n)
		}
	}
	return f
}
