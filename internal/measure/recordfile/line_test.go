package recordfile

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/testkit"
	"aiperf/internal/measure/record"
)

// written returns the lines that a per-request file gets from the given records.
func written(t *testing.T, records ...*record.Record) string {
	t.Helper()
	return drained(t, Format{Metrics: exampleMetrics}.AppendLine, records)
}

func writtenRaw(t *testing.T, redactor *artifact.Redactor, records ...*record.Record) string {
	t.Helper()
	return drained(t, RawFormat{redactor}.AppendLine, records)
}

func TestRecordLineExample(t *testing.T) {
	want := `{"metadata":{"session_num":0,"x_request_id":"r0","x_correlation_id":"c0","conversation_id":"s0","turn_index":0,"credit_issued_ns":1700000000000000000,"request_start_ns":1700000000001000000,"request_ack_ns":1700000000011000000,"request_end_ns":1700000000306000000,"worker_id":"worker_1","record_processor_id":"record_processor_1","benchmark_phase":"profiling","phase_index":0,"profiling_index":0,"phase_name":"","phase_kind":"profiling","was_cancelled":false,"context_overflow_skip":false,"agent_depth":0,"root_correlation_id":"c0"},"metrics":{"request_latency":{"value":300.0,"unit":"ms"},"output_sequence_length":{"value":10,"unit":"tokens"},"inter_chunk_latency":{"value":[50.0,60.0,90.0],"unit":"ms"}}}` + "\n"
	if got := written(t, exchange()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func failed() *record.Record {
	r := exchange()
	r.Facts[record.Failed] = 1
	r.Facts[record.Ack] = record.Absent
	r.Facts[record.CreditIssued] = record.Absent
	r.Err = &record.Error{Code: 500, HasCode: true, Type: "Internal Server Error", Message: `a|b, "c"`}
	return r
}

func TestTrapFailedRequestLine(t *testing.T) {
	got := written(t, failed())
	want := `"metrics":{"error_isl":{"value":40,"unit":"tokens"}},"error":{"code":500,"type":"Internal Server Error","message":"a|b, \"c\""}}` + "\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
	// The end of a failed request is the moment of the error, not that of the last response.
	if !strings.Contains(got, `"request_end_ns":1700000000307000000,`) {
		t.Errorf("wrong end in %s", got)
	}
	for _, absent := range []string{"request_ack_ns", "credit_issued_ns", "cancellation_time_ns", "trace_data"} {
		if strings.Contains(got, absent) {
			t.Errorf("%s in %s", absent, got)
		}
	}
}

func TestTrapCancelledRequest(t *testing.T) {
	r := failed()
	r.WasCancelled = true
	r.Facts[record.Cancelled] = 250000000
	r.Err = &record.Error{Code: 499, HasCode: true, Type: "RequestCancellationError", Message: "cancelled"}
	got := written(t, r)
	for _, want := range []string{`"was_cancelled":true,"cancellation_time_ns":1700000000251000000,`,
		`"code":499,"type":"RequestCancellationError"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

func TestEndOfARequestWithoutAnyInstantIsItsStart(t *testing.T) {
	r := exchange()
	r.Facts[record.LastResponse], r.Facts[record.End] = record.Absent, record.Absent
	if got := written(t, r); !strings.Contains(got, `"request_end_ns":1700000000001000000,`) {
		t.Errorf("got %s", got)
	}
}

func TestTrapWarmupOnlyInRaw(t *testing.T) {
	warm := exchange()
	warm.Phase = record.PhaseWarmup
	warm.Raw = &record.Raw{StartPerfNS: 1, Status: 200}
	if got := written(t, warm); got != "" {
		t.Errorf("warm-up in records: %s", got)
	}
	if got := writtenRaw(t, nil, warm); !strings.Contains(got, `"benchmark_phase":"warmup"`) {
		t.Errorf("no warm-up in raw: %s", got)
	}
}

func TestCutOffRequestIsOnlyInRaw(t *testing.T) {
	cut := exchange()
	cut.Facts[record.LastResponse] = record.Absent
	cut.Raw = &record.Raw{StartPerfNS: 1, CutOff: true}
	if got := written(t, cut); got != "" {
		t.Errorf("cut-off request in records: %s", got)
	}
	got := writtenRaw(t, nil, cut)
	if !strings.Contains(got, `"request_end_ns":1700000000307000000,`) ||
		!strings.Contains(got, `"was_cut_off":true}`) {
		t.Errorf("got %s", got)
	}
}

func TestValidRecordWithoutMetricsIsSkipped(t *testing.T) {
	none := Format{Metrics: func(dst []byte, _ *record.Record) []byte { return append(dst, "{}"...) }}
	got := drained(t, none.AppendLine, []*record.Record{exchange(), failed(), exchange()})
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, `"metrics":{},"error":`) {
		t.Errorf("got %s", got)
	}
}

func traced() *record.Record {
	r := exchange()
	r.Trace = &record.Trace{
		RequestSendStartNS: 1000, RequestHeadersSentNS: 1010, RequestSendEndNS: 1250,
		RequestHeaders: []record.Header{{Name: "Content-Type", Value: "application/json"},
			{Name: "authorization", Value: "Bearer k"}},
		RequestChunks:      []record.Chunk{{AtNS: 1250, Bytes: 77}},
		RequestChunksCount: 1, RequestBytesTotal: 77,
		ResponseStatus: 200, ResponseReason: "OK",
		ResponseHeaders: []record.Header{{Name: "Set-Cookie", Value: "a=1"}, {Name: "X", Value: "y"},
			{Name: "Set-Cookie", Value: "b=2"}},
		ResponseHeadersReceivedNS: 46000, ResponseReceiveStartNS: 46250, ResponseReceiveEndNS: 346250,
		ResponseChunks:      []record.Chunk{{AtNS: 46250, Bytes: 5}, {AtNS: 346250, Bytes: 6}},
		ResponseChunksCount: 2, ResponseBytesTotal: 11,
		PoolWaitStartNS: 100, PoolWaitEndNS: 150, DNSStartNS: 200, DNSEndNS: 320, DNSCacheMissNS: 200,
		ConnectStartNS: 320, ConnectEndNS: 900,
		LocalIP: "127.0.0.1", LocalPort: 4711, RemoteIP: "::1", RemotePort: 8000,
	}
	return r
}

func TestRecordsGolden(t *testing.T) {
	reused := traced()
	reused.Facts[record.IntendedSend] = -3000000
	reused.Trace = &record.Trace{
		RequestSendStartNS: 1000, RequestSendEndNS: 1250, RequestChunksCount: 1, RequestBytesTotal: 10,
		ResponseReceiveStartNS: 2000, ResponseReceiveEndNS: 2000, ResponseChunksCount: 1, ResponseBytesTotal: 3,
		ConnectionReusedNS: 990,
	}
	broken := failed()
	broken.Trace = &record.Trace{RequestSendStartNS: 1000, ErrorNS: 1500}
	testkit.Golden(t, "testdata/records.jsonl", []byte(written(t, exchange(), failed(), traced(), reused, broken)))
}

func TestTrapReusedConnectionHasNoConnectionDurations(t *testing.T) {
	r := traced()
	r.Trace.DNSStartNS, r.Trace.DNSEndNS, r.Trace.DNSCacheMissNS = 0, 0, 0
	r.Trace.ConnectStartNS, r.Trace.ConnectEndNS, r.Trace.ConnectionReusedNS = 0, 0, 990
	got := written(t, r)
	if strings.Contains(got, "dns_lookup_ns") || strings.Contains(got, "connecting_ns") ||
		!strings.Contains(got, `"connection_reused_ns":990`) {
		t.Errorf("got %s", got)
	}
}

func TestTrapNoTraceWithoutTheFlag(t *testing.T) {
	if got := written(t, exchange()); strings.Contains(got, "trace_data") {
		t.Errorf("got %s", got)
	}
}

func rawExchange() *record.Record {
	r := exchange()
	r.Raw = &record.Raw{
		StartPerfNS: 5000,
		Payload:     []byte("{\"messages\": [\n {\"role\":\"user\",\"content\":\"hi sk-secret-1\"}]}"),
		RequestHeaders: []record.Header{
			{Name: "AUTHORIZATION", Value: "Bearer sk-secret-1"}, {Name: "X-Request-ID", Value: "r0"},
		},
		Status:          200,
		ResponseHeaders: []record.Header{{Name: "Content-Type", Value: "text/event-stream"}},
		Responses: []record.RawResponse{
			{PerfNS: 5100, IsEvent: true, Bytes: []byte(": keep-alive\r\nid:7\r\nevent: chunk\r\ndata:  " +
				"{\"x\":1}\r\n\r\n")},
			{PerfNS: 5200, IsEvent: true, Bytes: []byte("data: a\ndata: b:c\nretry\n\n")},
			{PerfNS: 5300, IsEvent: true, Bytes: []byte("data: [DONE]")},
		},
	}
	return r
}

func TestRawRecordsGolden(t *testing.T) {
	redactor := artifact.NewRedactor("sk-secret-1")
	text := failed()
	text.Raw = &record.Raw{StartPerfNS: 1, Payload: []byte("plain \xff"), Status: 500, Responses: []record.RawResponse{
		{PerfNS: 9, ContentType: "text/plain", Bytes: []byte("boom sk-secret-1 \xff")},
	}}
	binary := exchange()
	binary.Raw = &record.Raw{StartPerfNS: 1, Payload: []byte("plain text"), Status: 200,
		Responses: []record.RawResponse{
			{PerfNS: 9, IsBinary: true, ContentType: "audio/wav", Bytes: []byte{0, 0xff, 0x80}},
		}}
	got := writtenRaw(t, redactor, rawExchange(), text, binary, exchange())
	if strings.Contains(got, "sk-secret") {
		t.Errorf("the key is in %s", got)
	}
	testkit.Golden(t, "testdata/raw.jsonl", []byte(got))
}

func TestPacketsOfAnEvent(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"data: a\n\n", `[{"name":"data","value":"a"}]`},
		{"data:a\rdata:  b\r", `[{"name":"data","value":"a"},{"name":"data","value":" b"}]`},
		{":\n", `[{"name":"comment","value":""}]`},
		{"data", `[{"name":"data","value":""}]`},
		{"\n\n", `[]`},
		{"", `[]`},
	} {
		if got := string(appendPackets(nil, []byte(c.in), nil)); got != c.want {
			t.Errorf("%q: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestRecordWithoutRawIsSkipped(t *testing.T) {
	if got := writtenRaw(t, nil, exchange()); got != "" {
		t.Errorf("got %s", got)
	}
}

func BenchmarkRecordsAdd(b *testing.B) {
	path := filepath.Join(b.TempDir(), "r.jsonl")
	s, err := Create(path, artifact.LinesOptions{}, Format{Metrics: exampleMetrics}.AppendLine)
	if err != nil {
		b.Fatal(err)
	}
	r := exchange()
	b.ReportAllocs()
	for b.Loop() {
		s.Add(r)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRawLine(b *testing.B) {
	r := rawExchange()
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line, _ = RawFormat{}.AppendLine(line[:0], r)
	}
	_, _ = io.Discard.Write(line)
}

func TestErrorObjectHasWhatIsThere(t *testing.T) {
	for _, c := range []struct {
		err  record.Error
		want string
	}{
		{record.Error{HasCode: true, Type: "T", Message: "m"}, `{"code":0,"type":"T","message":"m"}`},
		{record.Error{Type: "T", Message: "m", Cause: "c", CauseChain: []string{"A", "B"}, Details: "d"},
			`{"type":"T","message":"m","cause":"c","cause_chain":["A","B"],"details":"d"}`},
		{record.Error{}, `{}`},
	} {
		if got, _ := artifact.AppendJSON(nil, ErrorObject(&c.err)); string(got) != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// What a server says of an error hides in none of its members.
func TestNoMemberOfAnErrorKeepsASecret(t *testing.T) {
	const secret = "sk-0123456789abcdef"
	hide := artifact.NewRedactor(secret).Text
	e := record.Error{Type: secret, Message: "m " + secret, Cause: secret, CauseChain: []string{"a", secret}, Details: secret}
	if text := fmt.Sprintf("%+v", *e.Published(hide, true)); strings.Contains(text, secret) {
		t.Error(text)
	}
	if e.CauseChain[1] != secret {
		t.Error("the error itself was changed")
	}
}
