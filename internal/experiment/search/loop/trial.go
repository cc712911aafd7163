package loop

import (
	"math"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/experiment/search"
	"aiperf/internal/experiment/series"
)

// Trial is one run at a point.
type Trial struct {
	Label string
	// Dir is the folder of the run, empty if it has none.
	Dir string
	// Err says why the run does not count; empty for a success.
	Err string
	// Metrics are the figures of a successful run.
	Metrics []Metric
	// Limited says how this program, not the server, set the figures: the trial is then neither feasible nor
	// infeasible. Saturated says how the server fell behind: the trial is then infeasible, whatever its figures are.
	// Both are empty otherwise.
	Limited, Saturated string
	// Refused says how the server refused the requests of the point: the trial is infeasible; empty otherwise.
	Refused string
	// Requests is the per-request file, which percentiles over all trials come from; empty without one.
	Requests string
}

// Metric are the statistics of one metric.
type Metric struct {
	Tag, Unit string
	// Stats has numbers by the names of statistics.
	Stats artifact.Object
}

// TrialOf returns a run of a series as a trial.
func TrialOf(r *series.Run) Trial {
	t := Trial{Label: r.Info.RunLabel, Dir: r.Artifacts.Dir, Err: r.Err}
	if r.Artifacts.ExportLevel != "summary" {
		t.Requests = r.Artifacts.Path(config.RecordsJSONL)
	}
	for i := range r.Metrics {
		m := Metric{Tag: r.Metrics[i].Tag, Unit: r.Metrics[i].Unit}
		for _, f := range r.Metrics[i].Figures() {
			if artifact.Finite(f.Value) {
				m.Stats = append(m.Stats, artifact.Member{Key: f.Key, Value: f.Value})
			}
		}
		t.Metrics = append(t.Metrics, m)
	}
	return t
}

// Figure returns a statistic of a metric, and whether the trial has it.
func (t *Trial) Figure(metric, stat string) (float64, bool) {
	for _, m := range t.Metrics {
		if m.Tag != metric {
			continue
		}
		v, _ := m.Stats.Get(stat)
		number, ok := v.(float64)
		return number, ok && artifact.Finite(number)
	}
	return math.NaN(), false
}

// has reports whether the trial has a metric at all.
func (t *Trial) has(metric string) bool {
	for _, m := range t.Metrics {
		if m.Tag == metric {
			return true
		}
	}
	return false
}

// trialDocument is a trial as the checkpoint keeps it. Metrics has the statistics of each metric after its unit.
type trialDocument struct {
	Label          string                        `json:"label"`
	Success        bool                          `json:"success"`
	Metrics        artifact.Map[artifact.Object] `json:"summary_metrics"`
	Err            *string                       `json:"error"`
	Dir            *string                       `json:"artifacts_path"`
	VariationLabel string                        `json:"variation_label"`
	Values         artifact.Object               `json:"variation_values"`
	VariationIndex int                           `json:"variation_index"`
	Index          int                           `json:"trial_index"`
	WasCancelled   bool                          `json:"was_cancelled"`
	Limited        string                        `json:"client_limited,omitempty"`
	Saturated      string                        `json:"saturated,omitempty"`
	Refused        string                        `json:"refused,omitempty"`
	Requests       string                        `json:"requests_path,omitempty"`
}

func (t *Trial) document(p *Proposal, number int) trialDocument {
	d := trialDocument{Label: t.Label, Success: t.Err == "", Err: orNull(t.Err), Dir: orNull(t.Dir),
		VariationLabel: p.Label, Values: p.Values, VariationIndex: p.Iteration, Index: number, Limited: t.Limited,
		Saturated: t.Saturated, Refused: t.Refused, Requests: t.Requests}
	for _, m := range t.Metrics {
		d.Metrics.Add(m.Tag, append(artifact.Object{{Key: unitKey, Value: m.Unit}}, m.Stats...))
	}
	return d
}

// unitKey is the key of the unit among the statistics.
const unitKey = "unit"

// trial returns the trial that a checkpoint has.
func (d *trialDocument) trial() Trial {
	t := Trial{Label: d.Label, Limited: d.Limited, Saturated: d.Saturated, Refused: d.Refused,
		Requests: d.Requests}
	if d.Dir != nil {
		t.Dir = *d.Dir
	}
	if d.Err != nil {
		t.Err = *d.Err
	}
	if !d.Success && t.Err == "" {
		t.Err = "failed"
	}
	for _, entry := range d.Metrics {
		m := Metric{Tag: entry.Key}
		for _, s := range entry.Value {
			if s.Key == unitKey {
				m.Unit, _ = s.Value.(string)
			} else if v, ok := artifact.Number(s.Value); ok {
				m.Stats = append(m.Stats, artifact.Member{Key: s.Key, Value: v})
			}
		}
		t.Metrics = append(t.Metrics, m)
	}
	return t
}

// judge joins the trials of a visit. limited reports that none of them says anything about the server.
func (s *Search) judge(at search.Point, trials []Trial, objectives []float64) (r search.Result, limited bool) {
	var good []search.Trial
	var kept []*Trial
	tested := 0
	for i := range trials {
		t := &trials[i]
		if t.Err != "" {
			continue
		}
		good, kept = append(good, t.Figure), append(kept, t)
		if t.Limited == "" {
			tested++
		}
	}
	r = s.spec.Judge(at, good, objectives)
	r.Feasible = false
	for i, t := range kept {
		if t.Limited != "" || t.Saturated != "" || t.Refused != "" {
			// Its figures are not those of a server that keeps up at this load.
			for j := range r.Margins[i] {
				r.Margins[i][j] = math.NaN()
			}
			r.Trials[i] = func(string, string) (float64, bool) { return 0, false }
			continue
		}
		r.Feasible = r.Feasible || s.meets(t)
	}
	return r, len(kept) > 0 && tested == 0
}

// meets reports whether a trial meets all conditions of the search, and with tiers those of at least one of them.
func (s *Search) meets(t *Trial) bool {
	passes := func(filters []search.Filter) bool {
		return !slices.ContainsFunc(filters, func(f search.Filter) bool {
			v, ok := t.Figure(f.Metric, f.Stat)
			return !ok || !f.Passes(v)
		})
	}
	return passes(s.spec.Filters) && (len(s.spec.Tiers) == 0 ||
		slices.ContainsFunc(s.spec.Tiers, func(one Tier) bool { return passes(one.Filters) }))
}

// conditions are those of the search and of its tiers.
func (s *Search) conditions() []search.Filter {
	all := slices.Clone(s.spec.Filters)
	for _, t := range s.spec.Tiers {
		all = append(all, t.Filters...)
	}
	return all
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
