package hint_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/config/option"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
)

func status(code int, message string) *record.Error {
	return &record.Error{Code: code, HasCode: true, Type: "x", Message: message}
}

func TestEachKindOfFailureHasItsAdvice(t *testing.T) {
	for _, c := range []struct {
		err  *record.Error
		name string
		try  string
	}{
		{status(401, `{"error":"invalid key"}`), "credentials", "--api-key"},
		{status(401, `{"error":"Unauthorized"}`), "bearer", "Authorization: Bearer"},
		{status(403, ""), "credentials", "--header"},
		{status(404, `{"error":"Request for unknown model: 'm' is not found"}`), "unknown model of Triton",
			"/v2/repository/index"},
		{&record.Error{Code: 502, HasCode: true, Type: "StreamResponseError", Message: "x"}, "event", "its own log"},
		{status(404, "The model `m` does not exist."), hint.UnknownModel, "--model"},
		{status(404, `{"error":{"message":"model \"m\" not found, try pulling it first"}}`), hint.UnknownModel,
			"--model"},
		{status(404, `{"detail":"Not Found"}`), "path", "--custom-endpoint"},
		{status(404, "<!DOCTYPE html><html>…"), "web page", "--url"},
		{status(405, "Method Not Allowed"), "method", "--endpoint-type"},
		{status(413, ""), "too large", "--isl"},
		{status(415, ""), "content type", "--request-content-type"},
		{status(422, "extra fields not permitted"), "content", "--extra-inputs"},
		{status(400, "temperature must be positive"), "content", "--export-level raw"},
		{status(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"),
			"context too long", "--osl"},
		{status(400, "the request exceeds the available context size"), "context too long", "--isl"},
		{status(400, "Client sent an HTTP request to an HTTPS server."), "TLS port", "https://"},
		{status(429, "slow down"), "rate limit", "--request-rate"},
		{status(500, "CUDA out of memory"), "server failed", "its own log"},
		{status(503, "loading"), "gateway", "--wait-for-model-timeout"},
		{status(502, "<html>bad gateway</html>"), "gateway", "--concurrency"},
		{&record.Error{Code: 502, HasCode: true, Type: "SSEResponseError", Message: "x"}, "event", "its own log"},
		{&record.Error{Type: "ClientConnectorError", Message: "Cannot connect to host h:1 [connection refused]"},
			"refused", "--url"},
		{&record.Error{Type: "ClientConnectorError", Message: "Cannot connect to host h:1 [no route to host]"},
			"no connection", "firewall"},
		{&record.Error{Type: "ClientConnectorDNSError", Message: "Cannot connect to host h:1 [no such host]"}, "name",
			"spelling"},
		{&record.Error{Type: "ClientConnectorCertificateError"}, "certificate", "--tls-ca-file"},
		{&record.Error{Type: "ClientConnectorSSLError",
			Message: "tls: first record does not look like a TLS handshake"}, "plain port", "http://"},
		{&record.Error{Type: "ClientConnectorSSLError", Message: "handshake failure"}, "TLS", "http://"},
		{&record.Error{Type: "ConnectionTimeoutError", Message: "x"}, "no connection", "--url"},
		{&record.Error{Type: "TLSHandshakeTimeoutError", Message: "x"}, "no TLS", "http://"},
		{&record.Error{Type: "TimeoutError", Message: "TimeoutError()"}, "time-out", "--request-timeout-seconds"},
		{&record.Error{Type: "ServerDisconnectedError"}, "closed", "--connection-reuse-strategy never"},
		{&record.Error{Type: "InvalidInferenceResultError", Details: "the server sent: <!doctype html><p>hi"},
			"web page", "--custom-endpoint"},
	} {
		h, ok := hint.For(c.err)
		if !ok || h.Name != c.name || !strings.Contains(h.Try, c.try) {
			t.Errorf("%+v: %q, %q; want %q with %q", c.err, h.Name, h.Try, c.name, c.try)
		}
	}
	for _, e := range []*record.Error{status(499, "cancelled"), {Type: "ValueError", Message: "x"}, {}} {
		if h, ok := hint.For(e); ok {
			t.Errorf("%+v: %v", e, h)
		}
	}
}

func TestAdviceOnSeveralErrorsComesOnceInTheOrderOfTheTable(t *testing.T) {
	var names []string
	for _, h := range hint.ForAll([]*record.Error{status(503, "a"), status(429, ""), status(503, "b"),
		status(499, "")}) {
		names = append(names, h.Name)
	}
	if want := []string{"rate limit", "gateway"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

var flag = regexp.MustCompile(`--[a-z-]+`)

func TestAdviceNamesFlagsThatThereAre(t *testing.T) {
	var known []string
	for _, o := range option.All() {
		known = append(known, o.Spellings()...)
	}
	for _, r := range hint.Table() {
		if r.Name == "" || r.Cause == "" || r.Try == "" || strings.HasSuffix(r.Cause+r.Try, ".") {
			t.Errorf("the row %q is not whole", r.Name)
		}
		for _, name := range flag.FindAllString(r.Try, -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s: there is no flag %s", r.Name, name)
			}
		}
		for _, says := range r.Says {
			if says != strings.ToLower(says) {
				t.Errorf("%s: %q never fits", r.Name, says)
			}
		}
	}
}
