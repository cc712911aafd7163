package metrics

import (
	"aiperf/internal/measure/record"
)

// traceRow is a metric of the exchange on the wire.
type traceRow struct {
	tag, header, short string
	unit, display      Unit
	order              int
	what               string
	formula, absent    string
	fields             []record.Field
}

var (
	connectionPhases = []record.Field{record.Blocked, record.DNSLookup, record.Connecting}
	allPhases        = []record.Field{record.Blocked, record.DNSLookup, record.Connecting,
		record.Sending, record.Waiting, record.Receiving}
)

var traceRows = []traceRow{
	{"http_req_blocked", "HTTP Blocked", "Blocked", Nanoseconds, Milliseconds, 2000,
		"Time spent waiting for a free connection slot, and on a first try that a kept connection lost.",
		"wait end − wait start; 0 without a wait", "the wait never completed",
		[]record.Field{record.Blocked}},
	{"http_req_dns_lookup", "HTTP DNS Lookup", "DNS", Nanoseconds, Milliseconds, 2010,
		"Time to resolve the host name.",
		"lookup end − lookup start; 0 for a cached or literal address and a reused connection",
		"the lookup never completed", []record.Field{record.DNSLookup}},
	{"http_req_connecting", "HTTP Connecting", "Connecting", Nanoseconds, Milliseconds, 2020,
		"Time to connect, TCP and TLS.",
		"connect end − connect start; 0 for a reused connection", "the connection was not made",
		[]record.Field{record.Connecting}},
	{"http_req_sending", "HTTP Sending", "Sending", Nanoseconds, Milliseconds, 2030,
		"Time to write the request on the ready connection.",
		"send end − send start", "the request was not written whole",
		[]record.Field{record.Sending}},
	{"http_req_waiting", "HTTP Waiting (TTFB)", "TTFB", Nanoseconds, Milliseconds, 2040,
		"Time from the request's last byte to the first read of the body.",
		"first body chunk − send end", "no body chunk",
		[]record.Field{record.Waiting}},
	{"http_req_receiving", "HTTP Receiving", "Receiving", Nanoseconds, Milliseconds, 2050,
		"Time from the first to the last read of the body.",
		"last body chunk − first body chunk; 0 for a single one", "no body chunk",
		[]record.Field{record.Receiving}},
	{"http_req_connection_reused", "HTTP Connection Reused", "Conn Reused", Ratio, Ratio, 2060,
		"Whether the request went over a connection that was open already.",
		"1 if reused, else 0", "no connection was taken",
		[]record.Field{record.ConnectionReused}},
	{"http_req_data_sent", "HTTP Data Sent", "Sent", Bytes, Bytes, 2070,
		"Bytes of the whole request: request line, headers and body, without those of TLS. Over HTTP/2 and gRPC " +
			"header fields count as text, before their compression, frame headers not at all; a gRPC message counts " +
			"with its prefix.",
		"bytes written", "no trace",
		[]record.Field{record.BytesSent}},
	{"http_req_chunks_sent", "HTTP Chunks Sent", "Chunks Sent", Count, Count, 2080,
		"Write operations.", "write operations", "no trace",
		[]record.Field{record.ChunksSent}},
	{"http_req_data_received", "HTTP Data Received", "Received", Bytes, Bytes, 2090,
		"Bytes of the whole reply: status line, headers, body as coded and its chunk framing, without those of TLS. " +
			"Over HTTP/2 header fields count as text, frame headers not at all; over gRPC headers and trailers count " +
			"as they came, messages with their prefix.",
		"bytes read", "no trace",
		[]record.Field{record.BytesReceived}},
	{"http_req_chunks_received", "HTTP Chunks Received", "Chunks Recv", Count, Count, 2100,
		"Read operations of the body, not server-sent events.", "read operations", "no trace",
		[]record.Field{record.ChunksReceived}},
	{"http_req_connection_overhead", "HTTP Connection Overhead", "Conn Overhead", Nanoseconds, Milliseconds,
		2110,
		"Time until the connection was ready.",
		"http_req_blocked + http_req_dns_lookup + http_req_connecting", "any of them is missing",
		connectionPhases},
	{"http_req_duration", "HTTP Duration (excl. conn)", "Dur (excl)", Nanoseconds, Milliseconds, 2120,
		"Time from the request's first byte to the last read of the body, measured as one span.",
		"last body chunk − send start", "a stamp is missing",
		[]record.Field{record.TraceDuration}},
	{"http_req_total", "HTTP Total Time", "Total", Nanoseconds, Milliseconds, 2130,
		"Time of the whole exchange.",
		"http_req_blocked + http_req_dns_lookup + http_req_connecting + http_req_sending + http_req_waiting + " +
			"http_req_receiving",
		"any of them is missing", allPhases},
}

// traceRequires are the metrics that the composed trace metrics add up.
var traceRequires = map[string][]string{
	"http_req_connection_overhead": {"http_req_blocked", "http_req_dns_lookup", "http_req_connecting"},
	"http_req_total": {"http_req_blocked", "http_req_dns_lookup", "http_req_connecting",
		"http_req_sending", "http_req_waiting", "http_req_receiving"},
}

// traceTable holds the metrics of the exchange on the wire.
func traceTable() []Definition {
	out := make([]Definition, len(traceRows))
	for i, r := range traceRows {
		out[i] = Definition{
			Tag: r.tag, Header: r.header, Short: r.short,
			Kind: KindRecord, Unit: r.unit, Display: r.display, Order: r.order, Group: GroupHTTPTrace,
			Flags: HTTPTraceOnly,
			Doc:   r.what, Formula: r.formula, Absent: r.absent,
			Requires: traceRequires[r.tag],
			reads:    r.fields, integer: sumOf(r.fields...),
		}
	}
	return out
}
