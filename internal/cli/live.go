package cli

import (
	"fmt"
	"log/slog"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/publish/page"
	"aiperf/internal/run"
)

// livePage shows the runs of the program on the page of --metrics-listen, one after the other. A nil one does nothing.
type livePage struct {
	page *page.Page
	run  *page.Run
}

// openLivePage listens before anything is sent, so that an address that cannot be had shows at once.
func openLivePage(cfg *config.Run) (*livePage, error) {
	if cfg.MetricsListen == "" {
		return nil, nil
	}
	p, err := page.Listen(cfg.MetricsListen)
	if err != nil {
		return nil, fmt.Errorf("--metrics-listen: %w", err)
	}
	return &livePage{page: p}, nil
}

func (l *livePage) observers(log *slog.Logger) []run.Observer {
	if l == nil {
		return nil
	}
	log.Info("The figures of the run are at " + l.page.URL())
	return []run.Observer{l}
}

// close waits for the last scrape, unless the user wants the program to end, and ends the page.
func (l *livePage) close(cfg *config.Run, i *interrupts, log *slog.Logger) {
	if l == nil {
		return
	}
	l.page.Linger(cfg.Env.Metrics.ListenLinger, i.Stop, func(wait time.Duration) {
		log.Info(fmt.Sprintf("Waiting up to %.1f s for the scraper to read the final figures; Ctrl-C ends it",
			wait.Seconds()))
	})
	l.page.Close()
}

// Begin implements run.Observer.
func (l *livePage) Begin(b run.Beginning) {
	info := page.Info{
		Label: b.Info.RunLabel, BenchmarkID: b.BenchmarkID, Version: Version, Models: redacted(b.Config),
		EndpointType: b.Config.Endpoint.Type, Streaming: b.Config.Endpoint.Streaming, Metrics: b.Metrics,
	}
	for i := range b.Config.Phases {
		info.Load = append(info.Load, phaseLoad(&b.Config.Phases[i]))
	}
	l.run = l.page.Begin(info)
}

func phaseLoad(p *config.Phase) page.PhaseLoad {
	l := page.PhaseLoad{Kind: record.PhaseProfiling, Concurrency: p.Concurrency, PrefillConcurrency: p.Prefill,
		Requests: p.Requests}
	if p.Kind == config.WarmupPhase {
		l.Kind = record.PhaseWarmup
	}
	if rate := p.PlannedRate(); rate > 0 {
		l.Rate = &rate
	}
	if p.Duration != nil {
		seconds := p.Duration.Seconds()
		l.DurationSeconds = &seconds
	}
	return l
}

// Record implements run.Observer.
func (l *livePage) Record(r *record.Record) { l.run.Record(r) }

// Show implements run.Observer.
func (l *livePage) Show(s run.Snapshot) {
	l.run.Show(page.State{Phases: s.Phases, NowNS: s.NowNS, Client: s.Client})
}

// End implements run.Observer.
func (l *livePage) End(_ *run.Outcome, s run.Snapshot) {
	l.run.Show(page.State{Phases: s.Phases, NowNS: s.NowNS, Client: s.Client, Ended: true})
}

// redacted are the models of a run as they may be shown.
func redacted(cfg *config.Run) []string {
	hide := cfg.Redactor().Values
	list := make([]string, len(cfg.Models))
	for i, m := range cfg.Models {
		list[i] = hide(m)
	}
	return list
}
