package benchmark

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"

	"aiperf/internal/config"
	"aiperf/internal/experiment/server"
	"aiperf/internal/run"
)

// measure makes one run, by the fleet if there is one, against a server that is started for it where that was asked
// for. A server that dies ends the run, which has failed then, whatever results it has.
func (b *bench) measure(ctx context.Context, cfg *config.Run, o run.Options) (*run.Outcome, error) {
	execute := run.Execute
	if b.fleet != nil {
		execute = b.measureByFleet
	}
	if cfg.Serve == nil {
		return execute(ctx, cfg, o)
	}
	started, release := withStop(ctx, o.Stop)
	defer release()
	if b.server == nil {
		b.server = newSupervisor(cfg, &o)
	}
	took, err := b.server.Ensure(started, server.Cell{
		Params: cfg.Serve.Params, LogPath: filepath.Join(cfg.Artifacts.Dir, server.LogName),
		Addresses: addresses(cfg.Endpoint.URLs),
		Ready:     func(ctx context.Context) error { return run.WaitReady(ctx, cfg, o) },
	})
	switch {
	case err != nil && started.Err() != nil && ctx.Err() == nil:
		return nil, errors.New("the run was cancelled before the server was ready")
	case err != nil:
		return nil, err
	case cfg.Serve.Command != "":
		o.ServerStart = &took
	}
	alive, end := b.server.Watch(started)
	defer end()
	o.Stop = alive.Done()
	outcome, err := execute(ctx, cfg, o)
	if died := b.server.Failure(); died != nil && ctx.Err() == nil {
		return nil, died
	}
	return outcome, err
}

// newSupervisor makes what starts and ends the servers of an experiment.
func newSupervisor(cfg *config.Run, o *run.Options) *server.Supervisor {
	log := o.Log.Logger("server")
	return server.New(server.Options{
		Command: cfg.Serve.Command, Reset: cfg.Serve.Reset, Timeout: cfg.Serve.Timeout,
		Redact: cfg.Redactor().Text,
		Log:    func(message string) { log.Info(message) },
	})
}

// endServer ends the server that was started for the runs, if any.
func (b *bench) endServer(log *slog.Logger) {
	if b.server == nil {
		return
	}
	if err := b.server.Close(); err != nil {
		log.Error(err.Error())
	}
	b.server = nil
}

// withStop returns a context that ends when stop is closed.
func withStop(ctx context.Context, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// addresses returns the host and port of each URL.
func addresses(urls []string) (list []string) {
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			continue
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"https": "443", "grpcs": "443"}[u.Scheme]
		}
		if port == "" {
			port = "80"
		}
		list = append(list, net.JoinHostPort(u.Hostname(), port))
	}
	return list
}
