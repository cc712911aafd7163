package run

import (
	"context"
	"errors"
	"strings"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/measure/hint"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

// listenPatience bounds the look at the addresses of all servers.
const listenPatience = 2 * time.Second

// NothingListens returns the error of a run that would reach none of its servers, because all of them refuse
// connections, with what to try; nil where one listens, and where that is not known. It sends nothing. Who makes
// several runs asks it before the first one: each of them would fail, after its own time.
func NothingListens(ctx context.Context, cfg *config.Run, o Options) error {
	t := &target{base: newBase(cfg, o, clock.New())}
	defer t.close()
	prober, err := client.NewProber(t.clientOptions(1), t.clock)
	if err != nil {
		return nil // the run says so
	}
	ctx, cancel := context.WithTimeout(ctx, listenPatience)
	defer cancel()
	var first *record.Error
	list := servers(cfg.Endpoint.URLs)
	for _, server := range list {
		refusal := prober.Refusal(ctx, overHTTP(server))
		if refusal == nil {
			return nil
		}
		if first == nil {
			first = refusal
		}
	}
	if first == nil {
		return nil
	}
	reason := "no server is running at " + strings.Join(list, ", ") + ": " + first.Message
	for _, h := range hint.ForAll([]*record.Error{first}) {
		reason += "\n" + h.String()
	}
	return errors.New(t.redactor.Text(reason))
}
