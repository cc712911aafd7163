package benchmark

import (
	"fmt"
	"log/slog"
	"time"

	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/publish/page"
	"aiperf/internal/publish/progress"
	"aiperf/internal/view/runlog"
)

// openLivePage opens the page of --metrics-listen; nil where none is asked for. It listens before anything is sent, so
// that an address that cannot be had shows at once.
func openLivePage(cfg *config.Run, log *slog.Logger) (*page.Page, error) {
	if cfg.MetricsListen == "" {
		return nil, nil
	}
	p, err := page.Listen(cfg.MetricsListen)
	if err != nil {
		return nil, fmt.Errorf("--metrics-listen: %w", err)
	}
	log.Info("Prometheus metrics of the run: " + p.URL())
	return p, nil
}

// livePage is the page of the metrics of runs.
type livePage struct {
	*page.Page
	cfg *config.Run
	log *slog.Logger
}

func openMetrics(_ *command.Env, cfg *config.Run, log *runlog.Log) (progress.Observer, error) {
	logger := log.Logger("metrics")
	p, err := openLivePage(cfg, logger)
	if p == nil || err != nil {
		return nil, err
	}
	return &livePage{p, cfg, logger}, nil
}

// end waits for the last scrape, unless the user wants the program to end, and ends the page.
func (p *livePage) end(i *interrupts) {
	p.Linger(p.cfg.Env.Metrics.ListenLinger, i.Stop, func(wait time.Duration) {
		p.log.Info(fmt.Sprintf("Waiting up to %.1f s for the last scrape of the metrics; Ctrl-C skips it",
			wait.Seconds()))
	})
	p.Close()
}
