// Package settings holds the values of all options that a user gave, with the environment and the phases of a file.
//
// [Parse] reads an argument vector and the environment against the table of config/option. A reader of another source
// gives a field its value by [option.Field] with an [option.Origin] that names its place, such as file:line. Each value
// is checked by the grammar of its own option; how options fit together is the business of config/resolve.
//
// The package also knows which parts of arguments, settings and environment are secrets: [Secrets], [SecretsOf] and
// [CommandLine], the form of a command line that may be written to a file.
package settings

import (
	"aiperf/internal/config/env"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/workload/recipe"
)

// Settings are the values of all options, with what belongs to them as a whole.
type Settings struct {
	option.Tree

	// Env is the environment, read and checked.
	Env env.Values
	// Args are the arguments as they were given.
	Args     []string
	Warnings []fault.Warning
	// Sized reports that each run gets its stop condition from who makes the runs, so that none needs to be given.
	Sized bool
	// Stimulus names the load in the default folder of who chooses it; "" for that of the options.
	Stimulus string

	// Hidden are values that variables of the environment give to a configuration file and that are secrets by the
	// variables' names, whatever they are used for.
	Hidden []string

	// Phases are those of a configuration file, in their order; nil: the flags describe them.
	Phases []Phase

	// Dataset is what a configuration file asks of the dataset and no option can say.
	Dataset recipe.FileOnly

	// Cell reports that the settings are one variation of a sweep.
	Cell bool

	// Environ looks up variables that are no part of the tables, such as those of API keys.
	Environ env.Lookup
}

// Copy copies what is set, not the phases.
func (p *Settings) Copy() *Settings {
	own := *p
	own.Phases = nil
	return &own
}

// New makes settings without any value in an environment; variables that are wrong have their defaults.
func New(lookup env.Lookup) *Settings {
	p := &Settings{Tree: option.NewTree(), Environ: lookup}
	p.Env, _, _ = env.Read(lookup)
	return p
}

// Phase is a phase that a configuration file describes.
type Phase struct {
	Name, Kind, Type string
	// Place is where the phase is written, for messages.
	Place string
	// Settings are those of the run with the values of this phase.
	*Settings
}

// WithModel returns p with models named, as if a flag had named them. The arguments stay as they were given.
func (p *Settings) WithModel(names ...string) *Settings {
	return p.everywhere(func(s *Settings) {
		s.ModelNames.Put(names, option.Origin{Source: option.FromFlag, Name: "--model"})
	})
}

// WithInput returns p with another input file of a format, as if the flags had named them. The arguments stay as they
// were given.
func (p *Settings) WithInput(path, format string) *Settings {
	return p.everywhere(func(s *Settings) {
		s.InputFile.Put(path, flagged(&p.InputFile))
		s.CustomDatasetType.Put(format, flagged(&p.CustomDatasetType))
	})
}

// flagged is the origin of a field; where it has only a default, that of its flag.
func flagged(f option.Field) option.Origin {
	if from := f.Origin(); from.Source != option.FromDefault {
		return from
	}
	return option.Origin{Source: option.FromFlag, Name: f.Flag()}
}

// everywhere returns a copy of p that was changed, in the phases too.
func (p *Settings) everywhere(change func(*Settings)) *Settings {
	own := p.Copy()
	change(own)
	for _, ph := range p.Phases {
		ph.Settings = ph.Settings.Copy()
		change(ph.Settings)
		own.Phases = append(own.Phases, ph)
	}
	return own
}
