package plan

import (
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/watch/prom"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/intake"
	"aiperf/internal/wire/session"
	"aiperf/internal/workload/dataset"
)

// members turns the user's extra inputs into JSON text, in order.
func members(extra artifact.Object) ([]dataset.Field, error) {
	var list []dataset.Field
	for _, m := range extra {
		text, err := artifact.AppendJSON(nil, m.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Key, err)
		}
		list = append(list, dataset.Field{Name: m.Key, Value: text})
	}
	return list, nil
}

// Endpoint returns what the endpoint of a run is made from, but for what needs the run: its warnings and its tokenizer.
func Endpoint(cfg *config.Run) (endpoint.Options, error) {
	c := &cfg.Endpoint
	extra, err := members(c.Extra)
	return endpoint.Options{
		ServerTokens: c.UseServerTokenCount, ChunkUsage: c.ChunkUsage, Form: c.Form,
		PollInterval: cfg.Env.HTTP.VideoPollInterval, DownloadVideo: c.DownloadVideo,
		Model: cfg.Models[0], Streaming: c.Streaming, UseLegacyMaxTokens: c.UseLegacyMaxTokens,
		GRPC: c.GRPC, ForceContentParts: cfg.Env.Endpoint.ForceContentParts, Extra: extra,
	}, err
}

// Client returns how the connections of a number of workers are used, but for what proves who is at their two ends.
func Client(cfg *config.Run, workers int) client.Options {
	h, o := &cfg.Env.HTTP, client.DefaultOptions()
	o.Reuse = client.Reuse(cfg.Endpoint.ConnectionReuse)
	o.Workers, o.ConnectionLimit, o.ConnectLimit = workers, h.ConnectionLimit, h.ConnectLimit
	o.Sources = cfg.Endpoint.SourceAddresses
	o.Timeout = seconds(cfg.Endpoint.TimeoutSeconds)
	o.CancelSendTimeout = h.CancellationSendTimeout
	o.ConnectTimeout = h.ConnectTimeout
	o.KeepAliveTimeout, o.ForceClose = h.KeepaliveTimeout, h.ForceClose
	o.IPVersion, o.UseDNSCache, o.DNSCacheTTL = h.IPVersion, h.UseDNSCache, h.DNSCacheTTL
	o.RcvBuf, o.SndBuf = h.ReceiveBuffer, h.SendBuffer
	o.TCPKeepIdle, o.TCPKeepIntvl, o.TCPKeepCnt = h.TCPKeepIdle, h.TCPKeepInterval, h.TCPKeepCount
	o.TCPUserTimeout, o.SSLVerify = h.TCPUserTimeout, h.SSLVerify
	if h.TrustEnv {
		o.Proxy = client.ProxyFromEnvironment
	}
	o.MaxBody = int64(h.MaxResponseBytes)
	o.TimestampSource = client.TimestampSource(cfg.TimestampSource)
	o.HTTP2, o.UnixSocket = cfg.Endpoint.HTTP2, cfg.Endpoint.UnixSocket
	return o
}

// Headers returns the headers of all requests of a run, which this version of the program makes.
func Headers(cfg *config.Run, d *endpoint.Descriptor, version string) session.Headers {
	c, h := &cfg.Endpoint, &cfg.Env.HTTP
	s := session.Headers{
		Version: version, APIKey: c.APIKey, KeyName: d.KeyHeader, Usual: d.Headers, Accept: d.Accept,
		SessionName:     c.SessionHeader,
		SessionAffinity: h.XSessionAffinity, SessionID: h.XSessionID, SMGRoutingKey: h.XSMGRoutingKey,
		DynamoSessionID: h.XDynamoSessionID,
	}
	if m := c.SageMaker; m != nil {
		s.RequestIDNames = []string{"X-Amzn-SageMaker-Inference-Id"}
		for _, h := range []record.Header{
			{Name: "X-Amzn-SageMaker-Target-Model", Value: m.TargetModel},
			{Name: "X-Amzn-SageMaker-Inference-Component", Value: m.InferenceComponent},
			{Name: "X-Amzn-SageMaker-Target-Variant", Value: m.TargetVariant},
		} {
			if h.Value != "" {
				s.Fixed = append(s.Fixed, h)
			}
		}
	}
	for _, header := range c.Headers {
		s.Custom = append(s.Custom, record.Header{Name: header.Name, Value: header.Value})
	}
	return s
}

// URLHeaders returns the headers of the requests to each URL; nil: none has any.
func URLHeaders(cfg *config.Run) [][]dataset.Header {
	var all [][]dataset.Header
	for _, list := range cfg.Endpoint.URLHeaders {
		var own []dataset.Header
		for _, h := range list {
			own = append(own, dataset.Header(h))
		}
		all = append(all, own)
	}
	return all
}

// Session returns what sessions keep of requests and which headers these have, but for what they say.
func Session(cfg *config.Run, d *endpoint.Descriptor, version string) session.Options {
	a := &cfg.Artifacts
	return session.Options{
		Headers: Headers(cfg, d, version), URLHeaders: URLHeaders(cfg), KeepTrace: a.HTTPTrace,
		KeepRaw: a.ExportLevel == "raw",
		Keep:    session.Keep{Cookies: cfg.Endpoint.SessionCookies, Echo: cfg.Endpoint.EchoHeaders},
	}
}

// Intake returns how records are made of exchanges, but for what needs the run: its tokenizers, clock and redactor.
func Intake(cfg *config.Run, d *endpoint.Descriptor) intake.Options {
	return intake.Options{
		ServerTokens: cfg.Endpoint.UseServerTokenCount, ChunkUsage: cfg.Endpoint.ChunkUsage,
		CountsOutput: d.ProducesTokens, CountsInput: d.TokenizesInput,
		MakesImages: d.ProducesImages && !d.SupportsImage, KeepText: cfg.Artifacts.Outputs,
	}
}

// Processors returns the number of goroutines that make records, of a program that has some cores.
func Processors(cfg *config.Run, cores int) int {
	if n := cfg.Workers.RecordProcessors; n != nil {
		return *n
	}
	return max(1, cores/2)
}

// maxPage bounds one metrics page in memory: some hundred times a large one.
const maxPage = 32 << 20

// Fetch returns how metrics pages are asked for, but for what needs the run: its clock, its redactor and who it is.
func Fetch(cfg *config.Run, version string) prom.FetchOptions {
	h, env := &cfg.Env.HTTP, &cfg.Env.ServerMetrics
	o := prom.FetchOptions{
		ReachabilityTimeout: env.ReachabilityTimeout, ReadTimeout: env.ScrapeReadTimeout,
		MaxBody: maxPage, SSLVerify: h.SSLVerify, IPVersion: h.IPVersion, UserAgent: "aiperf/" + version,
	}
	if h.TrustEnv {
		o.Proxy = client.ProxyFromEnvironment
	}
	return o
}
