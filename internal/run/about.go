package run

import (
	"context"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/watch/collect"
)

// Server is what the first server of a run says of itself.
type Server struct {
	// Name is the usual name of its kind, such as vLLM, or what it calls itself; "" if it does not say.
	Name string
	// Models are those that it lists, Loaded those of them that it says are in memory.
	Models, Loaded []string
}

// AskServer asks the first server of a run what it is.
func AskServer(ctx context.Context, cfg *config.Run, o Options) (Server, error) {
	t := &target{base: newBase(cfg, o, clock.New())}
	defer t.close()
	if err := t.bind(ctx, nil); err != nil {
		return Server{}, err
	}
	if err := t.identify(ctx); err != nil {
		return Server{}, err
	}
	k, own, err := t.control()
	if err != nil {
		return Server{}, err
	}
	defer own.Close()
	about, err := k.AskAbout(ctx, cfg.Endpoint.URLs[0])
	if err != nil {
		return Server{}, err
	}
	return Server{Name: collect.ServerName(about.Owner), Models: about.Models, Loaded: about.Loaded}, nil
}
