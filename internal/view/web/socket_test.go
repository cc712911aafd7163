package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"aiperf/internal/publish/progress"
)

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// bus is a WebSocket client.
type bus struct {
	t    testing.TB
	conn *websocket.Conn
	ctx  context.Context
}

func dial(t testing.TB, v *View) *bus {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	conn, reply, err := websocket.Dial(ctx, "ws://"+v.servers[0].Host()+"/ws", nil)
	if err != nil {
		t.Fatal(err, reply)
	}
	conn.SetReadLimit(16 << 20)
	t.Cleanup(func() {
		conn.CloseNow()
		cancel()
	})
	return &bus{t, conn, ctx}
}

func (b *bus) say(text string) {
	b.t.Helper()
	if err := b.conn.Write(b.ctx, websocket.MessageText, []byte(text)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bus) hear() map[string]any {
	b.t.Helper()
	_, text, err := b.conn.Read(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		b.t.Fatal(err)
	}
	return o
}

// subscribe subscribes to types of messages and waits for the answer.
func (b *bus) subscribe(types ...string) {
	b.t.Helper()
	text, _ := json.Marshal(map[string]any{"type": "subscribe", "message_types": types})
	b.say(string(text))
	if o := b.hear(); o["type"] != "subscribed" || len(o["message_types"].([]any)) != len(types) {
		b.t.Fatalf("%v", o)
	}
}

func TestTrapABadSubscriptionIsAnErrorFrameAndNoDisconnect(t *testing.T) {
	v := open(t)
	b := dial(t, v)
	for _, c := range []struct{ say, kind, about string }{
		{`{"type":"subscribe","message_types":"realtime_metrics"}`, "error", "message_types"},
		{`{"type":"subscribe","message_types":[1]}`, "error", "message_types"},
		{`{"type":"subscribe","message_types":null}`, "error", "message_types"},
		{`nonsense`, "error", "Invalid JSON"}, {`{"type":"subscribe"`, "error", "Invalid JSON"},
		{`[1]`, "error", "object"}, {`null`, "error", "object"}, {`"x"`, "error", "object"},
		{`{"type":"ping"}`, "pong", ""},
		{`{"type":"subscribe","message_types":["a"]}`, "subscribed", ""},
		{`{"type":"unsubscribe","message_types":["a"]}`, "unsubscribed", ""},
		{`{"type":"subscribe"}`, "subscribed", ""},
	} {
		b.say(c.say)
		o := b.hear()
		message, _ := o["message"].(string)
		if o["type"] != c.kind || !strings.Contains(message, c.about) {
			t.Errorf("%s: %v", c.say, o)
		}
	}
	// Unknown types have no answer: that of the ping comes next.
	for _, text := range []string{`{"type":"what"}`, `{"a":1}`, `{"type":7}`} {
		b.say(text)
	}
	b.say(`{"type":"ping"}`)
	if o := b.hear(); o["type"] != "pong" {
		t.Errorf("%v", o)
	}
}

func TestSilentReadersShutNobodyOut(t *testing.T) {
	v := open(t, func(o *Options) { o.Sockets = 20 })
	host := v.servers[0].Host()
	const upgrade = "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	for _, c := range []struct {
		request           string
		taken, most, seen int
	}{
		{"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n", http.StatusOK, maxPages, 0},
		// A client that is turned away is accepted and closed by the protocol.
		{upgrade, http.StatusSwitchingProtocols, 20 + maxFarewells, 0},
	} {
		for range c.most + 50 {
			nc, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			nc.SetDeadline(time.Now().Add(time.Minute))
			io.WriteString(nc, c.request)
			in := bufio.NewReader(nc)
			reply, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if reply.StatusCode == c.taken {
				c.seen++
				continue
			}
			if reply.StatusCode != http.StatusServiceUnavailable || reply.Header.Get("Retry-After") == "" {
				t.Fatalf("%s: %s %v", c.request, reply.Status, reply.Header)
			}
			io.Copy(io.Discard, reply.Body)
			if _, err := in.ReadByte(); err != io.EOF {
				t.Fatalf("a refused client keeps its connection: %v", err)
			}
		}
		// On a slow machine clients that are turned away are gone before others come.
		if c.seen < c.most || c.taken == http.StatusOK && c.seen != c.most {
			t.Errorf("%d of %d clients: %s", c.seen, c.most+50, c.request)
		}
		if reply, _ := ask(t, v, "GET", "/api/progress"); reply.StatusCode != http.StatusOK {
			t.Error(reply.Status)
		}
	}
}

func TestTrapTheClientBeyondTheLimitIsClosedWith1013(t *testing.T) {
	v := open(t) // a limit of 100
	var clients []*bus
	for range 100 {
		b := dial(t, v)
		b.say(`{"type":"ping"}`)
		b.hear()
		clients = append(clients, b)
	}
	one := dial(t, v)
	if _, _, err := one.conn.Read(one.ctx); websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
		t.Errorf("%v", err)
	}
	// One that leaves makes room.
	clients[0].conn.Close(websocket.StatusNormalClosure, "")
	for {
		b := dial(t, v)
		if err := b.conn.Write(b.ctx, websocket.MessageText, []byte(`{"type":"ping"}`)); err == nil {
			if _, _, err = b.conn.Read(b.ctx); err == nil {
				return
			}
		}
		b.conn.CloseNow()
	}
}

// TestEveryMessageComes runs a whole run with a client that wants all, and with one that wants two types.
func TestEveryMessageComes(t *testing.T) {
	v, c := open(t), newChat(t)
	all, some := dial(t, v), dial(t, v)
	all.subscribe("*")
	some.subscribe("realtime_metrics", "benchmark_complete")
	v.Begin(c.run)
	changed := func(state progress.PhaseState, index int) {
		s := c.snapshot(40, progress.Profiling, state)
		v.PhaseChanged(&s.Phases[index])
	}
	changed(progress.PhaseStarted, 1)
	c.send(v, 40)
	v.Show(c.snapshot(40, progress.Profiling, progress.PhaseStarted))
	changed(progress.PhaseSendingComplete, 1)
	changed(progress.PhaseComplete, 1)
	v.Show(c.snapshot(40, progress.Exporting, progress.PhaseComplete))
	c.end(v, false, false)
	v.Finish()
	seen := map[string]map[string]any{}
	var states []string
	for {
		o := all.hear()
		kind, _ := o["message_type"].(string)
		if o["service_id"] == "" || o["request_ns"] == nil || kind == "" {
			t.Errorf("%v", o)
		}
		seen[kind] = o
		if kind == "system_state_changed" {
			states = append(states, o["state"].(string))
			if o["state"] == "shutdown" {
				break
			}
		}
	}
	for _, m := range messages {
		if seen[m.Type] == nil {
			t.Errorf("no %s", m.Type)
		}
	}
	if want := []string{"ready", "profiling", "processing", "stopping", "shutdown"}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
	for _, c := range []struct {
		path []string
		want any
	}{
		{[]string{"credit_phase_start", "stats", "phase_name"}, "profiling"},
		{[]string{"credit_phase_start", "config", "total_expected_requests"}, 100.0},
		{[]string{"credit_phase_complete", "stats", "final_requests_completed"}, 40.0},
		{[]string{"server_metrics_status", "enabled"}, true}, {[]string{"telemetry_status", "enabled"}, false},
		{[]string{"benchmark_complete", "was_cancelled"}, false},
		{[]string{"results_exported", "artifact_dir"}, c.run.Dir},
		{[]string{"process_records_result", "results", "results", "completed"}, 40.0},
		{[]string{"realtime_server_metrics", "snapshot", "server_requests_running"}, 3.0},
	} {
		var o any = seen[c.path[0]]
		if got := at(t, o, c.path[1:]...); got != c.want {
			t.Errorf("%v: %v, want %v", c.path, got, c.want)
		}
	}
	stats := at(t, any(seen["credit_phase_complete"]), "stats").(map[string]any)
	if stats["requests_end_ns"] == nil || stats["sent_end_ns"] == nil {
		t.Errorf("a complete phase has no end: %v", stats)
	}
	var kinds []string
	for !slices.Contains(kinds, "benchmark_complete") {
		kinds = append(kinds, some.hear()["message_type"].(string))
	}
	for _, k := range kinds {
		if k != "realtime_metrics" && k != "benchmark_complete" {
			t.Errorf("%s was not subscribed to", k)
		}
	}
}

func TestClientsGetTheLastMessagesAndAreToldOfTheEnd(t *testing.T) {
	v, c := running(t)
	b := dial(t, v)
	b.subscribe("benchmark_complete")
	c.end(v, true, false)
	v.Finish()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		v.Close(20 * time.Second)
	}()
	if o := b.hear(); o["message_type"] != "benchmark_complete" || o["was_cancelled"] != true {
		t.Errorf("%v", o)
	}
	if _, _, err := b.conn.Read(b.ctx); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("%v", err)
	}
	<-closed
}

func TestAWebSocketOfAnotherOriginIsRefused(t *testing.T) {
	v := open(t, func(o *Options) { o.Origins = []string{"https://a.example", "http://b.example:81"} })
	for origin, want := range map[string]int{"https://a.example": 101, "http://b.example:81": 101,
		"http://" + v.servers[0].Host(): 101, "https://evil.example": 403, "http://a.example": 403,
		"http://b.example": 403} {
		conn, reply, err := websocket.Dial(t.Context(), "ws://"+v.servers[0].Host()+"/ws",
			&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
		if err == nil {
			conn.CloseNow()
		}
		if reply == nil || reply.StatusCode != want {
			t.Errorf("%s: %v %v", origin, reply, err)
		}
	}
}

// A client that stops reading, as a suspended browser does, is dropped; the view and the other clients go on.
func TestTrapASuspendedClientIsDroppedAndDelaysNobody(t *testing.T) {
	v, c := running(t)
	conn, err := net.Dial("tcp", v.servers[0].Host())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(conn, "GET /live HTTP/1.1\r\nHost: %s\r\n\r\n", v.servers[0].Host())
	head := make([]byte, 12)
	if _, err := conn.Read(head); err != nil || string(head) != "HTTP/1.1 200" {
		t.Fatal(string(head), err)
	}
	good := follow(t, v)
	good.until("hello")
	if n := v.events.count.Load(); n != 2 {
		t.Fatalf("%d clients", n)
	}
	// Each message is large, so that the buffers of the connection are soon full.
	big := progress.ErrorKind{Type: strings.Repeat("x", 1<<20), Count: 1}
	dropped := false
	for i := 0; i < 200 && !dropped; i++ {
		s := c.snapshot(int64(i), progress.Profiling, progress.PhaseStarted)
		s.Errors = []progress.ErrorKind{big}
		v.mu.Lock()
		v.take(s)
		v.update(time.Now())
		v.mu.Unlock()
		if at(t, at(t, good.until("update"), "errors").([]any)[0], "count") != 1.0 {
			t.Fatal("the other client misses an update")
		}
		dropped = v.events.count.Load() == 1
	}
	if !dropped {
		t.Error("a client that does not read is still there after 200 messages of 1 MiB")
	}
	c.end(v, false, false)
	if at(t, good.until("update"), "end", "status") != "complete" {
		t.Error("the other client does not learn of the end")
	}
}
