package benchmark

import (
	"fmt"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cli/command"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/file"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/resolve"
	"aiperf/internal/config/settings"
	"aiperf/internal/experiment/capacity"
	"aiperf/internal/experiment/recipe"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/series"
	"aiperf/internal/experiment/sweep"
	"aiperf/internal/run"
)

// experiment is what the arguments of a benchmark ask for: one configuration, or the variations of one.
type experiment struct {
	// flags are the arguments; source is the file under them, nil for none.
	flags  *settings.Settings
	source *file.Source
	// plan is nil where there is one configuration only.
	plan *sweep.Plan
	// base are the settings of the one configuration, or those that all variations have in common.
	base *settings.Settings
	// models are those of the server or of a recording where none was named.
	models []string
	// study is that of aiperf capacity; nil else.
	study *capacity.Study
	// warnings are about flags of a search.
	warnings []string
	// plots is the section of the file about plots, nil for none; curve reports that the recipe is about a curve.
	plots *plotSection
	curve bool
	// input is what a plug-in made of the input file.
	input *settings.Settings
}

// readExperiment reads what the arguments ask for.
func readExperiment(env *command.Env, parsed *settings.Settings) (*experiment, error) {
	e, plan, err := readPlan(env, parsed)
	if err != nil {
		return nil, err
	}
	if sets, err := parse.ServeParams(parsed.ServeParams.Get()); err == nil && len(sets) > 1 {
		if e.plan, err = sweep.Across(plan, sets, parsed.ParameterSweepMode.Given()); err != nil {
			return nil, err
		}
	}
	e.nameFolder()
	return e, nil
}

// nameFolder has the default folder of an experiment named for what it varies, not for the load of its first cell.
// Lists of --concurrency alone are named by the options themselves, with the rest of the load.
func (e *experiment) nameFolder() {
	if e.plan == nil {
		return
	}
	name := e.flags.Stimulus
	switch {
	case name != "":
	case e.source == nil && e.plan.Type == sweep.Grid && e.base.Concurrency.Swept() != nil &&
		len(sweep.Lists(e.base)) == 1 && e.plan.Recipe == "" && !e.base.ServeParams.Given():
		return
	default:
		name = e.plan.Stimulus()
	}
	named := *e.base
	named.Stimulus = name
	for i := range named.Phases { // the first measured one names the folder
		named.Phases[i].Settings.Stimulus = name
	}
	e.base = &named
}

// readPlan reads what the arguments ask for, apart from servers. The plan has the only variation, too, of a file that
// has no sweep.
func readPlan(env *command.Env, parsed *settings.Settings) (*experiment, *sweep.Plan, error) {
	question, err := recipe.FromFlags(parsed)
	if err != nil {
		return nil, nil, err
	}
	e := &experiment{}
	if question == nil {
		return planOf(env, e, parsed, nil)
	}
	e.warnings, e.curve = question.Warnings, question.Curve
	e, plan, err := planOf(env, e, question.Settings(parsed), question.Block)
	if err == nil {
		err = question.Check(e.base)
	}
	return e, plan, err
}

// planOf reads what the arguments ask for; block is the sweep that flags stand for, nil for none.
func planOf(env *command.Env, e *experiment, parsed *settings.Settings, block *document.Node) (*experiment, *sweep.Plan,
	error) {
	e.flags, e.base = parsed, parsed
	if !parsed.Config.Given() {
		if !sweep.Flagged(parsed) && block == nil {
			return e, nil, nil
		}
		// What is wrong with the flags as such is reported first, all at once.
		if _, _, err := resolve.Resolve(parsed, run.Catalog{}); err != nil && !resolve.LacksModel(parsed) {
			return nil, nil, err
		}
		var err error
		e.plan, err = sweep.FromFlags(parsed, block)
		return e, e.plan, err
	}
	var err error
	if e.source, err = env.OpenConfig(parsed.Config.Get()); err != nil {
		return nil, nil, err
	}
	env.HideFile(e.source, parsed)
	if e.plots, err = readPlots(e.source); err != nil {
		return nil, nil, err
	}
	over := sweep.Over{File: e.source.File, Raw: e.source.Raw, Flags: parsed}
	if block != nil {
		if own := over.Raw.Get("sweep"); own != nil && own.Kind != document.Null {
			return nil, nil, fmt.Errorf("%s:%d: sweep: the file has a sweep of its own, which the search of the "+
				"flags would "+
				"replace; keep one of them", over.File.Name, own.Pos.Line)
		}
		over.Raw = over.Raw.Clone()
		over.Raw.Set("sweep", block)
	}
	plan, err := over.Expand()
	if err != nil {
		return nil, nil, err
	}
	if plan.Type == sweep.None {
		e.base, _, err = e.source.Settings(e.source.Raw, file.Options{Flags: parsed})
		return e, plan, err
	}
	e.plan = plan
	first := loop.First(e.plan)
	e.base, err = e.settings(&first)
	return e, plan, err
}

// settings are those of a variation.
func (e *experiment) settings(v *sweep.Variation) (*settings.Settings, error) {
	flags, err := v.Settings(e.flags, e.source != nil)
	if err != nil || e.source == nil {
		return flags, err
	}
	own, _, err := e.source.Settings(v.Envelope(), file.Options{Flags: flags})
	if err == nil {
		own.Cell = true
	}
	return own, err
}

// config resolves a variation.
func (e *experiment) config(v *sweep.Variation) (*config.Run, []fault.Warning, error) {
	own, err := e.settings(v)
	if err != nil {
		return nil, nil, fmt.Errorf("variation %d (%s): %w", v.Index, v.Label, err)
	}
	if len(e.models) > 0 {
		own = own.WithModel(e.models...)
	}
	if e.input != nil {
		own = own.WithInput(e.input.InputFile.Get(), e.input.CustomDatasetType.Get())
	}
	cfg, warnings, err := resolve.Resolve(own, run.Catalog{})
	if err != nil {
		return nil, warnings, fmt.Errorf("variation %d (%s): %w", v.Index, v.Label, err)
	}
	if v.Serve != nil {
		cfg.Serve.Params = v.Serve
	}
	cfg.FailIf = nil // checked over all cells
	return cfg, warnings, nil
}

// cells resolves all variations, so that what is wrong with one is known before the first run. A search has no cells
// yet; its lowest point is resolved.
func (e *experiment) cells() (cells []series.Cell, warnings []fault.Warning, err error) {
	if len(e.plan.Variations) == 0 {
		lowest := loop.First(e.plan)
		if _, warnings, err = e.config(&lowest); err != nil {
			return nil, warnings, err
		}
	}
	for i := range e.plan.Variations {
		v := &e.plan.Variations[i]
		cfg, found, err := e.config(v)
		for _, w := range found {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
		if err != nil {
			return nil, warnings, err
		}
		cells = append(cells, series.Cell{Index: v.Index, Dir: v.Dir, Label: v.Label,
			Values: artifact.HideSensitive(v.Values).(artifact.Object), Config: cfg})
	}
	for _, text := range e.warnings {
		warnings = append(warnings, fault.Warning{Level: fault.LevelWarning, Text: text})
	}
	return cells, append(slices.Clone(e.plan.Warnings), warnings...), nil
}
