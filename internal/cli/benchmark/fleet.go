package benchmark

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/fleet"
	"aiperf/internal/config"
	"aiperf/internal/run"
	"aiperf/internal/view/runlog"
)

// openFleet opens the fleet that the runs ask for, if they do.
func (b *bench) openFleet(ctx context.Context, cfg *config.Run, log *runlog.Log) error {
	asked := cfg.Fleet
	if asked == nil {
		return nil
	}
	seedFor(cfg)
	if err := run.CheckShares(cfg); err != nil {
		return err
	}
	security, err := fleetSecurity(b.Env, asked)
	if err != nil {
		return err
	}
	o := fleet.Options{
		Version: command.Version, Log: log.Logger("fleet"), Name: asked.Name, Agents: asked.Agents, Wait: asked.Wait,
		Local: asked.Local, URL: asked.URL, Listen: asked.Listen, Security: security,
		Show:      func(line string) { b.Terminal.Say(line) },
		Heartbeat: cfg.Env.Service.HeartbeatInterval, MinAlive: cfg.Env.Worker.MinAliveFraction, RawStays: asked.RawStays,
		Clock: clock.New(), Clocks: &cfg.Env.Worker.Clock,
	}
	if asked.RawStays {
		dir, err := filepath.Abs(filepath.Join(cfg.Artifacts.Dir, "agents"))
		if err != nil {
			return err
		}
		o.LocalDir = dir
	}
	b.fleet, err = fleet.Open(ctx, o)
	return err
}

// fleetSecurity is what a coordinator proves itself with; a server within this program gets a token in any case.
func fleetSecurity(e *command.Env, f *config.Fleet) (s fleet.Security, err error) {
	s = fleet.Security{NKeyFile: f.NKeyFile, CredentialsFile: f.CredentialsFile, CAFile: f.TLS.CAFile,
		CertFile: f.TLS.CertFile, KeyFile: f.TLS.KeyFile}
	switch given, ok := e.LookupEnv(fleet.TokenVariable); {
	case f.TokenFile != "":
		if s.Token, err = fleet.ReadToken(f.TokenFile); err != nil {
			return s, fmt.Errorf("--nats-token-file: %w", err)
		}
	case s.NKeyFile != "" || s.CredentialsFile != "":
	case ok && given != "":
		s.Token = given
	case f.URL == "":
		s.Token, s.Drawn = fleet.NewToken(), true
	}
	return s, nil
}

// endFleet lets the agents go.
func (b *bench) endFleet() {
	if b.fleet != nil {
		b.fleet.Close()
		b.fleet = nil
	}
}

// seedFor gives a run a seed: its agents must draw the same plan.
func seedFor(cfg *config.Run) {
	if cfg.RandomSeed == nil {
		cfg.RandomSeed = new(rand.Uint64() >> 32)
	}
}

// measureByFleet makes a run whose load the agents make.
func (b *bench) measureByFleet(ctx context.Context, cfg *config.Run, o run.Options) (*run.Outcome, error) {
	seedFor(cfg)
	r := b.fleet.Remote()
	o.Remote, o.Clock = r, b.fleet.Clock()
	outcome, err := run.Execute(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	accounts := r.Accounts()
	if err := artifact.WriteObject(cfg.Artifacts.Path(config.FleetJSON), fleet.Document(accounts)); err != nil {
		outcome.Problem = errors.Join(outcome.Problem, err)
	}
	if lost := fleet.Lost(accounts); lost != nil && outcome.Aborted == nil {
		outcome.Aborted = lost
	}
	log := o.Log.Logger("fleet")
	for i := range accounts {
		for _, note := range append(accounts[i].Differences, accounts[i].Notes...) {
			log.Warn(fmt.Sprintf("The agent %s: %s", accounts[i].Name, strings.TrimSpace(note)))
		}
	}
	return outcome, nil
}
