package run

import (
	"context"
	"errors"
	"time"

	"aiperf/internal/load"
	"aiperf/internal/wire/control"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

// controls talks to the servers beside the load. A nil one has nothing to do.
type controls struct {
	control.Options
	e              *execution
	client         transport
	start, stop    control.Hook
	firstProfiling int
	// profiling tells that profilers were started and are to be stopped.
	profiling bool
}

// newControls returns nil when the run asks nothing of its servers. It has a client of its own: what it
// does leaves no warm connection to the load.
func (e *execution) newControls() (*controls, error) {
	c := &e.cfg.Endpoint
	if c.Ready == nil && c.ResetCache == nil && c.Profiler == nil {
		return nil, nil
	}
	own, err := e.controlTransport()
	if err != nil {
		return nil, err
	}
	k := &controls{e: e, client: own, Options: e.controlOptions(own)}
	for i := range e.cfg.Phases {
		if isProfiling(e.cfg.Phases[i]) {
			k.firstProfiling = i
			break
		}
	}
	return k, nil
}

// prepare waits for the servers and has them forget their caches.
func (k *controls) prepare(ctx context.Context) error {
	if k == nil {
		return nil
	}
	c := &k.e.cfg.Endpoint
	if r := c.Ready; r != nil {
		probes, err := k.e.probes()
		if err != nil {
			return err
		}
		err = k.WaitReady(ctx, control.Readiness{
			Mode: control.Mode(r.Mode), Timeout: r.Timeout, Interval: r.Interval,
			Bases: c.URLs, Inference: k.e.urls, Models: k.e.cfg.Models, Probes: probes, GRPC: c.GRPC,
		})
		if err != nil {
			return err
		}
	}
	origins, err := control.Origins(c.URLs)
	if err != nil {
		return err
	}
	if p := c.Profiler; p != nil {
		k.start = control.Hook{Origins: origins, Path: p.StartPath, Timeout: p.Timeout}
		k.stop = control.Hook{Origins: origins, Path: p.StopPath, Timeout: p.Timeout}
	}
	if r := c.ResetCache; r != nil {
		return k.ResetCache(ctx, control.Hook{Origins: origins, Path: r.Path, Timeout: r.Timeout, Retry: r.Retry})
	}
	return nil
}

// probes are the minimal requests of the run's type, one for each model.
func (e *execution) probes() ([]control.Probe, error) {
	var list []control.Probe
	for _, model := range e.cfg.Models {
		turn := e.probeTurn()
		one := 1
		turn.Model, turn.MaxTokens = model, &one
		body, err := e.endpoint.Encode(&endpoint.Context{Turns: []endpoint.Turn{{Turn: turn}}})
		if turn.RawPayload != nil {
			body, err = endpoint.Recorded(e.endpoint, turn.RawPayload)
		}
		if err != nil {
			return nil, errors.Join(errors.New("a request for the readiness probe cannot be made; use --wait-for-model-mode models"), err)
		}
		list = append(list, control.Probe{Model: model, ContentType: body.ContentType, Stream: body.Stream, Body: body.Bytes})
	}
	return list, nil
}

// Media of a probe: the smallest picture and the shortest sound that a server can read.
const (
	probePicture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
	probeSound   = "wav,UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
)

// probeTurn is the least that the type takes; what only the dataset can say is its first turn.
func (e *execution) probeTurn() *dataset.Turn {
	d := &e.descriptor
	switch {
	case d.Name == "raw" || d.TokenIDs || e.data.At(0).Turns[0].RawPayload != nil:
		first := *e.data.At(0).Turns[0].Whole()
		return &first
	case d.TakesText && e.cfg.Endpoint.Type != "image_edit":
		return &dataset.Turn{Texts: probeTexts(d.Name)}
	}
	turn := &dataset.Turn{}
	if d.TakesText {
		turn.Texts = probeTexts(d.Name)
	}
	if d.SupportsImage {
		turn.Images = []dataset.Media{{Contents: []string{probePicture}}}
	}
	if d.SupportsAudio {
		turn.Audios = []dataset.Media{{Contents: []string{probeSound}}}
	}
	return turn
}

func probeTexts(name string) []dataset.Media {
	switch name {
	case "cohere_rankings", "hf_tei_rankings", "nim_rankings", "kserve_v2_rankings":
		return []dataset.Media{{Name: "query", Contents: []string{"Hello"}}, {Name: "passages", Contents: []string{"Hello"}}}
	}
	return []dataset.Media{{Contents: []string{"Hello"}}}
}

// gates are those of next, with the start of the profilers before the first profiling phase.
func (k *controls) gates(next load.Gates) load.Gates {
	if k == nil || k.e.cfg.Endpoint.Profiler == nil {
		return next
	}
	out := next
	out.Timeout = max(next.Timeout, load.DefaultGateTimeout) + 2*time.Duration(len(k.start.Origins))*k.start.Timeout
	out.BeforeFirstCredit = func(ctx context.Context, phase int) {
		if phase == k.firstProfiling {
			switch err := k.StartProfiler(ctx, k.start, k.stop); {
			case err == nil:
				k.profiling = true
			case ctx.Err() == nil:
				k.e.engine.Abort(err)
				return
			}
		}
		if next.BeforeFirstCredit != nil {
			next.BeforeFirstCredit(ctx, phase)
		}
	}
	return out
}

// finish stops the profilers; the load is over.
func (k *controls) finish() {
	if k == nil || !k.profiling {
		return
	}
	k.profiling = false
	if err := k.StopProfiler(context.Background(), k.stop); err != nil {
		k.e.options.Log.Logger("control").Warn(k.e.redactor.Text(err.Error()))
	}
}

// close releases the connections.
func (k *controls) close() {
	if k != nil {
		k.finish()
		k.client.Close()
	}
}
