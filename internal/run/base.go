package run

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/result/report"
	"aiperf/internal/result/summary"
	"aiperf/internal/watch/servermetrics"
)

// base is what all parts of a run know.
type base struct {
	cfg      *config.Run
	options  Options
	log      *slog.Logger
	clock    *clock.Clock
	id       string
	redactor *artifact.Redactor
}

func newBase(cfg *config.Run, o Options, c *clock.Clock) *base {
	if o.ID == "" {
		o.ID = NewID()
	}
	return &base{
		cfg: cfg, options: o, log: o.Log.Logger("run"), clock: c, id: o.ID, redactor: cfg.Redactor(),
	}
}

// NewID returns a random identifier (UUID, version 4) for a run or for several that belong together.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program if the system has no entropy
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (b *base) wall(ns int64) time.Time { return time.Unix(0, b.clock.WallNS(ns)) }

func (b *base) writeState(s *summary.State) error {
	text, err := s.Encode(report.Blocks)
	if err != nil {
		return fmt.Errorf("state of the run: %w", err)
	}
	return artifact.WriteFile(b.cfg.Artifacts.Path(config.RunState), text)
}

func isProfiling(p config.Phase) bool { return p.Kind == config.ProfilingPhase }

// firstProfiling returns the index of the first profiling phase.
func (b *base) firstProfiling() int { return slices.IndexFunc(b.cfg.Phases, isProfiling) }

func hasLanes(p *config.Phase) bool { return p.Lanes != nil }

// serverPhases are the phases of a run as recordings name them.
func serverPhases(phases []config.Phase) []servermetrics.PhaseID {
	var list []servermetrics.PhaseID
	profiling := 0
	for i, p := range phases {
		phase := servermetrics.PhaseID{Index: i, Profiling: -1, Name: p.Name, Kind: string(p.Kind)}
		if isProfiling(p) {
			phase.Profiling = profiling
			profiling++
		}
		list = append(list, phase)
	}
	return list
}
