package recordfile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"

	"aiperf/internal/base/artifact"
	"aiperf/internal/measure/record"
)

// RawFormat is the form of the lines of profile_export_raw.jsonl: the whole exchange of every request, warm-up and
// cut-off ones included.
type RawFormat struct{ Redactor *artifact.Redactor }

// AppendLine implements [AppendLine]. A record without a raw exchange has no line.
func (f RawFormat) AppendLine(dst []byte, r *record.Record) ([]byte, bool) {
	if r.Raw == nil {
		return dst, false
	}
	m := artifact.Members{Dst: dst}
	raw := r.Raw
	m.Open()
	appendMetadata(&m, r)
	m.Int("start_perf_ns", raw.StartPerfNS)
	if len(raw.Payload) > 0 {
		m.Key("payload")
		m.Dst = appendPayload(m.Dst, raw.Payload, f.Redactor)
	}
	appendHeaders(&m, "request_headers", raw.RequestHeaders, f.Redactor)
	appendStamp(&m, "status", int64(raw.Status))
	appendHeaders(&m, "response_headers", raw.ResponseHeaders, f.Redactor)
	m.Key("responses")
	m.Dst = append(m.Dst, '[')
	for i := range raw.Responses {
		if i > 0 {
			m.Dst = append(m.Dst, ',')
		}
		f.appendResponse(&m, &raw.Responses[i])
	}
	m.Dst = append(m.Dst, ']')
	if r.CacheBustMarker != "" {
		m.String("cache_bust_marker", r.CacheBustMarker)
		m.String("cache_bust_target", r.CacheBustTarget)
	}
	appendError(&m, r.Err)
	m.Close()
	return m.Dst, true
}

// appendPayload appends a request body on one line: JSON as it is, anything else as a string, and as
// base64 when it is not text.
func appendPayload(dst, payload []byte, redactor *artifact.Redactor) []byte {
	var line bytes.Buffer
	if err := json.Compact(&line, payload); err == nil {
		return append(dst, bytes.ToValidUTF8(redactor.JSON(line.Bytes()), []byte("\uFFFD"))...)
	}
	payload = redactor.Bytes(payload)
	if utf8.Valid(payload) {
		return artifact.AppendString(dst, payload)
	}
	return appendBase64(dst, payload)
}

func appendBase64(dst, data []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}

func (f RawFormat) appendResponse(m *artifact.Members, r *record.RawResponse) {
	m.Open()
	m.Int("perf_ns", r.PerfNS)
	if r.IsEvent {
		m.Key("packets")
		m.Dst = appendPackets(m.Dst, r.Bytes, f.Redactor)
		m.Close()
		return
	}
	if r.IsBinary {
		m.Key("raw_bytes")
		m.Dst = appendBase64(m.Dst, f.Redactor.Bytes(r.Bytes))
	} else {
		m.Key("text")
		m.Dst = artifact.AppendString(m.Dst, f.Redactor.Said(r.Bytes))
	}
	appendText(m, "content_type", f.Redactor.Values(r.ContentType))
	m.Close()
}

// appendPackets appends the fields of one server-sent event, from its bytes as received, in their
// order: lines end with CR, LF or both, one space after the colon does not count, and a comment is a
// field of that name.
func appendPackets(dst, event []byte, redactor *artifact.Redactor) []byte {
	dst = append(dst, '[')
	n := 0
	for len(event) > 0 {
		line := event
		if end := bytes.IndexAny(event, "\r\n"); end >= 0 {
			line, event = event[:end], event[end+1:]
		} else {
			event = nil
		}
		if len(line) == 0 {
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		if len(name) == 0 {
			name = []byte("comment")
		}
		if n > 0 {
			dst = append(dst, ',')
		}
		n++
		dst = append(dst, `{"name":`...)
		dst = artifact.AppendString(dst, redactor.Bytes(name))
		dst = append(dst, `,"value":`...)
		dst = artifact.AppendString(dst, redactor.Said(bytes.TrimPrefix(value, []byte{' '})))
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
