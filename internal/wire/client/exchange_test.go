package client

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"aiperf/internal/measure/record"

	"github.com/google/go-cmp/cmp"
)

func rawTexts(raw *record.Raw) (out []string) {
	for _, r := range raw.Responses {
		out = append(out, string(r.Bytes))
	}
	return out
}

func TestTrapRequestOnTheWire(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	var head, body string
	s := newRawServer(t, func(c net.Conn, _ int64) {
		head, body, _ = readRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, text("200 OK", "application/json", "{}"))
	})
	tests := []struct {
		name string
		edit func(*Request)
		want string
	}{
		{"as given", func(*Request) {},
			"POST /v1/x?a=b HTTP/1.1\r\nHost: ADDR\r\nz-first: 1\r\nAccept: */*\r\nuser-agent: me\r\nContent-Length: 7\r\n\r\n"},
		{"own host, no framing of others", func(r *Request) {
			r.Headers = []record.Header{{Name: "host", Value: "other"}, {Name: "content-length", Value: "99"},
				{Name: "Transfer-Encoding", Value: "chunked"}}
		}, "POST /v1/x?a=b HTTP/1.1\r\nHost: other\r\nContent-Length: 7\r\n\r\n"},
		{"no body", func(r *Request) { r.Method, r.Headers, r.Body = "GET", nil, nil },
			"GET /v1/x?a=b HTTP/1.1\r\nHost: ADDR\r\n\r\n"},
		{"empty POST", func(r *Request) { r.Headers, r.Body = nil, nil },
			"POST /v1/x?a=b HTTP/1.1\r\nHost: ADDR\r\nContent-Length: 0\r\n\r\n"},
		{"user and password", func(r *Request) {
			r.Headers, r.URL = nil, strings.Replace(r.URL, "http://", "http://u:p@", 1)
		}, "POST /v1/x?a=b HTTP/1.1\r\nHost: ADDR\r\nAuthorization: Basic dTpw\r\nContent-Length: 7\r\n\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := post("http://" + s.addr + "/v1/x?a=b")
			r.Headers = []record.Header{{Name: "z-first", Value: "1"}, {Name: "Accept", Value: " */* "},
				{Name: "user-agent", Value: "me"}}
			tt.edit(r)
			if _, x := send(newTestClient(t, nil), r); x.Err != nil {
				t.Fatal(x.Err)
			}
			if want := strings.ReplaceAll(tt.want, "ADDR", s.addr); head != want || body != string(r.Body) {
				t.Errorf("sent %q + %q\nwant %q", head, body, want)
			}
		})
	}
}

func TestLongBodies(t *testing.T) {
	bodies := make(chan string, 1)
	heads := make(chan int, 1)
	s := newRawServer(t, func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		for {
			head, body, ok := readRequest(br)
			if !ok {
				return
			}
			bodies <- body
			heads <- len(head)
			_, _ = io.WriteString(c, text("200 OK", "text/plain", body))
		}
	})
	c := newTestClient(t, nil)
	for _, n := range []int{inlineBody - 1, inlineBody, inlineBody + 1, 3 << 20} {
		r := post("http://" + s.addr)
		r.Body = []byte(strings.Repeat("x", n-1) + "y")
		rec, x := send(c, r)
		got := <-bodies
		sent, received := <-heads+n, len(text("200 OK", "text/plain", got))
		if x.Err != nil || got != string(r.Body) || rec.body != got || x.Timing.BytesSent != int64(sent) ||
			x.Timing.BytesReceived != int64(received) {
			t.Errorf("%d bytes: error %v, server got %d, timing %+v", n, x.Err, len(got), x.Timing)
		}
	}
}

func TestResponseClasses(t *testing.T) {
	events := "data: a\n\nevent: x\ndata: b\n\n: ping\n\ndata: [DONE]"
	tests := []struct {
		name, method, reply string
		want                recorder
		responses           int
	}{
		{"JSON", "POST", text("200 OK", "application/json", `{"a":1}`),
			recorder{kind: "application/json", body: `{"a":1}`}, 1},
		{"any 2xx", "POST", text("299 Fine", "Application/JSON; x=y", `{}`),
			recorder{kind: "application/json", body: `{}`}, 1},
		{"events", "POST", text("200 OK", "text/event-stream", events),
			recorder{events: []string{"=a", "x=b", "=", "=[DONE]"}}, 4},
		{"events with parameters", "POST", text("200 OK", "Text/Event-Stream;charset=UTF-8", "data: a\n\n"),
			recorder{events: []string{"=a"}}, 1},
		{"events until the close", "POST",
			"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\ndata: b",
			recorder{events: []string{"=a", "=b"}}, 2},
		{"events of a GET are text", "GET", text("200 OK", "text/event-stream", "data: a\n\n"),
			recorder{kind: "text/event-stream", body: "data: a\n\n"}, 1},
		{"image", "POST", text("200 OK", "image/png", "\x89PNG\xFF"),
			recorder{kind: "image/png", body: "\x89PNG\xFF", binary: true}, 1},
		{"bytes", "POST", text("200 OK", "application/octet-stream", "\xFF"),
			recorder{kind: "application/octet-stream", body: "\xFF", binary: true}, 1},
		{"no content type", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", recorder{body: "{}"}, 1},
		{"Latin-1", "POST", text("200 OK", "text/plain; charset=ISO-8859-1", "caf\xE9"),
			recorder{kind: "text/plain", body: "café"}, 1},
		{"not UTF-8", "POST", text("200 OK", "text/plain", "caf\xE9"), recorder{kind: "text/plain", body: "caf\uFFFD"},
			1},
		{"no content", "POST", "HTTP/1.1 204 No Content\r\n\r\n", recorder{}, 1},
		{"empty", "POST", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", recorder{}, 1},
		{"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", recorder{}, 1},
		{"interim replies", "POST", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
			text("200 OK", "text/plain", "x"), recorder{kind: "text/plain", body: "x"}, 1},
		{"chunks, extension and trailer", "POST",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0A \r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n", recorder{body: "abc0123456789"}, 1},
		{"old server", "POST", "HTTP/1.0 200 OK\r\n\r\nold", recorder{body: "old"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			serve := answer(tt.reply)
			if strings.Contains(tt.name, "close") || tt.name == "old server" {
				serve = after(tt.reply, false)
			}
			s := newRawServer(t, serve)
			c := newTestClient(t, nil)
			for range 2 {
				r := post("http://" + s.addr)
				r.Method = tt.method
				if tt.method != "POST" {
					r.Body = nil
				}
				rec, x := send(c, r)
				if x.Err != nil {
					t.Fatal(x.Err)
				}
				stamps := rec.stamps
				rec.stamps = nil
				if d := cmp.Diff(&tt.want, rec, cmp.AllowUnexported(recorder{}),
					cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "on" }, cmp.Ignore())); d != "" {
					t.Error(d)
				}
				if x.Responses != tt.responses || x.LastResponseNS != stamps[len(stamps)-1] ||
					x.EndNS < x.LastResponseNS ||
					x.AckNS <= x.StartNS || x.AckNS > stamps[0] {
					t.Errorf("exchange %+v, stamps %v", x, stamps)
				}
			}
			if want := int64(1); serve != nil && s.conns.Load() != want && !strings.Contains(tt.name, "close") &&
				tt.name != "old server" {
				t.Errorf("%d connections", s.conns.Load())
			}
		})
	}
}

// An event must be handed over with the piece that completed it, though the transfer chunk it lies in
// is still under way: the server sends each piece only after the event before it was seen.
func TestEventsDoNotWaitForTheirTransferChunk(t *testing.T) {
	seen := make(chan bool, 1)
	s := newRawServer(t, func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		if _, _, ok := readRequest(br); !ok {
			return
		}
		whole := "data: a\n\ndata: b\n\n"
		_, _ = io.WriteString(c, sseHead+"12\r\n"+whole[:12])
		<-seen
		_, _ = io.WriteString(c, whole[12:]+"\r\n9\r\ndata: c\n\n")
		<-seen
		<-seen
		_, _ = io.WriteString(c, "\r\n0\r\n")
		_, _ = io.WriteString(c, "\r\n")
	})
	rec := &recorder{on: func() { seen <- true }}
	r := post("http://" + s.addr)
	r.KeepTrace = true
	x := newTestClient(t, nil).Send(context.Background(), r, rec)
	if x.Err != nil || strings.Join(rec.events, " ") != "=a =b =c" {
		t.Fatalf("error %v, events %v", x.Err, rec.events)
	}
	if rec.stamps[0] >= rec.stamps[1] || rec.stamps[1] != rec.stamps[2] {
		t.Errorf("stamps %v: b and c came with one read, later than a", rec.stamps)
	}
	if x.LastResponseNS != rec.stamps[2] || x.EndNS < x.LastResponseNS {
		t.Errorf("last response %d, end %d", x.LastResponseNS, x.EndNS)
	}
}

func TestRawKeepsTheWholeExchange(t *testing.T) {
	s := newRawServer(t, answer(sseHead+chunk(": hi\n\ndata: a\n\n")+chunk("data: [DONE]\n\n")+lastChunk))
	c := newTestClient(t, nil)
	r := post("http://" + s.addr)
	r.KeepRaw = true
	_, x := send(c, r)
	if d := cmp.Diff([]string{": hi", "data: a", "data: [DONE]"}, rawTexts(x.Raw)); d != "" {
		t.Error(d)
	}
	if x.Raw.StartPerfNS != x.StartNS || string(x.Raw.Payload) != `{"a":1}` || x.Raw.Status != 200 || x.Raw.CutOff ||
		x.Raw.Responses[2].PerfNS != x.LastResponseNS || !x.Raw.Responses[0].IsEvent {
		t.Errorf("raw %+v", x.Raw)
	}
	if d := cmp.Diff(r.Headers, x.Raw.RequestHeaders); d != "" {
		t.Error(d)
	}
	want := []record.Header{{Name: "Content-Type", Value: "text/event-stream; charset=utf-8"},
		{Name: "Transfer-Encoding", Value: "chunked"}}
	if d := cmp.Diff(want[:1], x.Raw.ResponseHeaders[:1]); d != "" {
		t.Error(d)
	}
	if x.Trace != nil {
		t.Error("a trace nobody asked for")
	}
	r.KeepRaw = false
	if _, x = send(c, r); x.Raw != nil {
		t.Error("a raw exchange nobody asked for")
	}
}

func TestSendAllocatesLittle(t *testing.T) {
	reply := []byte(text("200 OK", "application/json", "{}"))
	s := newRawServer(t, func(c net.Conn, _ int64) {
		buf := make([]byte, 4096)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			_, _ = c.Write(reply)
		}
	})
	c := newTestClient(t, nil)
	r := post("http://" + s.addr)
	ctx := t.Context()
	sink := nothing{}
	if n := testing.AllocsPerRun(200, func() { c.Send(ctx, r, sink) }); n > 20 {
		t.Errorf("%v allocations an exchange", n)
	}
}
