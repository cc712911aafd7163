package client

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"
)

// A body is what it holds: events, lines of JSON or one document, whatever its Content-Type says.
func TestBodiesAreReadByWhatTheyHold(t *testing.T) {
	const events, lines = "data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: [DONE]\n\n", "{\"a\":1}\n{\"b\":2}\n\n{\"c\":3}"
	for _, c := range []struct{ name, kind, body, want string }{
		{"events called JSON", "application/json", events, `={"a":1} ={"b":2} =[DONE]`},
		{"events called text", "text/plain; charset=utf-8", events, `={"a":1} ={"b":2} =[DONE]`},
		{"events called nothing", "", events, `={"a":1} ={"b":2} =[DONE]`},
		{"events behind a comment", "application/json", ": ping\n\n" + events, `= ={"a":1} ={"b":2} =[DONE]`},
		{"events with names", "text/plain", "event: x\ndata: {\"a\":1}\n\n", `x={"a":1}`},
		{"events behind a mark", "", "\xEF\xBB\xBF" + events, `={"a":1} ={"b":2} =[DONE]`},
		{"plain text that looks like a field", "text/plain", "data: none\n\nid: 5", "data: none\n\nid: 5"},
		{"text of a field alone", "text/plain", "event: none", "event: none"},
		{"a beginning of a field", "text/plain", "dat", "dat"},
		{"lines", "application/x-ndjson", lines, `={"a":1} ={"b":2} ={"c":3}`},
		{"lines called JSON", "application/json", lines, `={"a":1} ={"b":2} ={"c":3}`},
		{"lines called events", "text/event-stream", lines, `={"a":1} ={"b":2} ={"c":3}`},
		{"one line", "application/json", "{\"a\":1}\n", "{\"a\":1}\n"},
		{"several lines of a document", "application/json", "{\n\"a\":\n{}\n}\n", "{\n\"a\":\n{}\n}\n"},
		{"broken lines", "application/json", "{\"a\":\n{\"b\":2}\n", "{\"a\":\n{\"b\":2}\n"},
		{"JSON called events", "text/event-stream", ` {"a":1}`, `{"a":1}`},
		{"a list called events", "text/event-stream", `[1]`, `[1]`},
		{"events without an empty line", "text/event-stream", "data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", `={"a":1} ={"b":2} =[DONE]`},
		{"nothing", "application/json", "", ""},
	} {
		for _, piece := range []int{1, 5, 1 << 20} {
			var reply strings.Builder
			reply.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n")
			if c.kind != "" {
				reply.WriteString("Content-Type: " + c.kind + "\r\n")
			}
			reply.WriteString("\r\n")
			for rest := c.body; rest != ""; {
				n := min(piece, len(rest))
				reply.WriteString(chunk(rest[:n]))
				rest = rest[n:]
			}
			s := newRawServer(t, once(reply.String()+lastChunk, piece < 1<<20, false))
			rec, ex := send(newTestClient(t, nil), post("http://"+s.addr+"/v1"))
			got := rec.body
			if rec.body == "" {
				got = strings.Join(rec.events, " ")
			}
			if strings.TrimSpace(got) != strings.TrimSpace(c.want) || ex.Err != nil || ex.EndNS == 0 {
				t.Errorf("%s, pieces of %d: got %q, error %v; want %q", c.name, piece, got, ex.Err, c.want)
			}
		}
	}
}

// Each event, and each line, has the instant of the read that brought its end, also the first one, of which the next one
// shows what it was. A machine that is busy may read two pieces together: the pauses grow until it does not.
func TestInstantsOfUnlabelledStreams(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		pieces []string
	}{
		"events":                       {"application/json", []string{"data: {\"a\":1}\n\n", "data: {\"b\":2}\n\n", "data: {\"c\":3}\n\n"}},
		"lines":                        {"application/json", []string{"{\"a\":1}\n", "{\"b\":2}\n", "{\"c\":3}\n"}},
		"events without an empty line": {"text/event-stream", []string{"data: {\"a\":1}\n", "data: {\"b\":2}\n", "data: {\"c\":3}\n"}},
		"names without an empty line": {"text/event-stream", []string{"event: x\ndata: {\"a\":1}\nevent: y\n",
			"data: {\"b\":2}\n", "event: z\ndata: {\"c\":3}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			var stamps, written []int64
			for pause := 20 * time.Millisecond; pause < 4*time.Second; pause *= 4 {
				client := newTestClient(t, nil)
				written = nil
				s := newRawServer(t, func(conn net.Conn, _ int64) {
					if _, _, ok := readRequest(bufio.NewReader(conn)); !ok {
						return
					}
					reply := "HTTP/1.1 200 OK\r\nContent-Type: " + c.kind + "\r\nTransfer-Encoding: chunked\r\n\r\n"
					for _, piece := range append(c.pieces, "") {
						written = append(written, client.clock.NowNS())
						if piece == "" {
							reply = lastChunk
						} else {
							reply += chunk(piece)
						}
						_, _ = conn.Write([]byte(reply))
						reply = ""
						time.Sleep(pause)
					}
				})
				rec, ex := send(client, post("http://"+s.addr+"/v1"))
				if ex.Err != nil || len(rec.stamps) != len(c.pieces) {
					t.Fatalf("%d events, error %v", len(rec.stamps), ex.Err)
				}
				stamps = rec.stamps
				if stamps[0] < written[1] && stamps[1] < written[2] && stamps[1] > written[1] {
					return
				}
			}
			t.Errorf("pieces were written at %d, events have the instants %d", written, stamps)
		})
	}
}
