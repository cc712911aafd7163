package plugin

import (
	"encoding/json"
	"strings"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
)

// Type is the name of the endpoint type that a plugin is.
const Type = "plugin"

// errorType is the type under which the failures of a plugin are counted.
const errorType = "PluginError"

// api is the program as an endpoint.
type api struct {
	host       *Host
	descriptor endpoint.Descriptor
	options    endpoint.Options
}

// New makes an endpoint of a program.
func New(h *Host, o endpoint.Options) endpoint.Endpoint {
	m := h.manifest
	yes := func(b *bool) bool { return b == nil || *b }
	return &api{host: h, options: o, descriptor: endpoint.Descriptor{
		Name: Type, Path: m.Path, Streams: yes(m.Streams), ProducesTokens: yes(m.ProducesTokens),
		TokenizesInput: yes(m.TokenizesInput),
		TakesText:      true, SupportsImage: true, SupportsAudio: true, SupportsVideo: true,
		MetricsTitle: "LLM Metrics", ServiceKind: "openai",
	}}
}

func (a *api) Descriptor() endpoint.Descriptor { return a.descriptor }

// media is one object of a modality of a turn.
type media struct {
	Name     string   `json:"name,omitempty"`
	Contents []string `json:"contents"`
	IDs      []string `json:"uuids,omitempty"`
}

// turnParams is a turn as the program sees it.
type turnParams struct {
	Role        string            `json:"role"`
	Texts       []media           `json:"texts,omitempty"`
	Images      []media           `json:"images,omitempty"`
	Audios      []media           `json:"audios,omitempty"`
	Videos      []media           `json:"videos,omitempty"`
	RawMessages []json.RawMessage `json:"raw_messages,omitempty"`
	RawTools    []json.RawMessage `json:"raw_tools,omitempty"`
	// Message is a captured reply, as {"role":"assistant","content":…}.
	Message json.RawMessage `json:"message,omitempty"`
}

// encodeParams is what a request is made from.
type encodeParams struct {
	Model         string                     `json:"model"`
	Streaming     bool                       `json:"streaming"`
	MaxTokens     *int                       `json:"max_tokens,omitempty"`
	SystemMessage *string                    `json:"system_message,omitempty"`
	UserContext   *string                    `json:"user_context,omitempty"`
	Turns         []turnParams               `json:"turns"`
	ExtraBody     map[string]json.RawMessage `json:"extra_body,omitempty"`
}

// encodeResult is the request that the program made.
type encodeResult struct {
	// Body is the body as JSON; BodyText is one of any other kind.
	Body        json.RawMessage `json:"body"`
	BodyText    *string         `json:"body_text"`
	ContentType string          `json:"content_type"`
	// Text is what is counted as input; absent: what the body shows.
	Text *string `json:"text"`
	// Stream reports what the body asks for; absent: what the run does.
	Stream *bool `json:"stream"`
}

// Encode implements endpoint.Endpoint.
func (a *api) Encode(c *endpoint.Context) (*endpoint.Body, error) {
	p := encodeParams{Model: a.options.Model, Streaming: a.options.Streaming, SystemMessage: c.SystemMessage,
		UserContext: c.UserContext}
	for _, t := range c.Turns {
		if t.Turn == nil {
			p.Turns = append(p.Turns, turnParams{Role: "assistant", Message: t.Assistant})
			continue
		}
		role := t.Role
		if role == "" {
			role = "user"
		}
		turn := turnParams{Role: role, RawMessages: t.RawMessages, RawTools: t.RawTools}
		for _, m := range t.Texts {
			turn.Texts = append(turn.Texts, media(m))
		}
		for _, m := range t.Images {
			turn.Images = append(turn.Images, media(m))
		}
		for _, m := range t.Audios {
			turn.Audios = append(turn.Audios, media(m))
		}
		for _, m := range t.Videos {
			turn.Videos = append(turn.Videos, media(m))
		}
		p.Turns = append(p.Turns, turn)
		p.MaxTokens = t.MaxTokens
		if t.Model != "" {
			p.Model = t.Model
		}
		p.ExtraBody = nil
		for _, f := range t.Extra {
			if p.ExtraBody == nil {
				p.ExtraBody = map[string]json.RawMessage{}
			}
			p.ExtraBody[f.Name] = f.Value
		}
	}
	var r encodeResult
	if err := a.host.call("encode", &p, &r); err != nil {
		return nil, encodeError(err.Error())
	}
	body := []byte(r.Body)
	switch {
	case r.BodyText != nil && r.Body != nil:
		return nil, encodeError("the plugin's encode gave both body and body_text")
	case r.BodyText != nil:
		body = []byte(*r.BodyText)
	case len(body) == 0 || string(body) == "null":
		return nil, encodeError("the plugin's encode gave no body")
	}
	if r.ContentType == "" {
		r.ContentType = "application/json"
	}
	if strings.ContainsAny(r.ContentType, "\r\n") {
		return nil, encodeError("the plugin's content_type is none")
	}
	stream := a.options.Streaming
	if r.Stream != nil {
		stream = *r.Stream
	}
	return endpoint.Made(body, r.ContentType, stream, r.Text), nil
}

func encodeError(message string) error {
	return &endpoint.EncodeError{Type: errorType, Message: message}
}

// NewDecoder implements endpoint.Endpoint.
func (a *api) NewDecoder() endpoint.Decoder { return &decoder{host: a.host} }

// event is a response as it came.
type event struct {
	// AtNS is its instant on the run's clock.
	AtNS int64  `json:"at_ns"`
	Name string `json:"name,omitempty"`
	Data string `json:"data"`
}

// decodeParams are the responses of an exchange.
type decodeParams struct {
	ContentType string  `json:"content_type,omitempty"`
	Binary      bool    `json:"binary,omitempty"`
	Body        *string `json:"body,omitempty"`
	Events      []event `json:"events,omitempty"`
}

// DecodeResult is what the program found in the responses of an exchange, as the result of decode has it.
type DecodeResult struct {
	Responses []struct {
		// Event is the number of the event, from 0; a body is number 0.
		Event     int    `json:"event"`
		Text      string `json:"text"`
		Reasoning string `json:"reasoning"`
		// Content marks a response that counts although it has no text, such as an embedding.
		Content bool `json:"content"`
	} `json:"responses"`
	Usage    json.RawMessage `json:"usage"`
	Finished *bool           `json:"finished"`
	Error    *struct {
		Code    *int   `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// decoder keeps the responses of an exchange until the first question for its reply.
type decoder struct {
	host    *Host
	params  decodeParams
	stamps  []int64
	first   func()
	decoded bool
	reply   endpoint.Reply
}

// Event implements endpoint.Decoder. Only the program knows what is content, later; until then the
// first data that is not empty counts as content.
func (d *decoder) Event(name, data []byte, atNS int64) {
	d.params.Events = append(d.params.Events, event{AtNS: atNS, Name: string(name), Data: string(data)})
	d.stamps = append(d.stamps, atNS)
	if text := strings.TrimSpace(string(data)); text != "" && text != "[DONE]" {
		d.firstContent()
	}
}

// Body implements endpoint.Decoder.
func (d *decoder) Body(contentType string, binary bool, body []byte, atNS int64) {
	text := string(body)
	if binary {
		text = "" // binary data is not passed to the program
	}
	d.params.ContentType, d.params.Binary, d.params.Body = contentType, binary, &text
	d.stamps = append(d.stamps, atNS)
	if strings.TrimSpace(text) != "" {
		d.firstContent()
	}
}

func (d *decoder) firstContent() {
	if d.first != nil {
		first := d.first
		d.first = nil
		first()
	}
}

// OnFirstContent implements endpoint.Decoder.
func (d *decoder) OnFirstContent(f func()) { d.first = f }

// Release implements endpoint.Decoder.
func (d *decoder) Release() { *d = decoder{decoded: true} }

// Reply implements endpoint.Decoder: the first call, after the exchange, has the program decode it.
func (d *decoder) Reply() *endpoint.Reply {
	if d.decoded {
		return &d.reply
	}
	d.decoded = true
	if len(d.stamps) == 0 {
		return &d.reply
	}
	var r DecodeResult
	if err := d.host.call("decode", &d.params, &r); err != nil {
		d.reply.Err = &record.Error{Type: errorType, Message: err.Error()}
		return &d.reply
	}
	d.reply = r.Reply(d.stamps)
	return &d.reply
}

// Reply returns the reply of an exchange whose responses came at instants, in ns. A result that names a response that
// there is not, or one out of order, makes a reply with an error, and with what came before it.
func (r *DecodeResult) Reply(stamps []int64) (reply endpoint.Reply) {
	last := -1
	for _, one := range r.Responses {
		if one.Event < max(last, 0) || one.Event >= len(stamps) {
			reply.Err = &record.Error{Type: errorType,
				Message: "the plugin's decode names an event that there is not, or out of order"}
			return reply
		}
		last = one.Event
		if one.Text == "" && one.Reasoning == "" && !one.Content {
			continue
		}
		at := stamps[one.Event]
		reply.ContentNS = append(reply.ContentNS, at)
		if reply.FirstOutputNS == 0 && (one.Text != "" || one.Content) {
			reply.FirstOutputNS = at
		}
		reply.Output = append(reply.Output, one.Text...)
		reply.Reasoning = append(reply.Reasoning, one.Reasoning...)
	}
	if len(r.Usage) > 2 && r.Usage[0] == '{' {
		reply.Usage.Fold(r.Usage)
	}
	reply.Finished = r.Finished == nil || *r.Finished
	if e := r.Error; e != nil {
		reply.Err = &record.Error{Type: e.Type, Message: e.Message}
		if e.Code != nil {
			reply.Err.Code, reply.Err.HasCode = *e.Code, true
		}
	}
	return reply
}
