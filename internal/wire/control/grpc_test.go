package control_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/control"
	"aiperf/internal/wire/oip"
)

// calls answers calls of gRPC: each has a list of replies, the last of which stays.
type calls struct {
	replies map[string][]string
	asked   []string
}

func (c *calls) Send(_ context.Context, r *client.Request, sink client.Sink) client.Exchange {
	call := r.URL[strings.LastIndexByte(r.URL, '/')+1:]
	if model, err := oip.ParseModelName(r.Body); err == nil && model != "" && call == "ModelReady" {
		call += " " + model
	}
	c.asked = append(c.asked, call)
	list := c.replies[call]
	if len(list) == 0 {
		return client.Exchange{Status: 501,
			Err: &record.Error{Code: 501, HasCode: true, Type: "UNIMPLEMENTED", Message: "no such call"}}
	}
	if len(list) > 1 {
		c.replies[call] = list[1:]
	}
	switch list[0] {
	case "ready", "not":
		sink.Event(nil, oip.AppendReady(nil, list[0] == "ready"), 1)
		return client.Exchange{Status: 200, Responses: 1}
	case "UNAUTHENTICATED":
		return client.Exchange{Status: 401, Err: &record.Error{Code: 401, HasCode: true, Type: list[0], Message: "no"}}
	}
	return client.Exchange{Status: 503,
		Err: &record.Error{Code: 503, HasCode: true, Type: "UNAVAILABLE", Message: list[0]}}
}

func TestWaitingForAServerOverGRPC(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    control.Mode
		replies map[string][]string
		asked   []string
		after   time.Duration
		fault   string
	}{
		{"ready at once", control.Models, map[string][]string{"ServerReady": {"ready"}, "ModelReady m": {"ready"}},
			[]string{"ServerReady", "ModelReady m"}, 0, ""},
		{"a server that comes up", control.Models,
			map[string][]string{"ServerReady": {"starting", "not", "ready"}, "ModelReady m": {"ready"}},
			[]string{"ServerReady", "ServerReady", "ServerReady", "ModelReady m"}, 10 * time.Second, ""},
		{"a model that comes later", control.Models,
			map[string][]string{"ServerReady": {"ready"}, "ModelReady m": {"not", "ready"}},
			[]string{"ServerReady", "ModelReady m", "ServerReady", "ModelReady m"}, 5 * time.Second, ""},
		{"a model that never comes", control.Models, map[string][]string{"ServerReady": {"ready"}, "ModelReady m": {"not"}},
			nil, 20 * time.Second, "the model m is not ready"},
		{"no such calls: a request instead", control.Models, map[string][]string{"ModelInfer": {"ready"}},
			[]string{"ServerReady", "ModelInfer"}, 0, ""},
		{"refused credentials", control.Models, map[string][]string{"ServerReady": {"UNAUTHENTICATED"}},
			[]string{"ServerReady"}, 0, "rejects the credentials"},
		{"both", control.Both, map[string][]string{"ServerReady": {"ready"}, "ModelReady m": {"ready"},
			"ModelInfer": {"loading", "ready"}},
			[]string{"ServerReady", "ModelReady m", "ModelInfer", "ModelInfer"}, 5 * time.Second, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &calls{replies: c.replies}
				o := control.Options{Sender: s, Headers: func(string, bool, string) []record.Header { return nil }}
				begun := time.Now()
				err := o.WaitReady(t.Context(), control.Readiness{
					Mode: c.mode, Timeout: 20 * time.Second, Interval: 5 * time.Second, GRPC: true,
					Bases: []string{"grpc://h:1"}, Inference: []string{"grpc://h:1" + oip.ModelInfer},
					Models: []string{"m"}, Probes: []control.Probe{{Model: "m"}},
				})
				if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
					t.Errorf("error %v, want %q", err, c.fault)
				}
				if c.asked != nil && !slices.Equal(s.asked, c.asked) {
					t.Errorf("asked %q, want %q", s.asked, c.asked)
				}
				if took := time.Since(begun).Round(10 * time.Millisecond); took != c.after {
					t.Errorf("took %s, want %s", took, c.after)
				}
			})
		})
	}
}
