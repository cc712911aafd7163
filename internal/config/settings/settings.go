// Package settings holds the value of every option and where it comes from.
//
// [Parse] reads an argument vector and the environment against the table of config/option. A reader of another source
// calls [Settings.Set] with an [Origin] that names its place, such as file:line. Each value is checked by the grammar
// of its own option here; how options fit together is the business of config/resolve.
//
// The package also knows which parts of arguments, settings and environment are secrets: [Secrets], [SecretsOf] and
// [CommandLine], the form of a command line that may be written to a file.
package settings

import (
	"maps"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/env"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/workload/recipe"
)

// Source is where a value comes from.
type Source uint8

// The sources, weakest first.
const (
	FromDefault Source = iota
	FromEnvironment
	FromFile
	FromFlag
)

// Origin is where a value comes from and under which name.
type Origin struct {
	Source Source
	// Name is the flag as it was typed, the environment variable, or file:line:column and the key; empty for a default.
	Name string
}

// String names the origin for messages.
func (o Origin) String() string {
	if o.Source == FromDefault {
		return "default"
	}
	return o.Name
}

// setting is the value of one option.
type setting struct {
	origin Origin
	// value is bool, string, int64, float64, []string, []any (numbers) or Object, by type and arity.
	value any
	// swept holds all values of a comma list when there is more than one; value is then the first.
	swept []any
}

// Settings is an argument vector read against the option table. Its accessors take any long name of an
// option; a name that is not in the table is a programming error and panics.
type Settings struct {
	// Env is the environment, read and checked.
	Env env.Values
	// Args are the arguments as they were given.
	Args     []string
	Warnings []fault.Warning
	// Sized reports that each run gets its stop condition from who makes the runs, so that none needs to be given.
	Sized bool

	// Hidden are values that variables of the environment give to a configuration file and that are secrets by the
	// variables' names, whatever they are used for.
	Hidden []string

	// Phases are those of a configuration file, in their order; nil: the flags describe them.
	Phases []Phase

	// Dataset is what a configuration file asks of the dataset and no option can say.
	Dataset recipe.FileOnly

	// Cell reports that the settings are one variation of a sweep.
	Cell bool

	settings map[string]*setting
	// Environ looks up variables that are no part of the tables, such as those of API keys.
	Environ env.Lookup
}

// Set gives an option the value that its tokens stand for. Its error says what is wrong with them; the option then
// counts as given, without a value.
func (p *Settings) Set(o option.Option, tokens []string, from Origin) error {
	value, swept, err := o.Parse(tokens)
	if err != nil {
		value, swept = nil, nil
	}
	p.settings[o.Name] = &setting{origin: from, value: value, swept: swept}
	return err
}

// SetItems gives an option a list whose items are not split at commas, as Set does otherwise.
func (p *Settings) SetItems(o option.Option, items []string, from Origin) error {
	value, err := o.ParseItems(items)
	if err != nil {
		value = nil
	}
	p.settings[o.Name] = &setting{origin: from, value: value}
	return err
}

// Put gives an option a value as it is.
func (p *Settings) Put(name string, value any, from Origin) {
	p.settings[option.Named(name).Name] = &setting{origin: from, value: value}
}

// Unset takes an option's value back.
func (p *Settings) Unset(name string) { delete(p.settings, option.Named(name).Name) }

// Copy copies what is set, not the phases.
func (p *Settings) Copy() *Settings {
	own := *p
	own.settings, own.Phases = maps.Clone(p.settings), nil
	return &own
}

// New makes settings without any value in an environment; variables that are wrong have their defaults.
func New(lookup env.Lookup) *Settings {
	p := &Settings{settings: map[string]*setting{}, Environ: lookup}
	p.Env, _, _ = env.Read(lookup)
	return p
}

// Take takes over an option as it is set in another place; it reports whether it is set there.
func (p *Settings) Take(other *Settings, name string) bool {
	s := other.settings[option.Named(name).Name]
	if s != nil {
		p.settings[option.Named(name).Name] = s
	}
	return s != nil
}

// Phase is a phase that a configuration file describes.
type Phase struct {
	Name, Kind, Type string
	// Place is where the phase is written, for messages.
	Place string
	// Settings are those of the run with the values of this phase.
	*Settings
}

// Given reports whether a flag or a file set the option, even to its default.
func (p *Settings) Given(name string) bool {
	s := p.settings[option.Named(name).Name]
	return s != nil && s.origin.Source >= FromFile
}

// IsSet reports whether anything but the default set the option.
func (p *Settings) IsSet(name string) bool { return p.settings[option.Named(name).Name] != nil }

// Origin is where the option's value comes from.
func (p *Settings) Origin(name string) Origin {
	if s := p.settings[option.Named(name).Name]; s != nil {
		return s.origin
	}
	return Origin{}
}

// Flag is the option's name for a message: as it was typed, else the shortest that is documented first.
func (p *Settings) Flag(name string) string {
	if origin := p.Origin(name); origin.Source != FromDefault {
		return origin.Name
	}
	return "--" + name
}

// WithModel returns p with a model named, as if a flag had named it. The arguments stay as they were given.
func (p *Settings) WithModel(name string) *Settings {
	own := p.deepCopy()
	own.putEverywhere("model-names", []string{name}, Origin{FromFlag, "--model"})
	return own
}

// WithInput returns p with another input file of a format, as if the flags had named them. The arguments stay as they
// were given.
func (p *Settings) WithInput(path, format string) *Settings {
	own := p.deepCopy()
	for name, value := range map[string]string{"input-file": path, "custom-dataset-type": format} {
		from := p.Origin(name)
		if from.Source == FromDefault {
			from = Origin{FromFlag, "--" + name}
		}
		own.putEverywhere(name, value, from)
	}
	return own
}

// deepCopy copies what is set, and the phases.
func (p *Settings) deepCopy() *Settings {
	own := p.Copy()
	for _, ph := range p.Phases {
		ph.Settings = ph.Settings.Copy()
		own.Phases = append(own.Phases, ph)
	}
	return own
}

// putEverywhere gives an option a value, in the phases too.
func (p *Settings) putEverywhere(name string, value any, from Origin) {
	p.Put(name, value, from)
	for _, ph := range p.Phases {
		ph.Put(name, value, from)
	}
}

// Value is the option's value: the one that was set, else the default, else nil.
func (p *Settings) Value(name string) any {
	o := option.Named(name)
	if s := p.settings[o.Name]; s != nil {
		return s.value
	}
	return o.DefaultValue()
}

// Swept holds the values of a comma list; nil when there is only one.
func (p *Settings) Swept(name string) []any {
	if s := p.settings[option.Named(name).Name]; s != nil {
		return slices.Clone(s.swept)
	}
	return nil
}

// Bool is the value of a Bool; unset is false.
func (p *Settings) Bool(name string) bool { v, _ := p.Value(name).(bool); return v }

// Text is the value of a String, Enum or Path; unset is empty.
func (p *Settings) Text(name string) string { v, _ := p.Value(name).(string); return v }

// Int is the value of an Int; nil when unset.
func (p *Settings) Int(name string) *int64 {
	if v, ok := p.Value(name).(int64); ok {
		return &v
	}
	return nil
}

// Float is the value of a Float; nil when unset.
func (p *Settings) Float(name string) *float64 {
	if v, ok := p.Value(name).(float64); ok {
		return &v
	}
	return nil
}

// Real is the value of an Int or a Float; unset is 0.
func (p *Settings) Real(name string) float64 {
	switch v := p.Value(name).(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// Texts is the value of a repeated String or Enum.
func (p *Settings) Texts(name string) []string {
	v, _ := p.Value(name).([]string)
	return slices.Clone(v)
}

// Pairs is the value of Pairs or Headers.
func (p *Settings) Pairs(name string) artifact.Object {
	v, _ := p.Value(name).(artifact.Object)
	return slices.Clone(v)
}
