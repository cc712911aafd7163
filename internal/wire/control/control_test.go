package control_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/control"
)

// script answers requests: each address has a list of replies, the last of which stays.
type script struct {
	replies map[string][]string
	asked   []string
	starts  []time.Duration
	begun   time.Time
}

func (s *script) Send(ctx context.Context, r *client.Request, sink client.Sink) client.Exchange {
	if s.begun.IsZero() {
		s.begun = time.Now()
	}
	key := r.Method + " " + r.URL
	s.asked = append(s.asked, key)
	s.starts = append(s.starts, time.Since(s.begun))
	list := s.replies[key]
	if len(list) == 0 {
		return client.Exchange{Err: &record.Error{Type: "ClientConnectorError", Message: "Cannot connect to host"}}
	}
	now := list[0]
	if len(list) > 1 {
		s.replies[key] = list[1:]
	}
	if now == "hang" {
		<-ctx.Done()
		return client.Exchange{CutOff: true, Err: &record.Error{Message: "cut off"}}
	}
	var status int
	var body string
	fmt.Sscanf(now, "%d", &status)
	if _, rest, ok := strings.Cut(now, " "); ok {
		body = rest
	}
	if status >= 300 {
		return client.Exchange{Status: status, Err: &record.Error{Code: status, HasCode: true, Message: body}}
	}
	sink.Body("application/json", false, []byte(body), 1)
	return client.Exchange{Status: status, Responses: 1}
}

func options(s *script) control.Options {
	return control.Options{Sender: s, Headers: func(string, bool, string) []record.Header { return nil }}
}

const (
	models = "GET http://h:1/v1/models"
	infer  = "POST http://h:1/v1/chat/completions"
)

func TestWaitingForAServer(t *testing.T) {
	list := `200 {"data":[{"id":"m"}]}`
	const dynamo, ready = `200 {"data":[{"id":"m","owned_by":"nvidia"}]}`, models + "/m/ready"
	for _, c := range []struct {
		name    string
		mode    control.Mode
		replies map[string][]string
		asked   []string
		after   time.Duration
		fault   string
	}{
		{"ready at once", control.Inference, map[string][]string{infer: {"200 {}"}}, []string{infer}, 0, ""},
		{"a server that comes up", control.Inference, map[string][]string{infer: {"503 starting", "500", "200"}},
			[]string{infer, infer, infer}, 10 * time.Second, ""},
		{"a request that is refused for its content shows a server that works", control.Inference,
			map[string][]string{infer: {"400 bad"}}, []string{infer}, 0, ""},
		{"too many requests is an answer", control.Inference, map[string][]string{infer: {"429"}}, []string{infer}, 0, ""},
		{"refused credentials end the wait", control.Inference, map[string][]string{infer: {"503", "401 no"}},
			[]string{infer, infer}, 5 * time.Second, "rejects the credentials"},
		{"a missing path is asked for to the end and named", control.Inference, map[string][]string{infer: {"404"}},
			slices.Repeat([]string{infer}, 5), 20 * time.Second, "/v1/chat/completions returned 404"},
		{"nobody there", control.Inference, map[string][]string{}, slices.Repeat([]string{infer}, 5), 20 * time.Second,
			"Cannot connect"},
		{"a server that never answers", control.Inference, map[string][]string{infer: {"hang"}}, []string{infer},
			20 * time.Second, "no answer within"},
		{"the last answer is named, not that the last question had no time left", control.Inference,
			map[string][]string{infer: {"503", "404", "hang"}}, []string{infer, infer, infer}, 20 * time.Second,
			"/v1/chat/completions returned 404"},
		{"the model is listed", control.Models, map[string][]string{models: {list}}, []string{models}, 0, ""},
		{"the model is listed later", control.Models, map[string][]string{models: {`200 {"data":[]}`, list}},
			[]string{models, models}, 5 * time.Second, ""},
		{"another model is listed", control.Models, map[string][]string{models: {`200 {"data":[{"id":"x"}]}`}},
			slices.Repeat([]string{models}, 5), 20 * time.Second, "model 'm' not yet in http"},
		{"no list: a request instead", control.Models, map[string][]string{models: {"404"}, infer: {"200"}},
			[]string{models, infer}, 0, ""},
		{"no list of this shape", control.Models, map[string][]string{models: {"200 hello"}},
			slices.Repeat([]string{models}, 5), 20 * time.Second, "does not answer with a list of models"},
		{"a model of Dynamo that has no worker yet", control.Models, map[string][]string{models: {dynamo},
			ready: {`200 {"model":"m","ready":false}`, "503 {}", `200 {"model":"m","ready":true}`}},
			[]string{models, ready, models, ready, models, ready}, 10 * time.Second, ""},
		{"a model of Dynamo without workers", control.Models, map[string][]string{models: {dynamo},
			ready: {`200 {"model":"m","ready":false}`}}, slices.Repeat([]string{models, ready}, 5), 20 * time.Second,
			"is not ready"},
		{"a Dynamo that does not say", control.Models, map[string][]string{models: {dynamo}, ready: {"404 {}"}},
			[]string{models, ready}, 0, ""},
		{"both in turn", control.Both, map[string][]string{models: {"503", list}, infer: {"503", "200"}},
			[]string{models, models, infer, infer}, 10 * time.Second, ""},
		{"both with no list", control.Both, map[string][]string{models: {"404"}, infer: {"200"}}, []string{models, infer}, 0,
			""},
		{"a list that is forbidden", control.Models, map[string][]string{models: {"403"}}, []string{models}, 0,
			"rejects the credentials"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{replies: c.replies}
				begun := time.Now()
				err := options(s).WaitReady(t.Context(), control.Readiness{
					Mode: c.mode, Timeout: 20 * time.Second, Interval: 5 * time.Second,
					Bases: []string{"http://h:1/v1"}, Inference: []string{"http://h:1/v1/chat/completions"},
					Models: []string{"m"}, Probes: []control.Probe{{Model: "m", Body: []byte("{}")}},
				})
				if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
					t.Errorf("error %v, want %q", err, c.fault)
				}
				if !slices.Equal(s.asked, c.asked) {
					t.Errorf("asked %q, want %q", s.asked, c.asked)
				}
				if took := time.Since(begun).Round(10 * time.Millisecond); took != c.after {
					t.Errorf("took %s, want %s", took, c.after)
				}
			})
		})
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		s := &script{replies: map[string][]string{infer: {"503"}}}
		err := options(s).WaitReady(ctx, control.Readiness{Mode: control.Inference, Timeout: time.Hour, Interval: time.Minute,
			Bases: []string{"http://h:1"}, Inference: []string{"http://h:1/v1/chat/completions"}, Probes: []control.Probe{{}}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestMessagesHoldNoPassword(t *testing.T) {
	s := &script{replies: map[string][]string{}}
	err := options(s).WaitReady(t.Context(),
		control.Readiness{Mode: control.Models, Timeout: time.Nanosecond, Interval: time.Nanosecond,
			Bases: []string{"http://joe:pw@h:1"}, Inference: []string{""}})
	if err == nil || strings.Contains(err.Error(), "pw") {
		t.Errorf("error %v", err)
	}
}

func TestTrapCacheResetIsRetriedOnlyWhileTheServerIsBusy(t *testing.T) {
	const at = "POST http://h:1/reset_prefix_cache"
	for _, c := range []struct {
		name    string
		replies []string
		starts  []time.Duration
		fault   string
	}{
		{"done", []string{"200"}, []time.Duration{0}, ""},
		{"busy, then done", []string{"409", "423", "429", "503", "503", "200"}, []time.Duration{0, 1, 3, 7, 15, 23},
			""},
		{"not there", []string{"404"}, []time.Duration{0}, "404 Not Found; vLLM has this path only with VLLM_SERVER_DEV_MODE=1"},
		{"broken", []string{"500 oops"}, []time.Duration{0}, "oops"},
		{"busy for ever: 55 + 8 would be too late", []string{"503"},
			[]time.Duration{0, 1, 3, 7, 15, 23, 31, 39, 47, 55}, "within 1m0s"},
		{"no answer", []string{"hang"}, []time.Duration{0}, "no answer within 30s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{replies: map[string][]string{at: c.replies}}
				err := options(s).ResetCache(t.Context(),
					control.Hook{Origins: []string{"http://h:1"}, Path: "/reset_prefix_cache", Timeout: 30 * time.Second,
						Retry: time.Minute})
				if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
					t.Errorf("error %v, want %q", err, c.fault)
				}
				var starts []time.Duration
				for _, at := range s.starts {
					starts = append(starts, at/time.Second)
				}
				if !slices.Equal(starts, c.starts) {
					t.Errorf("asked at %d, want %d seconds", starts, c.starts)
				}
			})
		})
	}
}

func TestTrapProfilersThatStartedAreStoppedInReverse(t *testing.T) {
	s := &script{replies: map[string][]string{
		"POST http://a/start": {"200"}, "POST http://b/start": {"200"}, "POST http://c/start": {"500 no device"},
		"POST http://a/stop": {"200"}, "POST http://b/stop": {"500"},
	}}
	origins := []string{"http://a", "http://b", "http://c", "http://d"}
	start, stop := control.Hook{Origins: origins, Path: "/start", Timeout: time.Second},
		control.Hook{Origins: origins, Path: "/stop", Timeout: time.Second}
	err := options(s).StartProfiler(t.Context(), start, stop)
	if err == nil || !strings.Contains(err.Error(), "POST http://c/start: 500") ||
		!strings.Contains(err.Error(), "no device") {
		t.Errorf("error %v", err)
	}
	want := []string{"POST http://a/start", "POST http://b/start", "POST http://c/start", "POST http://b/stop",
		"POST http://a/stop"}
	if !slices.Equal(s.asked, want) {
		t.Errorf("asked %q, want %q", s.asked, want)
	}
}

func TestStoppingTriesAllAndReportsAll(t *testing.T) {
	s := &script{replies: map[string][]string{"POST http://a/stop": {"500"}, "POST http://b/stop": {"200"},
		"POST http://c/stop": {"404"}}}
	err := options(s).StopProfiler(t.Context(),
		control.Hook{Origins: []string{"http://a", "http://b", "http://c"}, Path: "/stop", Timeout: time.Second})
	if err == nil || !strings.Contains(err.Error(), "http://a/stop") ||
		!strings.Contains(err.Error(), "http://c/stop") || len(s.asked) != 3 {
		t.Errorf("error %v, asked %q", err, s.asked)
	}
}

func TestOriginsAreDistinctAndWithoutPath(t *testing.T) {
	got, err := control.Origins([]string{"http://a:1/v1?x=1", "HTTP://a:1/other", "https://a:1", "http://u:p@b"})
	if want := []string{"http://a:1", "https://a:1", "http://u:p@b"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// A server may repeat the request's key in what it answers to a failed request.
func TestSecretsOfAnswersAreHidden(t *testing.T) {
	s := &script{replies: map[string][]string{"POST http://a/stop": {"401 bad key sk-1"}}}
	o := options(s)
	o.Redact = func(text string) string { return strings.ReplaceAll(text, "sk-1", "<redacted>") }
	err := o.StopProfiler(t.Context(), control.Hook{Origins: []string{"http://a"}, Path: "/stop", Timeout: time.Second})
	if err == nil || !strings.Contains(err.Error(), "bad key <redacted>") {
		t.Errorf("error %v", err)
	}
}

// What a frontend of Dynamo 1.6 says of its workers.
func TestWorkersOfDynamo(t *testing.T) {
	const health = `{"status":"healthy","instances":[` +
		`{"component":"backend","endpoint":"generate","instance_id":16277008725155304460,"transport":{"tcp":"h:43937/e1/x/generate"}},` +
		`{"component":"backend","endpoint":"worker_kv_query_source_1","instance_id":16277008725155304460,"transport":{"tcp":"h:4/e1"}},` +
		`{"component":"backend","endpoint":"generate","instance_id":10,"transport":{"nats":"x"}}]}`
	s := &script{replies: map[string][]string{"GET http://h:1/health": {"200 " + health}}}
	got := options(s).Workers(t.Context(), "http://h:1/v1")
	if want := []control.Worker{{ID: "e1e38d323cd0d40c", Address: "h:43937"}, {ID: "a"}}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for _, reply := range []string{"200 OK", "404", `200 {"status":"ok"}`} {
		s = &script{replies: map[string][]string{"GET http://h:1/health": {reply}}}
		if got := options(s).Workers(t.Context(), "http://h:1"); got != nil {
			t.Errorf("%s: %v", reply, got)
		}
	}
}
