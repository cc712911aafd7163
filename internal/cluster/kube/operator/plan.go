package operator

import (
	"fmt"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config"
	"aiperf/internal/config/file"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/schema"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/series"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/measure/metrics"
	"aiperf/internal/run"
)

// source makes cells and children of a specification.
type source struct {
	file *file.Source
	plan *sweep.Plan
	// bodies are the configurations of the cells by the index of their variation.
	bodies map[int]variation
}

// variation is what a variation makes of the specification.
type variation struct {
	benchmark, variables crd.Object
}

func newSource(spec *crd.Spec) (*source, error) {
	f, err := spec.Source("spec", nil)
	if err != nil {
		return nil, err
	}
	s := &source{file: f, bodies: map[int]variation{}}
	if s.plan, err = sweep.Expand(f.File, f.Raw); err != nil {
		return nil, err
	}
	return s, nil
}

// cells resolves all variations, so that what is wrong with one is known before the first job. The configuration is that
// of the first one.
func (s *source) cells() (cells []series.Cell, base *config.Run, err error) {
	for i := range s.plan.Variations {
		c, err := s.cell(&s.plan.Variations[i])
		if err != nil {
			return nil, nil, err
		}
		cells = append(cells, c)
	}
	if len(cells) > 0 {
		return cells, cells[0].Config, nil
	}
	spec, _ := loop.Read(s.plan.Block)
	var lowest []any
	for _, d := range spec.Space {
		lowest = append(lowest, loop.ValueOf(d, d.Lo))
	}
	v := s.plan.Point(0, lowest)
	c, err := s.cell(&v)
	return nil, c.Config, err
}

// point is the cell of a point of a search.
func (s *source) point(p *loop.Proposal) (series.Cell, error) {
	v := s.plan.Point(p.Iteration, p.Coordinates())
	return s.cell(&v)
}

func (s *source) cell(v *sweep.Variation) (series.Cell, error) {
	envelope := v.Envelope()
	p, rendered, err := s.file.Settings(envelope, file.Options{NoFiles: true})
	var cfg *config.Run
	if err == nil {
		cfg, _, err = resolve.Resolve(p, run.Catalog{})
	}
	if err != nil {
		return series.Cell{}, fmt.Errorf("variation %d (%s): %w", v.Index, v.Label, err)
	}
	if v.Serve != nil {
		return series.Cell{}, fmt.Errorf("the sweep has parameters of a server to start, which a cluster does not start")
	}
	if rendered == nil {
		rendered = envelope
	}
	body := variation{}
	if node := file.Body(rendered); node != nil {
		if o, ok := crd.Plain(node.Any()).(crd.Object); ok {
			body.benchmark = crd.CamelKeys(schema.Body(), o)
		}
	}
	if node := envelope.Get("variables"); node != nil {
		body.variables, _ = crd.Plain(node.Any()).(crd.Object)
	}
	s.bodies[v.Index] = body
	return series.Cell{Index: v.Index, Dir: v.Dir, Label: v.Label,
		Values: artifact.HideSensitive(v.Values).(artifact.Object), Config: cfg}, nil
}

// child is the specification of the job of a step: that of the sweep without what concerns sweeps alone, with the
// configuration and the seed of its run.
func (s *source) child(spec *crd.Spec, step *series.Step) (crd.Object, error) {
	body, ok := s.bodies[step.Info.VariationIndex]
	if !ok || body.benchmark == nil {
		return nil, fmt.Errorf("variation %d has no configuration", step.Info.VariationIndex)
	}
	own := *spec
	own.Sweep, own.MultiRun, own.FailurePolicy, own.ChildMetadata, own.Cancel = nil, nil, nil, nil, false
	own.TTLSecondsAfterFinished, own.Plot = nil, nil
	own.Benchmark = crd.Object{}
	for key, value := range body.benchmark {
		own.Benchmark[key] = value
	}
	if runtime, ok := own.Benchmark["runtime"].(crd.Object); ok {
		resolved := crd.Object{}
		for key, value := range runtime {
			switch key {
			case "apiPort", "apiHost", "datasetApiBaseUrl", "communication":
			default:
				resolved[key] = value
			}
		}
		own.Benchmark["runtime"] = resolved
	}
	if body.variables != nil {
		own.Variables = body.variables
	}
	if seed := step.Config.RandomSeed; seed != nil {
		own.RandomSeed = *seed
	}
	return asJSON(own)
}

// canonical writes the tags of metrics for their short names.
func canonical(spec *loop.Spec) {
	for i := range spec.Filters {
		spec.Filters[i].Metric = metrics.Canonical(spec.Filters[i].Metric)
	}
	for i := range spec.Objectives {
		spec.Objectives[i].Metric = metrics.Canonical(spec.Objectives[i].Metric)
	}
	for i := range spec.Constraints {
		spec.Constraints[i].Metric = metrics.Canonical(spec.Constraints[i].Metric)
	}
	for i := range spec.Tiers {
		for k := range spec.Tiers[i].Filters {
			spec.Tiers[i].Filters[k].Metric = metrics.Canonical(spec.Tiers[i].Filters[k].Metric)
		}
	}
}

// Check returns what is wrong with the specification of a sweep of a name, before anything of it is made.
func Check(name string, spec *crd.Spec) error {
	s, err := newSource(spec)
	if err != nil {
		return err
	}
	trials, _ := spec.Trials()
	cells := len(s.plan.Variations)
	if s.plan.Type == sweep.AdaptiveSearch {
		search, _ := loop.Read(s.plan.Block)
		cells = search.MaxIterations
	}
	if err := crd.CheckSweepSize(name, cells, trials, spec.TrialSuffix()); err != nil {
		return err
	}
	_, _, err = s.cells()
	return err
}
