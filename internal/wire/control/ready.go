package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

// Mode is how a server's readiness is checked.
type Mode string

// The modes.
const (
	// Models asks for the list of models, which must hold those of the run.
	Models Mode = "models"
	// Inference sends a request of one token.
	Inference Mode = "inference"
	// Both asks for the list, then sends the request.
	Both Mode = "both"
)

// Probe is a minimal inference request for one model.
type Probe struct {
	Model, ContentType string
	Stream             bool // a streamed reply is requested
	Body               []byte
}

// Readiness configures WaitReady.
type Readiness struct {
	Mode Mode
	// Timeout bounds the whole wait, over all servers; Interval is the pause between two checks.
	Timeout, Interval time.Duration
	// Bases are the base URLs, Inference the whole addresses of inference; one of each for every server.
	Bases, Inference []string
	// Models are the names that the list of models must hold.
	Models []string
	Probes []Probe
	// GRPC asks for readiness by the calls of the open inference protocol, which has no list of models.
	GRPC bool
}

// Limits of a single check: a server on its way up may take a connection and never answer.
const (
	listLimit  = 10 * time.Second
	probeLimit = 60 * time.Second
)

// WaitReady returns when every server of the run is ready. Its error has the last reply of the
// server that is not.
func (o Options) WaitReady(ctx context.Context, r Readiness) error {
	deadline := time.Now().Add(r.Timeout)
	for i, base := range r.Bases {
		w := waiting{Options: o, r: &r, deadline: deadline, inference: r.Inference[i]}
		var err error
		if w.origin, err = Origin(base); err != nil {
			return err
		}
		if err := w.server(ctx); err != nil {
			return err
		}
		o.log("%s is ready", shown(w.origin))
	}
	return nil
}

// waiting is the wait for one server.
type waiting struct {
	Options
	r                 *Readiness
	deadline          time.Time
	origin, inference string
	// answer is what the server answered last, and cut whether the last question was cut off by the deadline.
	answer string
	cut    bool
}

// A verdict is the result of one check.
type verdict int

const (
	notYet verdict = iota
	isReady
	noList  // the server keeps no list of models
	refused // it will not be ready by waiting
)

// server waits until a server is ready: by its list of models or its health, then by requests for inference. A server
// without a list says nothing of its models, so that a request decides.
func (w *waiting) server(ctx context.Context) error {
	probe := w.r.Mode != Models
	if w.r.Mode != Inference {
		ask := w.listed
		if w.r.GRPC {
			ask = w.saysReady
		}
		last, err := w.until(ctx, ask)
		if err != nil {
			return err
		}
		if last == noList {
			w.log("%s has no list of models; a request is sent instead", shown(w.origin))
			probe = true
		} else {
			for _, name := range w.r.Models {
				w.log("Model '%s' ready at %s", name, shown(w.origin))
			}
		}
	}
	if !probe {
		return nil
	}
	for i := range w.r.Probes {
		p := &w.r.Probes[i]
		if _, err := w.until(ctx, func(ctx context.Context, limit time.Duration) (verdict,
			string) {
			return w.probed(ctx, p, limit)
		}); err != nil {
			return err
		}
		w.log("Inference probe ready: %s (model %s)", shown(w.inference), p.Model)
	}
	return nil
}

// until asks until the answer is more than "not yet", or the time is over.
func (w *waiting) until(ctx context.Context, ask func(context.Context, time.Duration) (verdict, string)) (verdict,
	error) {
	told, lastCall := "", false
	w.answer = ""
	for {
		v, why := notYet, told
		// A machine that is busy may come too late for the last question.
		if left := time.Until(w.deadline); left > 0 || told == "" {
			w.cut = false
			v, why = ask(ctx, max(left, time.Millisecond))
			if !w.cut {
				w.answer = why
			}
		}
		switch {
		case ctx.Err() != nil:
			return v, ctx.Err()
		case v == refused:
			return v, fmt.Errorf("the server %s cannot become ready: %s", shown(w.origin), why)
		case v != notYet:
			return v, nil
		}
		if why != told {
			w.log("Waiting for %s: %s", shown(w.origin), why)
			told = why
		}
		left := time.Until(w.deadline)
		next := w.r.Interval
		switch {
		case lastCall || left <= 0:
			if !pause(ctx, left) {
				return v, ctx.Err()
			}
			if w.answer != "" {
				why = w.answer // not that the last question had no time left
			}
			return v, fmt.Errorf("Timed out: the server %s was not ready within %s: %s; raise --wait-for-model-timeout "+
				"or check the server", shown(w.origin), w.r.Timeout, why)
		case left <= next:
			// The last question leaves some time for its answer.
			lastCall, next = true, max(left/2, left-time.Second)
		}
		if !pause(ctx, next) {
			return v, ctx.Err()
		}
	}
}

// judge is the verdict on a status, as [judge] says. A status that is no success is named in the log.
func (w *waiting) judge(r *reply, address string) (verdict, string) {
	v, why := judge(r, address)
	if v == isReady && !r.ok() {
		w.log("%s returned %s; accepting as ready", shown(address), r)
	}
	return v, why
}

// judge is the verdict on a status; what a missing page means is the caller's.
func judge(r *reply, address string) (verdict, string) {
	why := shown(address) + " returned " + r.String()
	switch {
	case r.err != nil:
		return notYet, shown(address) + ": " + r.String()
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		return refused, why + advice(r)
	case r.status == http.StatusNotFound:
		return notYet, why + advice(r)
	case r.status < 500:
		return isReady, ""
	}
	return notYet, why
}

// advice is what to try against a refusal, behind a semicolon; "" if nothing is known.
func advice(r *reply) string {
	h, ok := hint.For(&record.Error{Code: r.status, HasCode: true, Message: r.body})
	if !ok {
		return ""
	}
	return "; " + lowerFirst(h.Cause) + ": " + h.Try
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// listed asks for the list of models.
func (w *waiting) listed(ctx context.Context, left time.Duration) (verdict, string) {
	address := w.origin + "/v1/models"
	got := w.send(ctx, &client.Request{Method: http.MethodGet, URL: address, Headers: w.Headers(address, false, "")},
		min(left, listLimit))
	w.cut = got.cut && left < listLimit
	switch {
	case got.err == nil && got.status == http.StatusNotFound:
		return noList, ""
	case !got.ok():
		return w.judge(&got, address)
	}
	models, ok := readModels(got.body)
	if !ok {
		return notYet, shown(address) + " does not answer with a list of models"
	}
	known := models.names()
	for _, name := range w.r.Models {
		if !slices.Contains(known, name) {
			return notYet, fmt.Sprintf("model '%s' not yet in %s, which lists %s", name, shown(address),
				shorten(orNone(known), 200))
		}
		if models.owner(name) == dynamoOwner && w.unready(ctx, address, name, min(left, listLimit)) {
			return notYet, fmt.Sprintf("%s lists the model %s, of which it says that it is not ready: it has too few workers",
				shown(address), name)
		}
	}
	return isReady, ""
}

// unready reports whether Dynamo says of a model in its list that it cannot serve it: the list goes on for models whose
// workers are gone.
func (w *waiting) unready(ctx context.Context, list, model string, limit time.Duration) bool {
	got := w.send(ctx, &client.Request{Method: http.MethodGet, URL: list + "/" + url.PathEscape(model) + "/ready",
		Headers: w.Headers(list, false, "")}, limit)
	var says struct{ Ready *bool }
	if got.err != nil || json.Unmarshal([]byte(got.body), &says) != nil {
		return false // an older one, which does not say
	}
	return got.status == http.StatusServiceUnavailable || got.ok() && says.Ready != nil && !*says.Ready
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// probed sends the minimal request.
func (w *waiting) probed(ctx context.Context, p *Probe, left time.Duration) (verdict, string) {
	got := w.send(ctx, &client.Request{Method: http.MethodPost, URL: w.inference,
		Headers: w.Headers(w.inference, p.Stream, p.ContentType), Body: p.Body}, min(left, probeLimit))
	w.cut = got.cut && left < probeLimit
	v, why := w.judge(&got, w.inference)
	if why != "" && len(w.r.Probes) > 1 {
		why += " (model " + p.Model + ")"
	}
	return v, why
}
