package run

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/base/pemfile"
	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/plan"
	"aiperf/internal/watch/collect"
	"aiperf/internal/watch/prom"
	"aiperf/internal/wire/api"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/client/grpc"
	"aiperf/internal/wire/client/sigv4"
	"aiperf/internal/wire/control"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/plugin"
	"aiperf/internal/wire/session"
)

// target is what requests go to: the endpoint, its URLs, and how the run and its servers know each other.
type target struct {
	*base
	descriptor endpoint.Descriptor
	endpoint   endpoint.Endpoint
	urls       []string
	identity   identity
	// plugin is the program that is the endpoint; nil if none is.
	plugin *plugin.Host
}

// secure reports whether a URL asks for TLS.
func secure(url string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(url), "://")
	return scheme == "https" || scheme == "grpcs"
}

// bind finds the endpoint that the configuration asks for. Those that take token ids get them from encode.
func (t *target) bind(ctx context.Context, encode func([]int, string) []int) error {
	c := &t.cfg.Endpoint
	options, err := plan.Endpoint(t.cfg)
	if err != nil {
		return fmt.Errorf("--extra-inputs: %w", err)
	}
	options.Warn = func(message string) { t.log.Warn(message) }
	if !t.cfg.Env.HTTP.SSLVerify && !t.options.isShare() && slices.ContainsFunc(c.URLs, secure) {
		t.log.Warn("AIPERF_HTTP_SSL_VERIFY is false: certificates are not checked, so that anyone on the way can be the server")
	}
	if known, _ := api.Lookup(c.Type); known.TokenIDs {
		options.Encode = encode
	}
	if c.Plugin != "" {
		err = t.startPlugin(ctx, options)
	} else {
		t.endpoint, err = endpoint.New(c.Type, options)
	}
	if err != nil {
		return err
	}
	t.descriptor = t.endpoint.Descriptor()
	custom, err := t.nameModelInPath()
	if err != nil {
		return err
	}
	if t.urls, err = session.URLs(t.descriptor, c.URLs, c.Streaming, custom); err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	return nil
}

// startPlugin makes the program that the user named the endpoint of the run.
func (t *target) startPlugin(ctx context.Context, o endpoint.Options) error {
	c, log := &t.cfg.Endpoint, t.options.Log.Logger("plugin")
	extra, err := artifact.AppendJSON(nil, append(artifact.Object{}, c.Extra...))
	if err != nil {
		return fmt.Errorf("--extra-inputs: %w", err)
	}
	start := plugin.Options{
		Command:   c.Plugin,
		CallLimit: t.cfg.Env.Plugin.CallTimeout, StartLimit: t.cfg.Env.Plugin.StartTimeout,
		Log: func(line string) { log.Warn(t.redactor.Text(line)) },
	}
	named := "--endpoint-plugin"
	if c.Program != nil {
		start, named = outside(c.Program, &t.cfg.Env.Plugin), c.Program.String()
		start.Log, start.Quote = func(line string) { log.Warn(t.redactor.Text(line)) }, false
	}
	start.Greeting.Requests = &plugin.Requests{Model: t.cfg.Models[0], Models: t.cfg.Models, Streaming: c.Streaming,
		Extra: extra}
	if t.plugin, err = plugin.Start(ctx, start); err != nil {
		return fmt.Errorf("%s: %w", named, err)
	}
	t.endpoint = plugin.New(t.plugin, o)
	if c.Streaming && !t.endpoint.Descriptor().Streams {
		return fmt.Errorf("--streaming: the plugin %s does not stream; leave --streaming out", t.plugin.Manifest().Name)
	}
	return nil
}

// nameModelInPath puts the model into the path of an API that has it there, or into that of the user, which is returned.
func (t *target) nameModelInPath() (custom *string, err error) {
	const place = "{model}"
	path, named := &t.descriptor.Path, "--endpoint-type "+t.descriptor.Name
	if custom = t.cfg.Endpoint.CustomPath; custom != nil {
		own := *custom
		path, named, custom = &own, "--custom-endpoint", &own
	}
	if !strings.Contains(*path, place) {
		return custom, nil
	}
	if len(t.cfg.Models) > 1 {
		return nil, fmt.Errorf("%s has the model in its path: give one --model", named)
	}
	*path = strings.ReplaceAll(*path, place, url.PathEscape(t.cfg.Models[0]))
	return custom, nil
}

func (t *target) close() {
	if t.plugin != nil {
		t.plugin.Close()
	}
}

// transport carries requests: over HTTP or as calls of gRPC.
type transport interface {
	// Send carries out one exchange; the end of ctx cuts it off. SendInto has the result in *out.
	Send(ctx context.Context, r *client.Request, sink client.Sink) client.Exchange
	SendInto(ctx context.Context, r *client.Request, sink client.Sink, out *client.Exchange)
	// StampSource says where the instants of responses come from.
	StampSource() client.StampSource
	// CloseIdle closes what nobody uses, Close everything.
	CloseIdle()
	Close()
}

// clientOptions are how connections are used, by a number of workers.
func (t *target) clientOptions(workers int) client.Options {
	o := plan.Client(t.cfg, workers)
	o.RootCAs, o.Certificates = t.identity.roots, t.identity.certificates
	if t.identity.signer != nil {
		o.Sign = t.identity.signer.Sign
	}
	return o
}

// fetchOptions are how metrics pages are asked for.
func (t *target) fetchOptions() prom.FetchOptions {
	o := plan.Fetch(t.cfg, t.options.Version)
	o.RootCAs, o.Certificates, o.Redactor = t.identity.roots, t.identity.certificates, t.redactor
	o.WallNS = func(at time.Time) int64 { return t.clock.WallNS(t.clock.MonoNS(at)) }
	if socket := t.cfg.Endpoint.UnixSocket; socket != "" {
		o.Dial = throughSocket(socket, t.cfg.Endpoint.URLs)
	}
	return o
}

// newTransport makes the transport that the URLs ask for.
func (t *target) newTransport(o client.Options) (transport, error) {
	if t.cfg.Endpoint.GRPC {
		c, err := grpc.New(o, t.clock)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	c, err := client.New(o, t.clock)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// control returns how servers are asked alongside the load, by a client of its own: what it does leaves no warm
// connection to the load. The caller closes the transport.
func (t *target) control() (control.Options, transport, error) {
	options := t.clientOptions(1)
	options.Reuse, options.Timeout = client.ReuseNever, 0
	own, err := t.newTransport(options)
	log, headers := t.options.Log.Logger("control"), plan.Headers(t.cfg, &t.descriptor, t.options.Version)
	ofURLs := session.HeadersOf{URLs: t.cfg.Endpoint.URLs, Headers: plan.URLHeaders(t.cfg)}
	return control.Options{
		Sender: own,
		Headers: func(address string, stream bool, contentType string) []record.Header {
			return session.WithHeaders(headers.List(stream, contentType), ofURLs.For(address))
		},
		Redact: t.redactor.Text,
		Log:    func(message string) { log.Info(t.redactor.Text(message)) },
	}, own, err
}

// serverModels asks the first server of the run for its models; from is the address that answered.
func (t *target) serverModels(ctx context.Context) (names []string, from string, err error) {
	o, own, err := t.control()
	if err != nil {
		return nil, "", err
	}
	defer own.Close()
	return o.ListModels(ctx, t.cfg.Endpoint.URLs[0])
}

// serverContext asks the first server for the context of the run's first model.
func (t *target) serverContext(ctx context.Context) (int64, error) {
	o, own, err := t.control()
	if err != nil {
		return 0, err
	}
	defer own.Close()
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	return o.ModelContext(ctx, t.cfg.Endpoint.URLs[0], t.cfg.Models[0])
}

// shownURLs are those that are asked, without secrets.
func (t *target) shownURLs() []string {
	list := make([]string, len(t.urls))
	for i, u := range t.urls {
		list[i] = t.redactor.URL(u)
	}
	return list
}

// remarkMissingPage warns of a server that publishes metrics, by what it calls itself, where none were found.
func (t *target) remarkMissingPage(ctx context.Context) {
	if t.cfg.Endpoint.GRPC {
		return // it does not say what it is
	}
	o, own, err := t.control()
	if err != nil {
		return // the load meets the same error, and says so
	}
	defer own.Close()
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	base := t.cfg.Endpoint.URLs[0]
	about, _ := o.AskAbout(ctx, base)
	if o.IsRouter(ctx, base) {
		about.Owner = collect.RouterOwner
	}
	if text := collect.MissingPage(about.Owner); text != "" {
		t.log.Warn(text)
	}
}

// pages are the options of a collector of the servers' metrics: where to look for them and how to ask.
func (t *target) pages() collect.Options {
	return collect.Options{
		URLs: t.cfg.Endpoint.URLs, Models: t.cfg.Models, IsTriton: t.isTriton, Extra: t.cfg.ServerMetrics.URLs,
		ScrapeTimeout: t.cfg.Env.ServerMetrics.ScrapeTimeout, Fetch: t.fetchOptions(),
	}
}

// isTriton asks a server whether it is Triton.
func (t *target) isTriton(ctx context.Context, base string) bool {
	o, own, err := t.control()
	if err != nil {
		return false
	}
	defer own.Close()
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	return o.IsTriton(ctx, base)
}

// FindModel returns the only model that the first server of a run offers, for a run whose user named none, and a line
// for the log that says so.
func FindModel(ctx context.Context, cfg *config.Run, o Options) (model, note string, err error) {
	t := &target{base: newBase(cfg, o, clock.New())}
	defer t.close()
	if err := t.bind(ctx, nil); err != nil {
		return "", "", err
	}
	if err := t.identify(ctx); err != nil {
		return "", "", err
	}
	names, from, err := t.serverModels(ctx)
	switch {
	case err != nil:
		return "", "", &NoModelError{t.redactor.Text(err.Error())}
	case len(names) != 1 || names[0] == "":
		return "", "", &NoModelError{t.redactor.Text(from + " offers " + control.Listed(names))}
	}
	return names[0], "No --model is given: taking the only one that " + from + " offers, " + names[0], nil
}

// ContextLength returns the length in tokens of the context of a run's model, as its first server says it; 0 where it
// does not.
func ContextLength(ctx context.Context, cfg *config.Run, o Options) int64 {
	t := &target{base: newBase(cfg, o, clock.New())}
	defer t.close()
	if t.bind(ctx, nil) != nil || t.identify(ctx) != nil {
		return 0
	}
	n, err := t.serverContext(ctx)
	if err != nil {
		t.log.Debug("The server does not say how long the context of its model is", "error", err)
	}
	return n
}

// NoModelError is a run without a model: the user named none, and the server does not offer exactly one.
type NoModelError struct{ Reason string }

func (e *NoModelError) Error() string {
	return "no --model is given, and " + e.Reason + "; if the server is there, name the model to benchmark with --model"
}

// identity is how the run and its servers know each other: authorities, the client's certificate, the
// signature of requests.
type identity struct {
	roots        *x509.CertPool // nil = the system's
	certificates []tls.Certificate
	signer       *sigv4.Signer // nil = none
}

// identify reads the files and finds the credentials that the configuration names.
func (t *target) identify(ctx context.Context) error {
	c, id := &t.cfg.Endpoint, &t.identity
	for _, a := range c.SourceAddresses {
		if err := client.CheckSource(a); err != nil {
			return fmt.Errorf("--source-address: %w", err)
		}
	}
	if file := c.TLS.CAFile; file != "" {
		var err error
		if id.roots, err = pemfile.Authorities(file); err != nil {
			return fmt.Errorf("--tls-ca-file: %w", err)
		}
	}
	if c.TLS.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(c.TLS.CertFile, c.TLS.KeyFile)
		if err != nil {
			return fmt.Errorf("--tls-client-cert %s with --tls-client-key %s: %w", c.TLS.CertFile, c.TLS.KeyFile, err)
		}
		id.certificates = []tls.Certificate{pair}
	}
	if s := c.Signing; s != nil {
		var err error
		if id.signer, err = sigv4.New(ctx, sigv4.Options(*s)); err != nil {
			return fmt.Errorf("--auth-type sigv4: %w", err)
		}
	}
	return nil
}

// throughSocket dials the servers of the run through their Unix socket and all others as usual.
func throughSocket(socket string, bases []string) func(ctx context.Context, network, address string) (net.Conn, error) {
	var own []string
	for _, base := range bases {
		if u, err := url.Parse(base); err == nil {
			port := u.Port()
			if port == "" {
				port = map[string]string{"http": "80", "https": "443", "grpc": "80",
					"grpcs": "443"}[strings.ToLower(u.Scheme)]
			}
			own = append(own, net.JoinHostPort(u.Hostname(), port))
		}
	}
	var dialer net.Dialer
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if slices.Contains(own, address) {
			return dialer.DialContext(ctx, "unix", socket)
		}
		return dialer.DialContext(ctx, network, address)
	}
}

// modelsTimeout bounds the request for the models of a server, after requests for one failed.
const modelsTimeout = 5 * time.Second
