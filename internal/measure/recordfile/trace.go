package recordfile

import (
	"strconv"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
)

// traceType is a constant that consumers of the published files look for.
const traceType = "aiohttp"

// appendTrace appends the HTTP trace of one exchange. Instants are wall clock nanoseconds; what did
// not happen is left out.
func appendTrace(m *artifact.Members, t *record.Trace, redactor *artifact.Redactor) {
	m.Object("trace_data")
	m.String("trace_type", traceType)
	appendRequestTrace(m, t, redactor)
	appendResponseTrace(m, t, redactor)
	appendConnectionTrace(m, t)
	appendTraceDurations(m, t)
	m.Close()
}

func appendRequestTrace(m *artifact.Members, t *record.Trace, redactor *artifact.Redactor) {
	appendStamp(m, "request_send_start_ns", t.RequestSendStartNS)
	appendHeaders(m, "request_headers", t.RequestHeaders, redactor)
	appendStamp(m, "request_headers_sent_ns", t.RequestHeadersSentNS)
	appendChunks(m, "request_chunks", t.RequestChunks)
	appendStamp(m, "request_send_end_ns", t.RequestSendEndNS)
	m.Int("request_chunks_count", t.RequestChunksCount)
	m.Int("request_bytes_total", t.RequestBytesTotal)
}

func appendResponseTrace(m *artifact.Members, t *record.Trace, redactor *artifact.Redactor) {
	appendStamp(m, "response_status_code", int64(t.ResponseStatus))
	appendText(m, "response_reason", redactor.Text(t.ResponseReason))
	appendHeaders(m, "response_headers", t.ResponseHeaders, redactor)
	appendStamp(m, "response_headers_received_ns", t.ResponseHeadersReceivedNS)
	appendStamp(m, "response_receive_start_ns", t.ResponseReceiveStartNS)
	appendStamp(m, "response_receive_end_ns", t.ResponseReceiveEndNS)
	appendChunks(m, "response_chunks", t.ResponseChunks)
	m.Int("response_chunks_count", t.ResponseChunksCount)
	m.Int("response_bytes_total", t.ResponseBytesTotal)
	appendStamp(m, "error_timestamp_ns", t.ErrorNS)
}

func appendConnectionTrace(m *artifact.Members, t *record.Trace) {
	appendStamp(m, "connection_pool_wait_start_ns", t.PoolWaitStartNS)
	appendStamp(m, "connection_pool_wait_end_ns", t.PoolWaitEndNS)
	appendStamp(m, "dns_lookup_start_ns", t.DNSStartNS)
	appendStamp(m, "dns_lookup_end_ns", t.DNSEndNS)
	appendStamp(m, "dns_cache_hit_ns", t.DNSCacheHitNS)
	appendStamp(m, "dns_cache_miss_ns", t.DNSCacheMissNS)
	appendStamp(m, "tcp_connect_start_ns", t.ConnectStartNS)
	appendStamp(m, "tcp_connect_end_ns", t.ConnectEndNS)
	appendStamp(m, "connection_reused_ns", t.ConnectionReusedNS)
	appendText(m, "local_ip", t.LocalIP)
	appendStamp(m, "local_port", int64(t.LocalPort))
	appendText(m, "remote_ip", t.RemoteIP)
	appendStamp(m, "remote_port", int64(t.RemotePort))
}

// appendTraceDurations appends the computed members. Those of a connection are absent when their
// events did not happen, although the metrics of such a request are 0.
func appendTraceDurations(m *artifact.Members, t *record.Trace) {
	appendSpan(m, "sending_ns", t.RequestSendStartNS, t.RequestSendEndNS)
	appendSpan(m, "waiting_ns", t.RequestSendEndNS, t.ResponseReceiveStartNS)
	switch {
	case t.ResponseChunksCount == 1:
		m.Int("receiving_ns", 0)
	case t.ResponseChunksCount > 1:
		appendSpan(m, "receiving_ns", t.ResponseReceiveStartNS, t.ResponseReceiveEndNS)
	}
	appendSpan(m, "duration_ns", t.RequestSendStartNS, t.ResponseReceiveEndNS)
	appendSpan(m, "blocked_ns", t.PoolWaitStartNS, t.PoolWaitEndNS)
	appendSpan(m, "dns_lookup_ns", t.DNSStartNS, t.DNSEndNS)
	appendSpan(m, "connecting_ns", t.ConnectStartNS, t.ConnectEndNS)
}

func appendStamp(m *artifact.Members, key string, v int64) {
	if v != 0 {
		m.Int(key, v)
	}
}

func appendText(m *artifact.Members, key, v string) {
	if v != "" {
		m.String(key, v)
	}
}

// appendSpan appends end − start unless one is missing or the span is negative, which no clock means.
func appendSpan(m *artifact.Members, key string, start, end int64) {
	if start != 0 && end != 0 && end >= start {
		m.Int(key, end-start)
	}
}

func appendChunks(m *artifact.Members, key string, chunks []record.Chunk) {
	m.Key(key)
	m.Dst = append(m.Dst, '[')
	for i, c := range chunks {
		if i > 0 {
			m.Dst = append(m.Dst, ',')
		}
		m.Dst = append(m.Dst, '[')
		m.Dst = strconv.AppendInt(m.Dst, c.AtNS, 10)
		m.Dst = append(m.Dst, ',')
		m.Dst = strconv.AppendInt(m.Dst, c.Bytes, 10)
		m.Dst = append(m.Dst, ']')
	}
	m.Dst = append(m.Dst, ']')
}

// appendHeaders appends header fields as an object. Fields of one name are joined by a comma, so that
// no key comes twice.
func appendHeaders(m *artifact.Members, key string, headers []record.Header, redactor *artifact.Redactor) {
	if len(headers) == 0 {
		return
	}
	o := make(artifact.Object, 0, len(headers))
	index := make(map[string]int, len(headers))
	for _, h := range headers {
		name, value := redactor.Header(h.Name, h.Value)
		if i, ok := index[name]; ok {
			o[i].Value = o[i].Value.(string) + ", " + value
			continue
		}
		index[name] = len(o)
		o = append(o, artifact.Member{Key: name, Value: value})
	}
	m.Key(key)
	m.Dst, _ = artifact.AppendJSON(m.Dst, o) // strings can always be written
}
