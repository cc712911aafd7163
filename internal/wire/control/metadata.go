package control

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"aiperf/internal/wire/client"
	"aiperf/internal/wire/oip"
)

// ModelInputs asks a server of the open inference protocol for the inputs of a model: its metadata, and its configuration
// for those that may be left out. Inference is the address of the run's requests. It returns nil if the server does not
// say; its reply is then only logged.
func (o Options) ModelInputs(ctx context.Context, inference, model string, grpc bool) *oip.Model {
	if grpc {
		return o.modelInputsByCall(ctx, inference, model)
	}
	address, ok := modelAddress(inference)
	if !ok {
		return nil
	}
	got := o.get(ctx, address)
	m := oip.ModelFromJSON([]byte(got.body))
	if !got.ok() || m == nil {
		o.noMetadata(address, &got)
		return nil
	}
	if got := o.get(ctx, below(address, "/config")); got.ok() {
		m.ConfigureFromJSON([]byte(got.body))
	}
	return m
}

func (o *Options) noMetadata(address string, got *reply) {
	o.log("%s has no metadata of the model's inputs (%s); its tensors are sent as lists", shown(address), got)
}

func (o Options) get(ctx context.Context, address string) reply {
	return o.send(ctx, &client.Request{Method: http.MethodGet, URL: address,
		Headers: o.Headers(address, false, "")}, listLimit)
}

// modelAddress is the address of a model's metadata; false if that of its inference is not one of the protocol.
func modelAddress(inference string) (string, bool) {
	u, err := url.Parse(inference)
	if err != nil {
		return "", false
	}
	path, ok := strings.CutSuffix(u.EscapedPath(), "/infer")
	if !ok || !strings.Contains(path, "/v2/models/") {
		return "", false
	}
	return withPath(u, path), true
}

// below is an address with more behind its path.
func below(address, more string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return withPath(u, u.EscapedPath()+more)
}

func withPath(u *url.URL, escaped string) string {
	u.RawPath = escaped
	u.Path, _ = url.PathUnescape(escaped)
	return u.String()
}

func (o Options) modelInputsByCall(ctx context.Context, inference, model string) *oip.Model {
	origin, err := Origin(inference)
	if err != nil {
		return nil
	}
	question := oip.AppendModelName(nil, model)
	call := func(name string) reply {
		return o.send(ctx, &client.Request{URL: origin + name, Headers: o.Headers(origin+name, false, ""),
			Body: question}, listLimit)
	}
	got := call(oip.ModelMetadata)
	m, err := oip.ParseModelMetadata([]byte(got.body))
	if !got.ok() || err != nil || m == nil {
		o.noMetadata(origin+oip.ModelMetadata, &got)
		return nil
	}
	if got := call(oip.ModelConfig); got.ok() {
		if err := m.ParseModelConfig([]byte(got.body)); err != nil {
			o.log("%s: %v", shown(origin+oip.ModelConfig), err)
		}
	}
	return m
}
