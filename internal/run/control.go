package run

import (
	"context"
	"errors"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/wire/control"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset"
)

// controls talks to the servers alongside the load.
type controls struct {
	passive
	control.Options
	content                     *content
	engine                      *engine
	client                      transport
	profilerStart, profilerStop control.Hook
	firstProfiling              int
	// profiling reports that profilers were started and are to be stopped.
	profiling bool
}

// newControls makes what the run asks of its servers besides the load; nil for nothing. It has a client of its own: what it
// does leaves no warm connection to the load.
func newControls(c *content, engine *engine) (*controls, error) {
	if asked := &c.cfg.Endpoint; asked.Ready == nil && asked.ResetCache == nil && asked.Profiler == nil {
		return nil, nil
	}
	options, own, err := c.control()
	if err != nil {
		return nil, err
	}
	return &controls{content: c, engine: engine, client: own, Options: options, firstProfiling: c.firstProfiling()}, nil
}

// prepare waits for the servers and has them forget their caches.
func (k *controls) prepare(ctx context.Context) error {
	c := &k.content.cfg.Endpoint
	if r := c.Ready; r != nil {
		probes, err := k.content.probes(k.content.firstTurn())
		if err != nil {
			return err
		}
		err = k.WaitReady(ctx, control.Readiness{
			Mode: control.Mode(r.Mode), Timeout: r.Timeout, Interval: r.Interval,
			Bases: c.URLs, Inference: k.content.urls, Models: k.content.cfg.Models, Probes: probes, GRPC: c.GRPC,
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
		k.profilerStart = control.Hook{Origins: origins, Path: p.StartPath, Timeout: p.Timeout}
		k.profilerStop = control.Hook{Origins: origins, Path: p.StopPath, Timeout: p.Timeout}
	}
	if r := c.ResetCache; r != nil {
		return k.ResetCache(ctx, control.Hook{Origins: origins, Path: r.Path, Timeout: r.Timeout, Retry: r.Retry})
	}
	return nil
}

// probes are the minimal requests of the run's type, one for each model. first is the first turn of the dataset; nil if
// there is none yet, which types that need it must not be given.
func (t *target) probes(first *dataset.Turn) ([]control.Probe, error) {
	var list []control.Probe
	for _, model := range t.cfg.Models {
		turn := t.probeTurn(first)
		one := 1
		turn.Model, turn.MaxTokens = model, &one
		body, err := t.endpoint.Encode(&endpoint.Context{Turns: []endpoint.Turn{{Turn: turn}}})
		if turn.RawPayload != nil {
			body, err = endpoint.Recorded(t.endpoint, turn.RawPayload)
		}
		if err != nil {
			return nil, errors.Join(errors.New("a request for the readiness probe cannot be made; use "+
				"--wait-for-model-mode models"), err)
		}
		list = append(list, control.Probe{Model: model, ContentType: body.ContentType, Stream: body.Stream,
			Body: body.Bytes})
	}
	return list, nil
}

// probesNeedData reports whether the probes of the run's type are made of its dataset.
func (t *target) probesNeedData() bool { return t.descriptor.Name == "raw" || t.descriptor.TokenIDs }

// startInterval is the pause between two checks of a server that was just started: its start is measured.
const startInterval = 250 * time.Millisecond

// WaitReady returns when the servers of a run are ready, which ctx bounds; the run itself does not have to be possible
// yet. They are asked as --wait-for-model-mode says.
func WaitReady(ctx context.Context, cfg *config.Run, o Options) error {
	t := &target{base: newBase(cfg, o, clock.New())}
	defer t.close()
	if err := t.bind(ctx, func([]int, string) []int { return nil }); err != nil {
		return err
	}
	if err := t.identify(ctx); err != nil {
		return err
	}
	k, own, err := t.control()
	if err != nil {
		return err
	}
	defer own.Close()
	r := control.Readiness{Mode: control.Inference, Timeout: foreverReady, Interval: startInterval,
		Bases: cfg.Endpoint.URLs, Inference: t.urls, Models: cfg.Models, GRPC: cfg.Endpoint.GRPC}
	if asked := cfg.Endpoint.Ready; asked != nil {
		r.Mode = control.Mode(asked.Mode)
	}
	if t.probesNeedData() {
		r.Mode = control.Models
	}
	if r.Mode != control.Models {
		if r.Probes, err = t.probes(nil); err != nil {
			return err
		}
	}
	return k.WaitReady(ctx, r)
}

// foreverReady is a time-out beyond that of any context.
const foreverReady = 1000 * time.Hour

// Media of a probe: the smallest picture and the shortest sound that a server can read.
const (
	probePicture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk" +
		"+A8AAQUBAScY42YAAAAASUVORK5CYII="
	probeSound = "wav,UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
)

// probeTurn is the least that the type takes; what only the dataset can say is its first turn.
func (t *target) probeTurn(first *dataset.Turn) *dataset.Turn {
	d := &t.descriptor
	switch {
	case first != nil && (t.probesNeedData() || first.RawPayload != nil):
		turn := *first
		return &turn
	case d.TakesText && t.cfg.Endpoint.Type != "image_edit":
		return &dataset.Turn{Texts: probeTexts(d)}
	}
	turn := &dataset.Turn{}
	if d.TakesText {
		turn.Texts = probeTexts(d)
	}
	if d.SupportsImage {
		turn.Images = []dataset.Media{{Contents: []string{probePicture}}}
	}
	if d.SupportsAudio {
		turn.Audios = []dataset.Media{{Contents: []string{probeSound}}}
	}
	return turn
}

func probeTexts(d *endpoint.Descriptor) []dataset.Media {
	if d.Ranks {
		return []dataset.Media{{Name: "query", Contents: []string{"Hello"}},
			{Name: "passages", Contents: []string{"Hello"}}}
	}
	return []dataset.Media{{Contents: []string{"Hello"}}}
}

// gates has the profilers started before the first profiling phase.
func (k *controls) gates(next load.Gates) load.Gates {
	if k.content.cfg.Endpoint.Profiler == nil {
		return next
	}
	out := next
	out.Timeout = max(next.Timeout,
		load.DefaultGateTimeout) + 2*time.Duration(len(k.profilerStart.Origins))*k.profilerStart.Timeout
	out.BeforeFirstCredit = func(ctx context.Context, phase int) {
		if phase == k.firstProfiling {
			switch err := k.StartProfiler(ctx, k.profilerStart, k.profilerStop); {
			case err == nil:
				k.profiling = true
			case ctx.Err() == nil:
				k.engine.Abort(err)
				return
			}
		}
		if next.BeforeFirstCredit != nil {
			next.BeforeFirstCredit(ctx, phase)
		}
	}
	return out
}

// stop stops the profilers. One that cannot be stopped is only a line of the log.
func (k *controls) stop() error {
	if !k.profiling {
		return nil
	}
	k.profiling = false
	if err := k.StopProfiler(context.Background(), k.profilerStop); err != nil {
		k.content.options.Log.Logger("control").Warn(k.content.redactor.Text(err.Error()))
	}
	return nil
}

// close releases the connections.
func (k *controls) close() {
	_ = k.stop()
	k.client.Close()
}
