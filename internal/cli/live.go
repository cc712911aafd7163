package cli

import (
	"fmt"
	"log/slog"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/publish/page"
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

// closeLivePage waits for the last scrape, unless the user wants the program to end, and ends the page.
func closeLivePage(p *page.Page, cfg *config.Run, i *interrupts, log *slog.Logger) {
	p.Linger(cfg.Env.Metrics.ListenLinger, i.Stop, func(wait time.Duration) {
		log.Info(fmt.Sprintf("Waiting up to %.1f s for the last scrape of the metrics; Ctrl-C skips it",
			wait.Seconds()))
	})
	p.Close()
}
