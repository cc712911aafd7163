package mockserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/neterr"
	"aiperf/internal/base/testkit"
)

const tenTokens = `"max_tokens":10,"ignore_eos":true,"stream_options":{"include_usage":true}`

// faulty sends one streaming and one plain request with a fault.
func (s *testServer) faulty(spec string) (stream, plain answer) {
	s.t.Helper()
	return s.post(chatPath, chat(text(5), true, tenTokens), "X-Mock-Fault", spec),
		s.post(chatPath, chat(text(5), false, tenTokens), "X-Mock-Fault", spec)
}

func TestFaultStatus(t *testing.T) {
	s := serve(t, Options{Fast: true})
	stream, plain := s.faulty("status=503")
	for _, a := range []answer{stream, plain} {
		if a.status != 503 || decode(t, a.body).Error == nil || a.contentType != "application/json" {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	stream, plain = s.faulty("status=201")
	if stream.status != 201 || len(stream.events) != 12 || plain.status != 201 || decode(t, plain.body).Usage == nil {
		t.Errorf("%d with %d events, %d %s", stream.status, len(stream.events), plain.status, plain.body)
	}
	if stream, plain = s.faulty("status=204"); stream.status != 204 || plain.status != 204 || plain.body != "" {
		t.Errorf("%d, %d %q", stream.status, plain.status, plain.body)
	}
}

func TestFaultCutAfterEvents(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for _, n := range []int{0, 3, 10, 11, 12} {
		stream, plain := s.faulty(fmt.Sprintf("cut_after_events=%d", n))
		if len(stream.events) != n || stream.err == nil {
			t.Errorf("cut after %d: %d events, error %v", n, len(stream.events), stream.err)
		}
		if plain.err != nil || o200k.Count(assemble(t, plain).content) != 10 {
			t.Errorf("a plain reply is cut: %v", plain.err)
		}
	}
	if stream, _ := s.faulty("cut_after_events=13"); stream.err != nil || len(stream.events) != 12 {
		t.Errorf("%d events, error %v", len(stream.events), stream.err)
	}
}

func TestFaultCutMidEvent(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for spec, whole := range map[string]int{"cut_mid_event": 1, "cut_mid_event;cut_after_events=4": 4,
		"cut_mid_event;cut_after_events=0": 0} {
		stream, plain := s.faulty(spec)
		rest := stream.body[strings.LastIndex(stream.body, "\n\n")+1:]
		if strings.Count(stream.body, "\n\n") != whole || len(strings.TrimSpace(rest)) < 20 || stream.err == nil {
			t.Errorf("%s: %d events, rest %q, error %v", spec, whole, rest, stream.err)
		}
		if plain.err == nil || len(plain.body) == 0 || json.Valid([]byte(plain.body)) {
			t.Errorf("%s: plain body %q, error %v", spec, plain.body, plain.err)
		}
	}
}

func TestFaultError200(t *testing.T) {
	s := serve(t, Options{Fast: true})
	stream, plain := s.faulty("error_200")
	if plain.status != 200 || decode(t, plain.body).Error == nil {
		t.Errorf("%d %s", plain.status, plain.body)
	}
	if stream.status != 200 || len(stream.events) != 2 || decode(t, stream.events[0].data).Error == nil ||
		stream.events[1].data != "[DONE]" || stream.err != nil {
		t.Errorf("%d %+v", stream.status, stream.events)
	}
	stream, _ = s.faulty("error_200;cut_after_events=3")
	if len(stream.events) != 4 || decode(t, stream.events[2].data).Error != nil ||
		decode(t, stream.events[3].data).Error == nil || stream.err == nil {
		t.Errorf("%+v, %v", stream.events, stream.err)
	}
}

func TestFaultMalformedJSON(t *testing.T) {
	s := serve(t, Options{Fast: true})
	stream, plain := s.faulty("malformed_json")
	if plain.err != nil || json.Valid([]byte(plain.body)) || !json.Valid([]byte(plain.body+"}")) {
		t.Errorf("plain %q, %v", plain.body, plain.err)
	}
	for i, e := range stream.events[:11] {
		if json.Valid([]byte(e.data)) != (i > 0) {
			t.Errorf("event %d: %s", i, e.data)
		}
	}
	if len(stream.events) != 12 || stream.err != nil {
		t.Errorf("%d events, error %v", len(stream.events), stream.err)
	}
}

func TestFaultContentType(t *testing.T) {
	s := serve(t, Options{Fast: true})
	stream, plain := s.faulty("content_type=text/html")
	if stream.contentType != "text/html" || plain.contentType != "text/html" || len(stream.events) != 12 {
		t.Errorf("%q, %q", stream.contentType, plain.contentType)
	}
	if _, plain = s.faulty("content_type=text/plain;status=429"); plain.status != 429 ||
		plain.contentType != "text/plain" {
		t.Errorf("%d, %q", plain.status, plain.contentType)
	}
}

func TestFaultDropAfterBytes(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for _, stream := range []bool{false, true} {
		body := chat(text(5), stream, tenTokens)
		for _, n := range []int{0, 1, 100, 400} {
			got := s.raw(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nX-Mock-Fault: "+
				"drop_after_bytes=%d\r\nContent-Length: %d\r\n\r\n%s",
				chatPath, n, len(body), body))
			if len(got) != n {
				t.Errorf("stream %v: %d bytes came, want %d", stream, len(got), n)
			}
		}
	}
}

// A stall is silent until the client leaves, or the server stops.
func TestFaultStall(t *testing.T) {
	for _, spec := range []string{"cut_after_events=0", "cut_after_events=3", "cut_after_events=12", "cut_mid_event",
		"drop_after_bytes=50"} {
		synctest.Test(t, func(t *testing.T) {
			s := servePipe(t, Options{Fast: true})
			cut, err := s.try(chatPath, chat(text(5), true, tenTokens), "X-Mock-Fault", spec)
			ends := make(chan answer)
			go func() {
				stalled, _ := s.try(chatPath, chat(text(5), true, tenTokens), "X-Mock-Fault", spec+";stall")
				ends <- stalled
			}()
			time.Sleep(time.Hour)
			select {
			case a := <-ends:
				t.Errorf("%s: the reply ended: %+v", spec, a)
			default:
			}
			s.stop()
			if stalled := <-ends; err == nil && len(stalled.body) != len(cut.body) {
				t.Errorf("%s: %q came, want %q", spec, stalled.body, cut.body)
			}
		})
	}
}

func TestFaultReset(t *testing.T) {
	if testkit.UnderWine() {
		t.Skip("Wine ends a connection in order that is reset while it is being read")
	}
	s := serve(t, Options{Fast: true})
	for _, spec := range []string{"cut_after_events=3;reset", "cut_mid_event;reset", "drop_after_bytes=300;reset"} {
		stream, plain := s.faulty(spec)
		if !isReset(stream.err) || strings.HasPrefix(spec, "cut_mid_event") && !isReset(plain.err) {
			t.Errorf("%s: stream ends by %v, plain reply by %v", spec, stream.err, plain.err)
		}
	}
	if stream, _ := s.faulty("cut_after_events=3"); isReset(stream.err) {
		t.Error("a cut is a reset unasked")
	}
}

// isReset reports whether the peer reset the connection, in the words of any system or of a pipe.
func isReset(err error) bool {
	if err == nil {
		return false
	}
	_, kind := neterr.Describe(err)
	return kind == "ConnectionResetError" || strings.Contains(err.Error(), "reset")
}

func TestFaultCloseIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{Fast: true})
		nc, _ := s.dial()
		body := chat("x", false)
		start := time.Now()
		fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nHost: x\r\nX-Mock-Fault: close_idle_ms=1500\r\nContent-Length: "+
			"%d\r\n\r\n%s", chatPath, len(body), body)
		got, err := io.ReadAll(nc)
		if took := time.Since(start); err != nil || took != 1500*time.Millisecond ||
			!strings.HasPrefix(string(got), "HTTP/1.1 200") || strings.Contains(string(got), "close") {
			t.Errorf("%q, %v after %v", got, err, took)
		}
		s.stop()
	})
}

func TestFaultTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 20 * time.Millisecond, ITL: 5 * time.Millisecond})
		for spec, want := range map[string]time.Duration{
			"delay_ms=1000":                     1020 * time.Millisecond,
			"slow_headers_ms=700":               700 * time.Millisecond,
			"delay_ms=100;slow_headers_ms=1000": 1100 * time.Millisecond,
		} {
			if a := s.post(chatPath, chat(text(5), true, tenTokens), "X-Mock-Fault", spec); a.events[0].at != want ||
				len(a.events) != 12 {
				t.Errorf("%s: first of %d events at %v, want %v", spec, len(a.events), a.events[0].at, want)
			}
		}
		start := time.Now()
		s.post(chatPath, chat(text(5), false, tenTokens), "X-Mock-Fault", "slow_headers_ms=700")
		if took := time.Since(start); took != 770*time.Millisecond {
			t.Errorf("plain reply with a slow head after %v", took)
		}
		start = time.Now()
		if a := s.post(chatPath, chat(text(5), false), "X-Mock-Fault", "delay_ms=300;status=500"); a.status != 500 ||
			time.Since(start) != 300*time.Millisecond {
			t.Errorf("%d after %v", a.status, time.Since(start))
		}
		s.stop()
	})
}

func TestFaultNeverLastsUntilTheClientLeavesOrTheServerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{})
		body := chat("x", false)
		open := func() net.Conn {
			nc, _ := s.dial()
			fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nHost: x\r\nX-Mock-Fault: never\r\nContent-Length: %d\r\n\r\n%s",
				chatPath, len(body), body)
			return nc
		}
		first, second := open(), open()
		time.Sleep(3 * time.Hour)
		if n := s.srv.inFlight.Load(); n != 2 {
			t.Errorf("%d in flight", n)
		}
		first.Close()
		synctest.Wait()
		if n := s.srv.inFlight.Load(); n != 1 {
			t.Errorf("%d in flight after one left", n)
		}
		start := time.Now()
		s.stop()
		if took := time.Since(start); took != 0 {
			t.Errorf("the stop took %v", took)
		}
		if got, err := io.ReadAll(second); err != nil || len(got) != 0 {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestFaultRate(t *testing.T) {
	count := func() (hit []int) {
		s := serve(t, Options{Fast: true, Fault: "status=503;rate=0.25", Seed: 5})
		for i := range 200 {
			if s.post(chatPath, chat("x", false)).status == 503 {
				hit = append(hit, i)
			}
		}
		return hit
	}
	first := count()
	if len(first) < 25 || len(first) > 75 { // 50 ± 25
		t.Errorf("%d of 200 are hit", len(first))
	}
	if second := count(); fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("another server with the same seed hits others: %v, %v", first, second)
	}
}

func TestFaultOfTheHeaderReplacesThatOfTheServer(t *testing.T) {
	s := serve(t, Options{Fast: true, Fault: "status=503"})
	if a := s.post(chatPath, chat("x", false)); a.status != 503 {
		t.Errorf("status %d", a.status)
	}
	if a := s.post(chatPath, chat("x", false), "X-Mock-Fault", "status=429"); a.status != 429 {
		t.Errorf("status %d", a.status)
	}
	if a := s.post(chatPath, chat("x", false), "X-Mock-Fault", "rate=0"); a.status != 200 {
		t.Errorf("status %d", a.status)
	}
	if a := s.post(chatPath, chat("x", false), "X-Mock-Fault", "bogus"); a.status != 400 ||
		!strings.Contains(a.body, "unknown fault") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.get("/health"); a.status != 200 {
		t.Errorf("health: %d", a.status)
	}
}
