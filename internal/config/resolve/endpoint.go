package resolve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/header"
	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/settings"
	"aiperf/internal/wire/api"
)

// endpoint decides what is asked of the server and how it is reached.
type endpoint struct {
	*asked
	plugins      *plugins
	models       []string
	endpointType string
	facts        api.Descriptor
	streaming    bool
	grpc         bool // the first URL is one of gRPC
	// apiKey is the key that is sent, wherever it comes from.
	apiKey string
}

// PluginType is the endpoint type of a run whose endpoint is a program.
const PluginType = "plugin"

// formType is the content type of multipart bodies.
const formType = "multipart/form-data"

// decide looks the endpoint type up and switches streaming off where it cannot be.
func (ep *endpoint) decide() {
	ep.models = ep.p.ModelNames.Get()
	ep.endpointType, ep.streaming = ep.asRecorded()
	facts, _ := api.Lookup(ep.endpointType)
	if ep.p.EndpointPlugin.Origin().Source == option.FromFile {
		ep.fault("", "%s: a file cannot make aiperf run a program; give --endpoint-plugin on the command line as well",
			ep.p.EndpointPlugin.Flag())
	}
	if ep.p.EndpointPlugin.Given() || ep.plugins.endpoint != nil {
		// What the program can do it says when it is started.
		ep.endpointType = PluginType
		facts = api.Descriptor{Streams: true, ProducesTokens: true, TokenizesInput: true, TakesText: true,
			SupportsImage: true, SupportsAudio: true, SupportsVideo: true, SystemMessage: true}
	}
	ep.facts = facts
	urls := ep.p.URL.Get()
	ep.grpc = len(urls) > 0 && parse.IsGRPC(urls[0])
	switch {
	case !ep.streaming || ep.canStream():
	case facts.GRPCStreams:
		ep.streaming = false
		ep.warn("Streaming is not supported for --endpoint-type %s over HTTP, setting streaming to False; it streams "+
			"over grpc://", ep.endpointType)
	default:
		ep.streaming = false
		ep.warn("Streaming is not supported for --endpoint-type %s, setting streaming to False", ep.endpointType)
	}
}

// canStream reports whether the endpoint type streams over the transport.
func (ep *endpoint) canStream() bool {
	if ep.grpc {
		return ep.facts.GRPCStreams
	}
	return ep.facts.Streams
}

func (ep *endpoint) whyNoStreaming() string {
	if ep.p.Streaming.Get() {
		return fmt.Sprintf(", which --endpoint-type %s does not support", ep.endpointType)
	}
	return ""
}

// isRankings reports whether the endpoint type ranks passages.
func (ep *endpoint) isRankings() bool { return ep.facts.Ranks }

// serverCounts reports whether token counts are those of the server; per-chunk usage implies it.
func (ep *endpoint) serverCounts() bool {
	return ep.p.UseServerTokenCount.Get() || ep.p.PerChunkUsage.Get()
}

func (ep *endpoint) build(ignoreEOS bool) config.Endpoint {
	p := ep.p
	e := config.Endpoint{
		Type:                ep.endpointType,
		Plugin:              p.EndpointPlugin.Get(),
		URLStrategy:         p.URLStrategy.Get(),
		Streaming:           ep.streaming,
		TimeoutSeconds:      p.RequestTimeoutSeconds.Get(),
		APIKey:              ep.apiKey,
		Extra:               p.ExtraInputs.Get(),
		UseLegacyMaxTokens:  p.UseLegacyMaxTokens.Get(),
		UseServerTokenCount: ep.serverCounts(),
		ChunkUsage:          p.PerChunkUsage.Get(),
		ConnectionReuse:     p.ConnectionReuseStrategy.Get(),
		SessionHeader:       p.SessionHeader.Get(),
		Form:                p.RequestContentType.Get() == formType,
		DownloadVideo:       p.DownloadVideoContent.Get(),
		SessionCookies:      p.SessionCookies.Get(),
		EchoHeaders:         p.EchoHeader.Get(),
	}
	if program := ep.plugins.endpoint; program != nil && e.Plugin == "" {
		e.Plugin, e.Program = program.Command, program
	}
	e.SourceAddresses, _ = parse.SourceAddresses(p.SourceAddress.Get()) // checked before
	for _, text := range p.URL.Get() {
		e.URLs = append(e.URLs, parse.WithScheme(text))
	}
	if p.CustomEndpoint.Given() {
		path := p.CustomEndpoint.Get()
		e.CustomPath = &path
	}
	if ignoreEOS {
		e.Extra = append(slices.Clone(e.Extra), artifact.Member{Key: "ignore_eos", Value: true})
	}
	for _, h := range p.Header.Get() {
		e.Headers = append(e.Headers, config.Header{Name: h.Key, Value: h.Value.(string)})
	}
	e.URLHeaders, _ = ep.urlHeaders() // checked before
	return e
}

// urlHeaders are the headers of each URL; nil: none has any. The error says of which item the URL is none of the run's.
func (ep *endpoint) urlHeaders() ([][]config.Header, error) {
	urls, texts := ep.p.URL.Get(), ep.p.URLHeader.Get()
	if len(texts) == 0 {
		return nil, nil
	}
	plain := func(url string) string { return strings.TrimRight(parse.WithScheme(url), "/") }
	all := make([][]config.Header, len(urls))
	for i, text := range texts {
		h, err := option.ParseURLHeader(text)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		number, notNumber := strconv.Atoi(h.At)
		found := false
		for at, url := range urls {
			if notNumber == nil && number != at || notNumber != nil && plain(url) != plain(h.At) {
				continue
			}
			found = true
			same := func(o config.Header) bool { return strings.EqualFold(o.Name, h.Name) }
			all[at] = slices.DeleteFunc(all[at], same)
			all[at] = append(all[at], config.Header{Name: h.Name, Value: h.Value})
		}
		switch {
		case found:
		case notNumber == nil:
			return nil, fmt.Errorf("item %d: there is no URL number %d: the first of the %d is number 0", i+1, number,
				len(urls))
		default:
			return nil, fmt.Errorf("item %d: %s is none of the URLs of the run", i+1,
				fault.Shorten(artifact.RedactAddress(h.At)))
		}
	}
	return all, nil
}

// checkKept refuses what cannot be given for single URLs, and what is no header to be echoed.
func (ep *endpoint) checkKept() {
	if _, err := ep.urlHeaders(); err != nil {
		ep.fault("", "%s: %v", ep.p.URLHeader.Flag(), err)
	}
	for _, name := range ep.p.EchoHeader.Get() {
		switch err := header.CheckName(name); {
		case err != nil:
			ep.fault("", "%s %s: %v", ep.p.EchoHeader.Flag(), fault.Shorten(name), err)
		case strings.EqualFold(name, "Set-Cookie") || strings.EqualFold(name, "Cookie"):
			ep.fault("", "%s %s: cookies are sent back under another name, and not everywhere; use --session-cookies",
				ep.p.EchoHeader.Flag(), name)
		}
	}
}

func (ep *endpoint) checkModels() {
	if len(ep.models) == 0 {
		ep.fault("V1",
			"--model-names is required: give the name of the model to benchmark, for example --model my-model")
		ep.models = []string{"unnamed"} // so that the other checks can go on
	}
}

// checkWeights refuses a choice by weight where there are no weights.
func (ep *endpoint) checkWeights() {
	if ep.p.ModelSelectionStrategy.Get() == "weighted" && !ep.p.ModelWeights.IsSet() {
		ep.fault("", "%s weighted needs a weight for each model, which no flag gives (in YAML it is "+
			"models.items[].weight): with round_robin or random "+
			"a model that --model names several times, as in a,a,b, has so many shares",
			ep.p.ModelSelectionStrategy.Flag())
	}
}

// weights are the shares of the models; nil where they are not chosen by weight.
func (ep *endpoint) weights() []float64 {
	if ep.p.ModelSelectionStrategy.Get() != "weighted" {
		return nil
	}
	return ep.p.ModelWeights.Get()
}

// checkHeaders refuses what no header can hold; values may be secrets and are not repeated.
func (ep *endpoint) checkHeaders() {
	if strings.ContainsAny(ep.p.APIKey.Get(), "\r\n\x00") {
		ep.fault("", "%s contains a line break, which a header cannot contain; check how the key was read",
			ep.p.APIKey.Flag())
	}
	if name := ep.p.SessionHeader.Get(); name != "" && !header.IsToken(name) {
		ep.fault("", "%s %s: the name of a header is letters, digits and dashes", ep.p.SessionHeader.Flag(),
			fault.Shorten(name))
	}
	if strings.Contains(ep.p.CustomEndpoint.Get(), "://") {
		ep.fault("", "%s %s: this must be a path; the address is given by --url",
			ep.p.CustomEndpoint.Flag(), fault.Shorten(artifact.RedactAddress(ep.p.CustomEndpoint.Get())))
	}
}

func (ep *endpoint) checkContentType() {
	switch asked := ep.p.RequestContentType.Get(); {
	case asked == formType && !ep.facts.FormData:
		ep.fault("V33", "%s multipart/form-data is only supported for endpoint types that support form-data encoding "+
			"(e.g., video_generation), but --endpoint-type %s does not support it.",
			ep.p.RequestContentType.Flag(), ep.endpointType)
	case asked != formType && ep.p.RequestContentType.Given() && ep.facts.FormDataOnly:
		ep.fault("", "%s %s: the requests of --endpoint-type %s are forms; omit the option",
			ep.p.RequestContentType.Flag(), asked, ep.endpointType)
	}
	if active(&ep.p.DownloadVideoContent) && ep.endpointType != "video_generation" {
		ep.warn("%s has no effect: --endpoint-type %s generates no videos", ep.p.DownloadVideoContent.Flag(),
			ep.endpointType)
	}
	ep.checkTokenIDs()
	if active(&ep.p.PerChunkUsage) && ep.endpointType != "chat" {
		ep.fault("", "%s is only supported for --endpoint-type chat", ep.p.PerChunkUsage.Flag())
	}
	ep.checkStrip()
}

// checkStrip: only the chat API knows ids of images, and only single_turn rows have them ready to strip.
func (ep *endpoint) checkStrip() {
	if !active(&ep.p.UUIDAndStrip) {
		return
	}
	flag := ep.p.UUIDAndStrip.Flag()
	if ep.endpointType != "chat" {
		ep.fault("", "%s is only supported for --endpoint-type chat", flag)
	}
	switch format := ep.p.CustomDatasetType.Get(); {
	case !ep.p.InputFile.Given():
		ep.fault("", "%s needs images with uuids: give single_turn data with --input-file", flag)
	case format != "" && format != "single_turn":
		ep.fault("", "%s can only be used with --custom-dataset-type single_turn, not with %s", flag, format)
	}
}

// checkTokenIDs checks what types that send token ids require.
func (ep *endpoint) checkTokenIDs() {
	if ep.facts.StreamsOnly && !ep.streaming {
		ep.fault("", "--endpoint-type %s only streams: add --streaming", ep.endpointType)
	}
	if !ep.facts.TokenIDs {
		return
	}
	if flags := givenOf(&ep.p.SharedSystemPromptLength, &ep.p.UserContextPromptLength); len(flags) > 0 {
		ep.fault("", "%s cannot be used with --endpoint-type %s, which sends token ids instead of messages",
			strings.Join(flags, ", "), ep.endpointType)
	}
}

// warnStream reports that an extra input and --streaming say different things: the server follows the
// former, the metrics the latter.
func (ep *endpoint) warnStream() {
	value, given := ep.p.ExtraInputs.Get().Get("stream")
	asked, isBool := value.(bool)
	switch {
	case !given || !isBool || asked == ep.streaming || ep.facts.ProducesAudio: // sound is timed as it comes, in any case
	case asked:
		ep.warn("%s stream:true asks for streams whose metrics are not computed: use --streaming instead",
			ep.p.ExtraInputs.Flag())
	default:
		ep.warn("%s stream:false asks for whole replies: with --streaming the time to first token is that of the "+
			"whole reply, and there is none between tokens", ep.p.ExtraInputs.Flag())
	}
}

func truthy(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	}
	return true
}

// allLocal reports whether every server runs on this machine, as far as its name says.
func (ep *endpoint) allLocal() bool { return len(ep.remoteURLs()) == 0 }

// remoteURLs are those of servers elsewhere, redacted.
func (ep *endpoint) remoteURLs() []string {
	var list []string
	for _, text := range ep.p.URL.Get() {
		if !parse.IsLoopback(parse.WithScheme(text)) {
			list = append(list, artifact.RedactURLs(text))
		}
	}
	return list
}

func (ep *endpoint) signs() bool { return ep.p.AuthType.Given() || ep.p.SageMakerEndpointName.Given() }

// LacksModel reports whether no model is named, and the servers are such that they may list theirs: what speaks gRPC, a
// program, what AWS signs for and what is still to be started do not.
func LacksModel(p *settings.Settings) bool {
	for _, o := range []option.Field{&p.ModelNames, &p.EndpointPlugin, &p.AuthType, &p.SageMakerEndpointName,
		&p.ServeCmd} {
		if o.IsSet() {
			return false
		}
	}
	urls := p.URL.Get()
	return len(urls) > 0 && !parse.IsGRPC(urls[0])
}
