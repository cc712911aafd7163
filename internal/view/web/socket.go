package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"aiperf/internal/base/artifact"
	"aiperf/internal/publish/progress"
)

const (
	// maxFrame bounds a message of a client.
	maxFrame = 64 << 10
	// everything subscribes to all types of messages.
	everything = "*"
	// busInterval is the time between two messages about what goes on.
	busInterval = time.Second
)

// socketHub are the WebSocket clients.
type socketHub struct {
	hub
	// farewells are the clients that are being turned away.
	farewells atomic.Int32
	told      time.Time
	figures   *progress.Figures
	gpus      *progress.GPU
}

// subscriber is a WebSocket client.
type subscriber struct {
	mu     sync.Mutex
	types  map[string]bool
	active atomic.Bool
}

func (s *subscriber) wants(kind string) bool {
	if !s.active.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.types[kind] || s.types[everything]
}

// change subscribes to types, or takes that back.
func (s *subscriber) change(types []string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range types {
		if !on {
			delete(s.types, t)
		} else if t == everything || isMessage(t) { // others are never sent, and a client could send names without end
			s.types[t] = true
		}
	}
	s.active.Store(len(s.types) > 0)
}

// socket serves a WebSocket client.
func (v *View) socket(w http.ResponseWriter, r *http.Request) {
	own := &subscriber{types: map[string]bool{}}
	c := v.sockets.join(v.o.Sockets, nil)
	if c == nil {
		v.turnAway(w, r)
		return
	}
	defer v.sockets.leave(c)
	v.sockets.subscribe(c, own.wants)
	conn, err := websocket.Accept(w, r, v.acceptOptions())
	if err != nil {
		return // it has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxFrame)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	answers := make(chan []byte, mailbox)
	go func() {
		defer cancel()
		for {
			kind, text, err := conn.Read(ctx)
			if err != nil {
				return
			}
			if kind != websocket.MessageText && kind != websocket.MessageBinary {
				continue
			}
			if answer := own.answer(text); answer != nil {
				select {
				case answers <- answer:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	write := func(text []byte) bool {
		limit, done := context.WithTimeout(ctx, writePatience)
		defer done()
		return conn.Write(limit, websocket.MessageText, text) == nil
	}
	for {
		select {
		case text := <-answers:
			if !write(text) {
				return
			}
		case text, open := <-c.messages:
			if !open {
				_ = conn.Close(websocket.StatusGoingAway, "aiperf ends")
				return
			}
			if !write(text) {
				return
			}
		case <-c.gone:
			return // it reads too slowly
		case <-ctx.Done():
			return
		}
	}
}

// subscribe sets which messages a client wants.
func (h *socketHub) subscribe(c *client, wants func(string) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.wants = wants
}

func (v *View) acceptOptions() *websocket.AcceptOptions {
	o := &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled}
	for _, origin := range v.o.Origins {
		if origin == everything {
			o.InsecureSkipVerify = true
		}
		o.OriginPatterns = append(o.OriginPatterns, origin)
	}
	return o
}

// turnAway closes the connection of a client that is one too many: with a status of the protocol, for which it waits
// for
// the client, or by a refusal where many are waited for.
func (v *View) turnAway(w http.ResponseWriter, r *http.Request) {
	defer v.sockets.farewells.Add(-1)
	if v.sockets.farewells.Add(1) > maxFarewells {
		tooMany(w, "too many clients")
		return
	}
	conn, err := websocket.Accept(w, r, v.acceptOptions())
	if err != nil {
		return
	}
	_ = conn.Close(websocket.StatusTryAgainLater, "too many clients")
}

// answer handles a message of a client and returns the reply, nil for none.
func (s *subscriber) answer(text []byte) []byte {
	fail := func(why string) []byte {
		return frame(artifact.Object{member("type", "error"), member("message", why)})
	}
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		return fail("Invalid JSON: " + err.Error())
	}
	var message struct {
		Type  json.RawMessage `json:"type"`
		Types json.RawMessage `json:"message_types"`
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(text, &message); errors.As(err, &wrong) || string(any) == "null" {
		return fail("The message must be a JSON object")
	}
	var kind string
	_ = json.Unmarshal(message.Type, &kind)
	switch kind {
	case "ping":
		return frame(artifact.Object{member("type", "pong")})
	case "subscribe", "unsubscribe":
		types := []string{}
		if message.Types != nil {
			if err := json.Unmarshal(message.Types, &types); err != nil || types == nil {
				return fail("message_types must be a list of strings")
			}
		}
		s.change(types, kind == "subscribe")
		return frame(artifact.Object{member("type", kind+"d"), member("message_types", types)})
	}
	return nil
}

func frame(o artifact.Object) []byte {
	text, err := artifact.AppendJSON(nil, o)
	if err != nil {
		panic(err) // the values are numbers and texts
	}
	return text
}

// message is a row of the table of messages: its type and what it says.
type message struct{ Type, Summary string }

// messages are those that a client can subscribe to.
var messages = []message{
	{"dataset_configured_notification", "The data set is made: client_metadata.conversation_count."},
	{"server_metrics_status",
		"Which metrics pages of servers were found: enabled, endpoints_configured, endpoints_reachable."},
	{"telemetry_status", "The same of the sources of GPU telemetry."},
	{"credit_phases_configured", "What each phase is asked to do: configs."},
	{"credit_phase_start", "A phase begins: stats, config."},
	{"credit_phase_progress", "Where a phase stands, once a second: stats."},
	{"credit_phase_sending_complete", "A phase has sent its last request: stats."},
	{"credit_phase_complete", "All replies of a phase are there: stats."},
	{"credits_complete", "The last phase is over."},
	{"processing_stats", "The records of the phase under way, once a second: processing_stats, worker_stats."},
	{"realtime_metrics",
		"The figures so far, once a second and at the end: metrics, each with tag, header, unit and statistics."},
	{"realtime_server_metrics", "The newest figures of the servers: snapshot."},
	{"realtime_telemetry_metrics", "The newest values of the GPUs: metrics."},
	{"worker_status_summary", "The workers, once a second: worker_statuses, worker_startup_states."},
	{"worker_health", "The process, once a second: health, task_stats."},
	{"worker_group_stats", "The group of workers, once a second: group_id, stats."},
	{"system_state_changed", "state: configuring, ready, profiling, processing, stopping or shutdown."},
	{"all_records_received", "There are no more records: final_processing_stats."},
	{"process_records_result", "The results: results."},
	{"results_exported", "The files are written: artifact_dir."},
	{"benchmark_complete", "The run is over: was_cancelled."},
	{"heartbeat", "A sign of life, once a second."},
}

// isMessage reports whether there is a type of messages with a name.
func isMessage(kind string) bool {
	return slices.ContainsFunc(messages, func(m message) bool { return m.Type == kind })
}

// tell sends a message of a type, made only if somebody wants it.
func (v *View) tell(kind, service string, make func() artifact.Object) {
	if !isMessage(kind) {
		panic("no message type " + kind)
	}
	if !v.sockets.wanted(kind) {
		return
	}
	o := artifact.Object{member("message_type", kind), member("service_id", service),
		member("request_ns", time.Now().UnixNano())}
	v.sockets.send(kind, frame(append(o, make()...)))
}

// wanted reports whether a client wants messages of a type.
func (h *socketHub) wanted(kind string) bool {
	if !h.any() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		if c.wants != nil && c.wants(kind) {
			return true
		}
	}
	return false
}

// enter notes the state of the program; the view is locked.
func (v *View) enter(state string) {
	if v.system == state {
		return
	}
	v.system = state
	v.tell("system_state_changed", "system_controller", func() artifact.Object {
		return artifact.Object{member("state", state)}
	})
}

// publishPhase tells of a change of a phase; the view is locked.
func (v *View) publishPhase(p *progress.Phase) {
	kinds := map[progress.PhaseState]string{progress.PhaseStarted: "credit_phase_start",
		progress.PhaseSendingComplete: "credit_phase_sending_complete", progress.PhaseComplete: "credit_phase_complete"}
	kind := kinds[p.State]
	if kind == "" || v.run == nil {
		return
	}
	now := time.Now()
	if v.snapshot == nil {
		v.snapshot = &progress.Snapshot{At: now}
	}
	v.date(p, now)
	v.tell(kind, "timing_manager", func() artifact.Object {
		o := artifact.Object{member("stats", v.told(p))}
		if p.State == progress.PhaseStarted && p.Index < len(v.run.Phases) {
			o = append(o, member("config", planObject(v.run.Phases, p.Index)))
		}
		return o
	})
	if p.State == progress.PhaseComplete && p.Index == len(v.run.Phases)-1 {
		v.tell("credits_complete", "timing_manager", func() artifact.Object { return nil })
	}
}

// told are the numbers of a phase as messages have them: without those that are not known.
func (v *View) told(p *progress.Phase) artifact.Object { return withoutNulls(v.phaseStats(p)) }

func withoutNulls(o artifact.Object) artifact.Object {
	return slices.DeleteFunc(o, func(m artifact.Member) bool { return m.Value == nil })
}

// planObject is what a phase is asked to do, in the terms of the messages.
func planObject(phases []progress.Plan, index int) artifact.Object {
	p := &phases[index]
	o := artifact.Object{member("phase", p.Kind), member("phase_index", index), member("phase_name", p.Name),
		member("phase_kind", p.Kind), member("type", p.Type)}
	if p.Requests != nil {
		o = append(o, member("total_expected_requests", *p.Requests))
	}
	if p.Duration != nil {
		o = append(o, member("expected_duration_sec", p.Duration.Seconds()))
	}
	if p.Grace != nil {
		o = append(o, member("grace_period_sec", p.Grace.Seconds()))
	}
	if p.Concurrency != nil {
		o = append(o, member("concurrency", *p.Concurrency))
	}
	if p.PrefillConcurrency != nil {
		o = append(o, member("prefill_concurrency", *p.PrefillConcurrency))
	}
	if p.Rate > 0 {
		o = append(o, member("request_rate", p.Rate))
	}
	return o
}

// publishBegin tells of what is known before the first request; the view is locked.
func (v *View) publishBegin() {
	v.tell("dataset_configured_notification", "dataset_manager", func() artifact.Object {
		return artifact.Object{
			member("client_metadata", artifact.Object{member("conversation_count", v.run.Conversations)}),
			member("benchmark_generation", v.run.BenchmarkID)}
	})
	for _, s := range []struct {
		kind, service string
		of            progress.Sources
	}{{"server_metrics_status", "server_metrics_manager", v.run.Servers},
		{"telemetry_status", "gpu_telemetry_manager", v.run.GPUs}} {
		v.tell(s.kind, s.service, func() artifact.Object {
			return artifact.Object{member("enabled", len(s.of.Reachable) > 0),
				member("endpoints_configured", append([]string{}, s.of.Configured...)),
				member("endpoints_reachable", append([]string{}, s.of.Reachable...))}
		})
	}
	v.tell("credit_phases_configured", "timing_manager", func() artifact.Object {
		list := make([]any, len(v.run.Phases))
		for i := range v.run.Phases {
			list[i] = planObject(v.run.Phases, i)
		}
		return artifact.Object{member("configs", list)}
	})
}

// publishProgress tells of what goes on; the view is locked.
func (v *View) publishProgress(now time.Time) {
	if !v.sockets.any() || v.snapshot == nil || v.run == nil || now.Sub(v.sockets.told) < busInterval {
		return
	}
	v.sockets.told = now
	v.tell("heartbeat", "api", func() artifact.Object {
		return artifact.Object{member("state", "running"), member("service_type", "api")}
	})
	for i := range v.snapshot.Phases {
		p := &v.snapshot.Phases[i]
		if p.State != progress.PhaseStarted && p.State != progress.PhaseSendingComplete {
			continue
		}
		v.tell("credit_phase_progress", "timing_manager", func() artifact.Object {
			return artifact.Object{member("stats", v.told(p))}
		})
	}
	if p := v.snapshot.Current(); p != nil {
		v.tell("processing_stats", "records_manager", func() artifact.Object {
			return artifact.Object{member("processing_stats", v.told(p)),
				member("worker_stats", artifact.Object{member(workerID, v.processingObject())})}
		})
	}
	v.tell("worker_status_summary", "worker_manager", func() artifact.Object {
		return artifact.Object{member("worker_statuses", artifact.Object{member(workerID, v.workerStatus())}),
			member("worker_startup_states", artifact.Object{member(workerID, v.startupState())})}
	})
	v.tell("worker_group_stats", "worker_manager", func() artifact.Object {
		return artifact.Object{member("group_id", groupID), member("stats", v.groupObject())}
	})
	v.tell("worker_health", workerID, func() artifact.Object {
		return artifact.Object{member("health", v.healthObject()), member("task_stats", v.taskObject())}
	})
	if f := v.snapshot.Figures; f != nil && f != v.sockets.figures {
		v.sockets.figures = f
		v.tell("realtime_metrics", "records_manager", func() artifact.Object {
			return artifact.Object{member("metrics", v.metricList())}
		})
		if len(f.Servers) > 0 {
			v.tell("realtime_server_metrics", "server_metrics_manager", v.serversDocument)
		}
	}
	if g := first(v.snapshot.GPUs); g != nil && g != v.sockets.gpus {
		v.sockets.gpus = g
		v.tell("realtime_telemetry_metrics", "gpu_telemetry_manager", func() artifact.Object {
			return artifact.Object{member("metrics", telemetryList(v.snapshot.GPUs))}
		})
	}
}

// metricList are the newest figures as the messages have them.
func (v *View) metricList() []any {
	list := []any{}
	results := v.results()
	for i := range results {
		if r := &results[i]; public(r) {
			list = append(list, append(artifact.Object{member("tag", r.Tag), member("header", r.Header),
				member("unit", r.Unit)}, statistics(r)...))
		}
	}
	return list
}

// telemetryList are the values of all GPUs.
func telemetryList(gpus []progress.GPU) []any {
	list := []any{}
	for i := range gpus {
		g := &gpus[i]
		for _, x := range g.Values {
			list = append(list, artifact.Object{member("tag", x.Tag), member("header", x.Header),
				member("unit", x.Unit),
				member("gpu_index", g.Index), member("gpu_model_name", g.Model), member("source", g.Source),
				member("current", x.Now), member("avg", x.Avg), member("min", x.Min), member("max", x.Max),
				member("p50", x.P50), member("p90", x.P90), member("p99", x.P99), member("std", x.Std)})
		}
	}
	return list
}

// publishEnd tells of the end of a run; the view is locked.
func (v *View) publishEnd() {
	v.tell("all_records_received", "records_manager", func() artifact.Object {
		if p := v.snapshot.Current(); p != nil {
			return artifact.Object{member("final_processing_stats", v.told(p))}
		}
		return nil
	})
	if v.ending.HasResults {
		v.tell("process_records_result", "records_manager", func() artifact.Object {
			return artifact.Object{member("results", artifact.Object{member("results", v.resultsObject()),
				member("errors", []any{})})}
		})
		v.tell("realtime_metrics", "records_manager", func() artifact.Object {
			return artifact.Object{member("metrics", v.metricList())}
		})
	}
	v.tell("results_exported", "system_controller", func() artifact.Object {
		return artifact.Object{member("artifact_dir", v.run.Dir)}
	})
	v.tell("benchmark_complete", "system_controller", func() artifact.Object {
		return artifact.Object{member("was_cancelled", v.ending.Cancelled)}
	})
}
