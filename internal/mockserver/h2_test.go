package mockserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/wire/oip"
)

// http2 makes a client that speaks HTTP/2 to the server and nothing else, in clear text unless it trusts someone.
func (s *testServer) http2(roots *x509.CertPool) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	protocols.SetHTTP2(true)
	transport := &http.Transport{Protocols: protocols,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return s.dial() }}
	if roots != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: "localhost"}
	}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// grpcAnswer is what a call brought; err is how reading it ended, nil for a proper end.
type grpcAnswer struct {
	status, why string
	messages    [][]byte
	proto       string
	err         error
}

// call makes a call with one message; headers come as pairs.
func call(t *testing.T, c *http.Client, ctx context.Context, base, path string, message []byte,
	headers ...string) grpcAnswer {
	t.Helper()
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	r, err := http.NewRequestWithContext(ctx, "POST", base+path, bytes.NewReader(frame))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("TE", "trailers")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		return grpcAnswer{err: err}
	}
	defer resp.Body.Close()
	a := grpcAnswer{proto: resp.Proto}
	for {
		var head [5]byte
		if _, err := io.ReadFull(resp.Body, head[:]); err != nil {
			if !errors.Is(err, io.EOF) {
				a.err = err
			}
			break
		}
		m := make([]byte, binary.BigEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(resp.Body, m); err != nil {
			a.err = err
			break
		}
		a.messages = append(a.messages, m)
	}
	a.status, a.why = resp.Trailer.Get("Grpc-Status")+resp.Header.Get("Grpc-Status"),
		resp.Trailer.Get("Grpc-Message")+resp.Header.Get("Grpc-Message")
	return a
}

func inference(model string, parameters ...oip.Parameter) []byte {
	m := &oip.Message{Model: []byte(model),
		Tensors: []oip.Tensor{oip.Text("text_input", "one two three four five six")}, Parameters: parameters}
	return m.AppendRequest(nil)
}

var fiveTokens = []oip.Parameter{{Name: "max_tokens", Value: []byte("5")}, {Name: "ignore_eos", Value: []byte("true")}}

func textOfReply(t *testing.T, m *oip.Message) string {
	t.Helper()
	if len(m.Tensors) != 1 {
		t.Fatalf("%+v", m)
	}
	var text strings.Builder
	if !m.Tensors[0].EachText(func(b []byte) { text.Write(b) }) {
		t.Error("broken texts")
	}
	return text.String()
}

func TestHTTP2AnswersWhatHTTP1Does(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rec.jsonl")
	s := serve(t, Options{Fast: true, RecordRequests: path})
	two := s.http2(nil)
	body := chat(text(5), true, `"max_tokens":4,"ignore_eos":true,"stream_options":{"include_usage":true}`)
	one := s.post(chatPath, body)
	resp, err := two.Post(s.url+chatPath, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.ProtoMajor != 2 || resp.StatusCode != 200 ||
		resp.Header.Get("Content-Type") != one.contentType {
		t.Fatalf("%v %s %v", err, resp.Proto, resp.Header)
	}
	if n := strings.Count(string(got), "data: "); n != len(one.events) {
		t.Errorf("%d events, want %d", n, len(one.events))
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{{"GET", "/health", 200}, {"GET", "/nothing", 404}, {"GET", "/metrics", 200}, {"GET", "/v2/health/ready", 200}} {
		r, _ := http.NewRequest(c.method, s.url+c.path, nil)
		resp, err := two.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d", c.path, resp.StatusCode)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	var summary recordSummary
	data, _ := os.ReadFile(path + ".summary.json")
	json.Unmarshal(data, &summary)
	if summary.Requests != 2 || summary.OutputTokens != 8 || summary.Outcomes["complete"] != 2 {
		t.Errorf("%s", data)
	}
}

func TestCallsAreCountedExactly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rec.jsonl")
	s := serve(t, Options{Fast: true, RecordRequests: path, RecordBodies: true})
	c := s.http2(nil)
	ctx := t.Context()
	var m oip.Message
	plain := call(t, c, ctx, s.url, oip.ModelInfer, inference("m", fiveTokens...), "X-Request-ID", "id-7",
		"Authorization", "Bearer s3cret")
	if plain.err != nil || plain.status != "0" || plain.proto != "HTTP/2.0" || len(plain.messages) != 1 ||
		m.ParseReply(plain.messages[0]) != nil || string(m.Model) != "m" || string(m.Tensors[0].Name) != "text_output" {
		t.Fatalf("%+v %+v", plain, m)
	}
	whole := textOfReply(t, &m)
	streamed := call(t, c, ctx, s.url, oip.ModelStreamInfer, inference("m", fiveTokens...))
	var text string
	for _, b := range streamed.messages {
		if fault, err := m.ParseStreamReply(b); err != nil || len(fault) > 0 {
			t.Fatal(err, string(fault))
		}
		text += textOfReply(t, &m)
	}
	if streamed.err != nil || streamed.status != "0" || len(streamed.messages) != 5 || text != whole {
		t.Errorf("%d messages %q, want %q: %+v", len(streamed.messages), text, whole, streamed)
	}
	embedded := call(t, c, ctx, s.url, oip.ModelInfer, inference("embedder"))
	if err := m.ParseReply(embedded.messages[0]); err != nil || m.Tensors[0].Elements() != 768 ||
		!slices.Equal(m.Tensors[0].Shape, []int64{1, 768}) {
		t.Errorf("%v: %v", err, m.Tensors[0].Shape)
	}
	ranking := &oip.Message{Tensors: []oip.Tensor{oip.Text("query", "q"), oip.Text("passages", "a", "b", "c")}}
	ranked := call(t, c, ctx, s.url, oip.ModelInfer, ranking.AppendRequest(nil))
	if err := m.ParseReply(ranked.messages[0]); err != nil || m.Tensors[0].Elements() != 3 ||
		len(m.Tensors[0].Raw) != 12 || string(m.Tensors[0].Name) != "scores" {
		t.Errorf("%v: %+v", err, m.Tensors[0])
	}
	pictures := call(t, c, ctx, s.url, oip.ModelInfer,
		inference("stable-diffusion", oip.Parameter{Name: "n", Value: []byte("2")}))
	if err := m.ParseReply(pictures.messages[0]); err != nil || m.Tensors[0].Elements() != 2 ||
		strings.Count(textOfReply(t, &m), "/9j/4AAQSkZJRg") != 2 {
		t.Errorf("%v: %+v", err, m.Tensors[0])
	}
	for _, bad := range []struct {
		path    string
		message []byte
		status  string
	}{
		{"/inference.GRPCInferenceService/ModelNothing", nil, "12"},
		{oip.ModelInfer, []byte{0xff}, "3"},
		{oip.ModelInfer, (&oip.Message{Model: []byte("m")}).AppendRequest(nil), "3"},
	} {
		if a := call(t, c, ctx, s.url, bad.path, bad.message); a.status != bad.status || a.why == "" || a.err != nil ||
			len(a.messages) != 0 {
			t.Errorf("%s: %+v", bad.path, a)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 6 || strings.Contains(string(data), "s3cret") {
		t.Fatalf("%d lines:\n%s", len(lines), data)
	}
	// A line is written after the reply, so that a later call's may come first.
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(arrivalOf(t, a), arrivalOf(t, b)) })
	for i, want := range []string{
		`"request_id":"id-7","endpoint":"oip_infer","model":"m","isl":6,"requested_osl":5`, `"endpoint":"oip_infer"`,
		`"endpoint":"oip_embeddings"`,
		`"endpoint":"oip_rankings"`, `"endpoint":"oip_images"`, `"outcome":"refused"`,
	} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d: %s\nlacks %s", i, lines[i], want)
		}
	}
	if !strings.Contains(lines[1], `"path":"`+oip.ModelStreamInfer+`"`) ||
		!strings.Contains(lines[1], `"stream":true`) || !strings.Contains(lines[1], `"output_tokens":5`) {
		t.Error(lines[1])
	}
	var summary recordSummary
	data, _ = os.ReadFile(path + ".summary.json")
	json.Unmarshal(data, &summary)
	if summary.Requests != 6 || summary.OutputTokens != 10 || summary.Outcomes["complete"] != 5 ||
		summary.Outcomes["refused"] != 1 {
		t.Errorf("%s", data)
	}
}

func TestReadinessOfCalls(t *testing.T) {
	late := serve(t, Options{InferReadyDelay: time.Hour})
	for _, c := range []struct {
		s       *testServer
		path    string
		message []byte
		headers []string
		status  string
		ready   bool
	}{
		{serve(t, Options{}), oip.ServerReady, nil, nil, "0", true},
		{serve(t, Options{}), oip.ModelReady, oip.AppendModelName(nil, "m"), nil, "0", true},
		{serve(t, Options{Models: []string{"org/a b"}}), oip.ModelReady, oip.AppendModelName(nil, "org/a b"), nil, "0",
			true},
		{serve(t, Options{Models: []string{"a"}}), oip.ModelReady, oip.AppendModelName(nil, "b"), nil, "5", false},
		{late, oip.ServerReady, nil, nil, "0", false},
		{late, oip.ModelInfer, inference("m"), nil, "14", false},
		{serve(t, Options{APIKey: "k"}), oip.ServerReady, nil, nil, "16", false},
		{serve(t, Options{APIKey: "k"}), oip.ServerReady, nil, []string{"Authorization", "Bearer k"}, "0", true},
	} {
		a := call(t, c.s.http2(nil), t.Context(), c.s.url, c.path, c.message, c.headers...)
		ready := false
		if len(a.messages) > 0 {
			ready, _ = oip.ParseReady(a.messages[0])
		}
		if a.status != c.status || ready != c.ready || a.err != nil {
			t.Errorf("%s: %+v, ready %v", c.path, a, ready)
		}
	}
}

// The inputs of a model are the same over HTTP and as calls, and the length in one of them counts.
func TestInputsOfAModel(t *testing.T) {
	s, named := serve(t, Options{Fast: true}), serve(t, Options{Models: []string{"a"}})
	asked := oip.ModelFromJSON([]byte(s.get("/v2/models/m").body))
	asked.ConfigureFromJSON([]byte(s.get("/v2/models/m/config").body))
	metadata := call(t, s.http2(nil), t.Context(), s.url, oip.ModelMetadata, oip.AppendModelName(nil, "m"))
	config := call(t, s.http2(nil), t.Context(), s.url, oip.ModelConfig, oip.AppendModelName(nil, "m"))
	called, err := oip.ParseModelMetadata(metadata.messages[0])
	if err != nil || called.ParseModelConfig(config.messages[0]) != nil || !reflect.DeepEqual(asked, called) ||
		!called.Configured || called.Input("text_input") == nil {
		t.Errorf("%v: %+v and %+v", err, asked, called)
	}
	for _, path := range []string{"/v2/models/b", "/v2/models/b/config"} {
		if got := named.get(path); got.status != 404 {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if got := s.get("/v2/models/m/stats"); got.status != 404 {
		t.Errorf("a question that it does not know: %+v", got)
	}
	reply := s.post("/v2/models/m/infer", `{"inputs":[{"name":"text_input","shape":[1,1],"datatype":"BYTES","data":["a"]},`+
		`{"name":"max_tokens","shape":[1,1],"datatype":"INT32","data":[7]}],"parameters":{"ignore_eos":true}}`)
	text, _ := value(t, reply.body, "outputs", 0, "data", 0).(string)
	if n := o200k.Count(text); n != 7 {
		t.Errorf("%d tokens of %q", n, reply.body)
	}
}

func TestFaultsOfCalls(t *testing.T) {
	s := serve(t, Options{TTFT: time.Millisecond, ITL: time.Millisecond})
	c := s.http2(nil)
	for _, test := range []struct {
		fault, path, status string
		messages            int
		breaks              bool
	}{
		{"status=503", oip.ModelInfer, "14", 0, false},
		{"status=429", oip.ModelStreamInfer, "8", 0, false},
		{"cut_after_events=2", oip.ModelStreamInfer, "", 2, true},
		{"cut_mid_event", oip.ModelInfer, "", 0, true},
		{"drop_after_bytes=1", oip.ModelInfer, "", 0, true},
		{"cut_after_events=3;reset", oip.ModelStreamInfer, "", 3, true},
		{"error_200;cut_after_events=1", oip.ModelStreamInfer, "", 2, true},
		{"error_200", oip.ModelInfer, "0", 1, false},
		{"malformed_json", oip.ModelInfer, "0", 1, false},
	} {
		a := call(t, c, t.Context(), s.url, test.path, inference("m", fiveTokens...), "X-Mock-Fault", test.fault)
		if a.status != test.status || (a.err != nil) != test.breaks || len(a.messages) > test.messages ||
			!strings.Contains(test.fault, "reset") && len(a.messages) != test.messages {
			t.Errorf("%s: %+v", test.fault, a)
		}
		var m oip.Message
		switch test.fault {
		case "error_200;cut_after_events=1":
			if fault, err := m.ParseStreamReply(a.messages[1]); err != nil ||
				!strings.Contains(string(fault), "injected fault") {
				t.Errorf("the error is %q, %v", fault, err)
			}
		case "malformed_json":
			if m.ParseReply(a.messages[0]) == nil {
				t.Error("the message can be read")
			}
		case "error_200":
			if err := m.ParseReply(a.messages[0]); err != nil || len(m.Tensors) != 0 {
				t.Errorf("%v %+v", err, m)
			}
		}
	}
}

func TestErrorRateOfCalls(t *testing.T) {
	s := serve(t, Options{Fast: true, ErrorRate: 50, Seed: 3})
	c := s.http2(nil)
	failed := 0
	for range 40 {
		switch a := call(t, c, t.Context(), s.url, oip.ModelInfer, inference("m", fiveTokens...)); {
		case a.status == "13" && a.why == "Simulated error":
			failed++
		case a.status != "0":
			t.Fatalf("%+v", a)
		}
	}
	other := serve(t, Options{Fast: true, ErrorRate: 50, Seed: 3})
	again := 0
	body := `{"inputs":[{"name":"text_input","shape":[1],"datatype":"BYTES","data":["x"]}]}`
	for range 40 {
		if a := other.post("/v2/models/m/infer", body); a.status == 500 {
			again++
		}
	}
	if failed < 5 || failed > 35 || failed != again {
		t.Errorf("%d of 40 failed, over HTTP %d", failed, again)
	}
}

func TestACallerWhoLeavesFreesThePlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rec.jsonl")
	s := serve(t, Options{TTFT: time.Minute, RecordRequests: path})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		s.underWay(t)
		cancel()
	}()
	if a := call(t, s.http2(nil), ctx, s.url, oip.ModelStreamInfer, inference("m", fiveTokens...)); a.err == nil {
		t.Fatalf("%+v", a)
	}
	deadline := time.Now().Add(time.Minute)
	for s.srv.inFlight.Load() != 0 {
		if time.Now().After(deadline) {
			t.Fatal("the request goes on")
		}
		time.Sleep(time.Millisecond)
	}
	s.stop()
	if data, _ := os.ReadFile(path); !strings.Contains(string(data), `"outcome":"client_gone"`) {
		t.Errorf("%s", data)
	}
}

// arrivalOf returns the time at which the request of a recorder's line arrived.
func arrivalOf(t *testing.T, line string) int64 {
	t.Helper()
	var request struct {
		ArrivalNS int64 `json:"arrival_ns"`
	}
	if err := json.Unmarshal([]byte(line), &request); err != nil || request.ArrivalNS == 0 {
		t.Fatalf("%v: %s", err, line)
	}
	return request.ArrivalNS
}

// underWay waits until an inference request has arrived. It counts arrivals: a request that is answered meanwhile counts
// too.
func (s *testServer) underWay(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); s.srv.sequence.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("no request reached the server")
			return
		}
	}
}

// A drain lets running calls finish.
func TestCallsOutliveTheStop(t *testing.T) {
	s := serve(t, Options{TTFT: time.Second, ITL: time.Millisecond})
	c := s.http2(nil)
	done := make(chan grpcAnswer, 1)
	go func() { done <- call(t, c, context.Background(), s.url, oip.ModelInfer, inference("m", fiveTokens...)) }()
	s.underWay(t)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a.status != "0" || len(a.messages) != 1 {
		t.Errorf("%+v", a)
	}
}

// Nobody waits for a client that keeps its connection open: the library gives it a second.
func TestIdleClientsDoNotHoldTheStopUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{Fast: true})
		c := s.http2(nil)
		for range 3 {
			if a := call(t, c, t.Context(), s.url, oip.ModelInfer, inference("m", fiveTokens...)); a.status != "0" {
				t.Fatalf("%+v", a)
			}
		}
		begun := time.Now()
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took >= 900*time.Millisecond {
			t.Errorf("the stop took %s", took)
		}
	})
}

func TestTrapAConnectionOfManyStreamsIsClosedWhenItIsIdle(t *testing.T) {
	s := serve(t, Options{TTFT: time.Second})
	var dials atomic.Int64
	dial := s.dial
	s.dial = func() (net.Conn, error) { dials.Add(1); return dial() }
	c := s.http2(nil)
	if a := call(t, c, t.Context(), s.url, oip.ServerReady, nil); a.status != "0" {
		t.Fatalf("%+v", a)
	}
	running := make(chan grpcAnswer, 1)
	go func() { running <- call(t, c, t.Context(), s.url, oip.ModelInfer, inference("m", fiveTokens...)) }()
	s.underWay(t)
	if a := call(t, c, t.Context(), s.url, oip.ModelInfer, inference("m", fiveTokens...), "X-Mock-Fault",
		"close_idle_ms=10"); a.status != "0" || a.err != nil {
		t.Errorf("the reply before the close: %+v", a)
	}
	if a := <-running; a.status != "0" || a.err != nil {
		t.Errorf("a call beside it: %+v", a)
	}
	deadline := time.Now().Add(time.Minute)
	for dials.Load() == 1 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
		call(t, c, t.Context(), s.url, oip.ServerReady, nil) // may meet the close
	}
	if n := dials.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

func TestTLSAndUnixSockets(t *testing.T) {
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	s := serve(t, Options{Fast: true, TLSMake: ca})
	roots := x509.NewCertPool()
	text, err := os.ReadFile(ca)
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	base := strings.Replace(s.url, "http://", "https://", 1)
	if a := call(t, s.http2(roots), t.Context(), base, oip.ModelInfer,
		inference("m", fiveTokens...)); a.status != "0" || a.proto != "HTTP/2.0" {
		t.Errorf("%+v", a)
	}
	one := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn,
		error) {
		return s.dial()
	},
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}, DisableKeepAlives: true}}
	resp, err := one.Get(base + "/health")
	if err != nil || resp.ProtoMajor != 1 {
		t.Fatal(err)
	}
	resp.Body.Close()
	if a := call(t, s.http2(x509.NewCertPool()), t.Context(), base, oip.ModelInfer, nil); a.err == nil ||
		!strings.Contains(a.err.Error(), "certificate") {
		t.Errorf("a stranger's certificate: %v", a.err)
	}

	socket := filepath.Join(dir, "s")
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, Options{Fast: true, UnixSocket: socket}, in) }()
	var line string
	fmt.Fscanln(out, new(string), new(string), &line)
	if line != "unix:"+socket {
		t.Errorf("the server says %q", line)
	}
	local := &testServer{t: t, dial: func() (net.Conn, error) { return net.Dial("unix", socket) }}
	if a := call(t, local.http2(nil), t.Context(), "http://local", oip.ServerReady, nil); a.status != "0" {
		t.Errorf("%+v", a)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTLSOptions(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	os.WriteFile(empty, nil, 0o644)
	for _, c := range []struct {
		o     Options
		fault string
	}{
		{Options{TLSCert: "a"}, "go together"}, {Options{TLSKey: "a"}, "go together"},
		{Options{TLSMake: "a", TLSCert: "b", TLSKey: "c"}, "exclude"}, {Options{TLSClientCA: "a"}, "needs --tls-cert"},
	} {
		if err := c.o.Check(); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	for fault, o := range map[string]Options{
		"--tls-cert, --tls-key": {TLSCert: empty, TLSKey: empty},
		"--tls-make":            {TLSMake: filepath.Join(dir, "no", "file")},
		"--tls-client-ca":       {TLSMake: filepath.Join(dir, "ca"), TLSClientCA: empty},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v", fault, err)
		}
	}
}
