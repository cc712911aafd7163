package client

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// awsFrame is one frame of an event stream.
func awsFrame(payload string, headers ...string) string {
	var h []byte
	for i := 0; i < len(headers); i += 2 {
		h = append(append(h, byte(len(headers[i]))), headers[i]...)
		h = binary.BigEndian.AppendUint16(append(h, 7), uint16(len(headers[i+1])))
		h = append(h, headers[i+1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(h)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(h)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, h...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

func part(payload string) string {
	return awsFrame(payload, ":message-type", "event", ":event-type", "PayloadPart")
}

func TestEventStreamOfAWS(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\nTransfer-Encoding: chunked\r\n\r\n"
	exception := awsFrame(`{"message":"it broke"}`, ":message-type", "exception", ":exception-type", "ModelStreamError")
	long := "data: " + strings.Repeat("y", 3000)
	for _, c := range []struct {
		name, body string
		events     []string
		typ        string
	}{
		{"events cut over frames", chunk(part(
			"data: a\n")) + chunk(part("\ndata: b\n\nda")+part("ta: [DONE]\n\n")) + lastChunk,
			[]string{"=a", "=b", "=[DONE]"}, ""},
		{"frames cut over chunks", chunk(part("data: a\n\n")[:9]) + chunk(part("data: a\n\n")[9:]) + lastChunk,
			[]string{"=a"}, ""},
		{"an event larger than a read", chunk(part(long+"\n\n")) + lastChunk, []string{"=" + long[6:]}, ""},
		{"an exception", chunk(part("data: a\n\n")+exception) + lastChunk, []string{"=a"}, "ModelStreamError"},
		{"half a frame", chunk(part("data: a\n\n")+exception[:10]) + lastChunk, []string{"=a"}, "ClientPayloadError"},
		{"no frames", chunk("hello, this is no event stream") + lastChunk, nil, "ClientPayloadError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newRawServer(t, answer(head+c.body))
			rec, x := send(newTestClient(t, nil), post("http://"+s.addr+"/x"))
			if !slices.Equal(rec.events, c.events) {
				t.Errorf("events %q", rec.events)
			}
			if (x.Err == nil) != (c.typ == "") || x.Err != nil && x.Err.Type != c.typ {
				t.Errorf("%+v", x.Err)
			}
		})
	}
}

// A signature covers what is sent: it replaces the user's own credentials, and no redirect is followed.
func TestSignedRequests(t *testing.T) {
	var signed []string
	sign := func(method string, u *url.URL, headers []record.Header, body []byte) ([]record.Header, error) {
		signed = append(signed, method+" "+u.Path+" "+headers[0].Name+" "+string(body))
		return []record.Header{{Name: "Authorization", Value: "AWS4 sig"}, {Name: "X-Amz-Date", Value: "now"}}, nil
	}
	var heads []string
	reply := "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
	s := newRawServer(t, recordHeads(&heads, reply))
	c := newTestClient(t, func(o *Options) { o.Sign = sign })
	r := post("http://" + s.addr + "/x")
	r.Headers = append(r.Headers, record.Header{Name: "authorization", Value: "Bearer mine"})
	if _, x := send(c, r); x.Err == nil || x.Err.Code != 307 {
		t.Errorf("redirect: %+v", x.Err)
	}
	if len(heads) != 1 || strings.Contains(heads[0], "mine") ||
		!strings.Contains(heads[0], "Authorization: AWS4 sig\r\nX-Amz-Date: now\r\n") {
		t.Errorf("heads %q", heads)
	}
	if !slices.Equal(signed, []string{`POST /x Host {"a":1}`}) {
		t.Errorf("signed %q", signed)
	}
	refusal := newRawServer(t, answer(text("403 Forbidden", "application/json",
		`{"message":"SignatureDoesNotMatch: …"}`)))
	if _, x := send(c, post("http://"+refusal.addr+"/x")); x.Err == nil ||
		!strings.Contains(x.Err.Details, "--aws-region") {
		t.Errorf("refused signature: %+v", x.Err)
	}
}

// recordHeads answers every request and keeps its head.
func recordHeads(heads *[]string, reply string) func(net.Conn, int64) {
	return func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		for {
			head, _, ok := readRequest(br)
			if !ok {
				return
			}
			*heads = append(*heads, head)
			_, _ = io.WriteString(c, reply)
		}
	}
}
