package client

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// listening is a recorder that listens: it notes how much had come each time.
type listening struct {
	recorder
	header string
	came   []int
	at     []int64
	texts  []string
}

func (l *listening) Coming(contentType string, body []byte, atNS int64) {
	l.header = contentType
	l.came, l.at, l.texts = append(l.came, len(body)), append(l.at, atNS), append(l.texts, string(body))
	if l.on != nil {
		l.on()
	}
}

// A sink that listens is told of media while they come, by their Content-Type or, without one, by their first bytes. The
// server sends a piece when the one before was told of.
func TestListenersAreToldOfMediaAsTheyCome(t *testing.T) {
	const sound = "RIFF\x00\x01\xff\xfe"
	for _, c := range []struct {
		name, kind string
		pieces     []string
		told       int // pieces of which the sink is told before the next one is sent
		binary     bool
	}{
		{"sound", "audio/wav", []string{sound, "abcd", "efgh"}, 3, true},
		{"with parameters", "audio/pcm; rate=16000", []string{"\x00", "{}"}, 2, true},
		{"anything", "application/octet-stream", []string{"plain", " text"}, 2, true},
		{"no Content-Type", "", []string{sound, "{}", "ab"}, 3, true},
		{"no Content-Type and text", "", []string{"Gr\u00fc\u00dfe", " und so"}, 0, false},
		{"no Content-Type and JSON", "", []string{`{"a":`, `"\u0000"}`}, 0, false},
		{"JSON", "application/json", []string{`{"a"`, `:1}`}, 0, false},
		{"sound called text", "text/plain", []string{sound, "ab"}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := make(chan bool, len(c.pieces)+1)
			s := newRawServer(t, func(conn net.Conn, _ int64) {
				if _, _, ok := readRequest(bufio.NewReader(conn)); !ok {
					return
				}
				kind := ""
				if c.kind != "" {
					kind = "Content-Type: " + c.kind + "\r\n"
				}
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n%sTransfer-Encoding: chunked\r\n\r\n", kind)
				for k, piece := range c.pieces {
					_, _ = conn.Write([]byte(chunk(piece)))
					if k < c.told {
						select {
						case <-told:
						case <-time.After(10 * time.Second):
							t.Errorf("piece %d was not told of", k)
							return
						}
					}
				}
				_, _ = conn.Write([]byte(lastChunk))
			})
			sink := &listening{}
			sink.on = func() { told <- true }
			client := newTestClient(t, nil)
			var ex Exchange
			client.SendInto(t.Context(), post("http://"+s.addr+"/v1"), sink, &ex)
			if ex.Err != nil {
				t.Fatal(ex.Err)
			}
			var want []string
			for k := range c.told {
				want = append(want, strings.Join(c.pieces[:k+1], ""))
			}
			if !slices.Equal(sink.texts, want) || sink.binary != c.binary || len(want) > 0 && sink.header != c.kind {
				t.Errorf("told of %q by %q, binary %v; want %q, %v", sink.texts, sink.header, sink.binary, want, c.binary)
			}
			if whole := strings.Join(c.pieces, ""); c.binary && sink.body != whole {
				t.Errorf("body %q, want %q", sink.body, whole)
			}
			if !slices.IsSorted(sink.at) || len(sink.at) > 0 && (sink.at[0] <= ex.StartNS || sink.at[len(sink.at)-1] > ex.EndNS) {
				t.Errorf("instants %d of an exchange from %d to %d", sink.at, ex.StartNS, ex.EndNS)
			}
			if ex.Responses != 1 {
				t.Errorf("%d responses", ex.Responses)
			}
		})
	}
}

// What was told of a body that broke off is kept for the raw export as far as it came.
func TestListenersAndBodiesThatBreakOff(t *testing.T) {
	s := newRawServer(t, once("HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Length: 100\r\n\r\nRIFF", false, true))
	sink := &listening{}
	req := post("http://" + s.addr + "/v1")
	req.KeepRaw = true
	var ex Exchange
	newTestClient(t, nil).SendInto(t.Context(), req, sink, &ex)
	if ex.Err == nil || ex.Raw == nil || !slices.Equal(sink.texts, []string{"RIFF"}) || sink.body != "" {
		t.Fatalf("error %v, told of %q, body %q", ex.Err, sink.texts, sink.body)
	}
	if got := rawTexts(ex.Raw); !slices.Equal(got, []string{"RIFF"}) {
		t.Errorf("kept %q", got)
	}
}
