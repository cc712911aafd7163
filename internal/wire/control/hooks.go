package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"aiperf/internal/wire/client"
)

// Hook is a request to the servers that no benchmark request is: POST to a path of each origin.
type Hook struct {
	// Origins are the distinct origins of the run's URLs.
	Origins []string
	Path    string
	// Timeout bounds each request; Retry is how long requests to a busy server are repeated, in total.
	Timeout, Retry time.Duration
}

// jsonType is that of the empty body too: some servers refuse a request without one.
const jsonType = "application/json"

// post sends one request to one origin.
func (o Options) post(ctx context.Context, origin, path string, limit time.Duration) reply {
	return o.send(ctx, &client.Request{Method: http.MethodPost, URL: origin + path,
		Headers: o.Headers(origin+path, false, jsonType)}, limit)
}

func failed(what, origin, path string, r *reply) error {
	way := ""
	if r.status == http.StatusNotFound {
		way = vllmHooks[path]
	}
	return fmt.Errorf("%s: POST %s%s: %s%s", what, shown(origin), path, r, way)
}

// vllmHooks are what a vLLM has to be started with for its hooks, by path.
var vllmHooks = map[string]string{
	"/reset_prefix_cache": "; vLLM has this path only with VLLM_SERVER_DEV_MODE=1 in its environment",
	"/start_profile":      "; vLLM has this path only with --profiler-config",
}

// ResetCache has every server forget its prefix cache; the first failure ends it.
func (o Options) ResetCache(ctx context.Context, h Hook) error {
	for _, origin := range h.Origins {
		if err := o.reset(ctx, origin, h); err != nil {
			return err
		}
		o.log("The prefix cache of %s is reset", shown(origin))
	}
	return nil
}

// busy reports whether a status invites a later attempt.
func busy(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusLocked, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// maxBackOff bounds the pause between two resets of a busy server.
const maxBackOff = 8 * time.Second

func (o Options) reset(ctx context.Context, origin string, h Hook) error {
	deadline := time.Now().Add(h.Retry)
	for wait := time.Second; ; wait = min(2*wait, maxBackOff) {
		got := o.post(ctx, origin, h.Path, h.Timeout)
		switch {
		case got.ok():
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case got.err != nil || !busy(got.status):
			return failed("the prefix cache could not be reset", origin, h.Path, &got)
		case !time.Now().Add(wait).Before(deadline):
			return failed(fmt.Sprintf("the prefix cache could not be reset within %s", h.Retry), origin, h.Path, &got)
		}
		o.log("%s is busy (%d); the reset of its prefix cache is retried in %s", shown(origin), got.status,
			wait)
		if !pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// StartProfiler starts the profiler of every server. When one does not start, those that did are
// stopped in reverse order, and the error is that of the one that did not.
func (o Options) StartProfiler(ctx context.Context, start, stop Hook) error {
	for i, origin := range start.Origins {
		got := o.post(ctx, origin, start.Path, start.Timeout)
		if got.ok() {
			o.log("The profiler of %s is started", shown(origin))
			continue
		}
		stop.Origins = slices.Clone(start.Origins[:i])
		slices.Reverse(stop.Origins)
		// The servers must not go on profiling because the run was interrupted.
		if err := o.StopProfiler(context.WithoutCancel(ctx), stop); err != nil {
			o.log("%s", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return failed("the server's profiler could not be started", origin, start.Path, &got)
	}
	return nil
}

// StopProfiler stops the profiler of every server and reports every failure.
func (o Options) StopProfiler(ctx context.Context, stop Hook) error {
	var faults []error
	for _, origin := range stop.Origins {
		if got := o.post(ctx, origin, stop.Path, stop.Timeout); got.ok() {
			o.log("The profiler of %s is stopped", shown(origin))
		} else {
			faults = append(faults, failed("the server's profiler could not be stopped", origin, stop.Path, &got))
		}
	}
	return errors.Join(faults...)
}
