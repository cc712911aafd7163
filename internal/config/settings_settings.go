package config

import (
	"maps"
	"slices"
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
	// Name is the flag as it was typed, the environment variable, or file:line; empty for a default.
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

// Parsed is an argument vector read against the option table. Its accessors take any long name of an
// option; a name that is not in the table is a programming error and panics.
type Parsed struct {
	// Env is the environment, read and checked.
	Env Env
	// Args are the arguments as they were given.
	Args     []string
	Warnings []Warning

	settings map[string]*setting
	lookup   Lookup
}

// Given reports whether a flag or a file set the option, even to its default.
func (p *Parsed) Given(name string) bool {
	s := p.settings[option(name).Name]
	return s != nil && s.origin.Source >= FromFile
}

// IsSet reports whether anything but the default set the option.
func (p *Parsed) IsSet(name string) bool { return p.settings[option(name).Name] != nil }

// Origin is where the option's value comes from.
func (p *Parsed) Origin(name string) Origin {
	if s := p.settings[option(name).Name]; s != nil {
		return s.origin
	}
	return Origin{}
}

// Flag is the option's name for a message: as it was typed, else the shortest that is documented first.
func (p *Parsed) Flag(name string) string {
	if origin := p.Origin(name); origin.Source != FromDefault {
		return origin.Name
	}
	return "--" + name
}

// LacksModel reports whether no model is named, and the servers are such that they may list theirs: what speaks gRPC, a
// program and what AWS signs for do not.
func (p *Parsed) LacksModel() bool {
	for _, name := range []string{"model-names", "config", "endpoint-plugin", "auth-type", "sagemaker-endpoint-name"} {
		if p.IsSet(name) {
			return false
		}
	}
	urls := p.Texts("url")
	return len(urls) > 0 && !isGRPC(urls[0])
}

// WithModel returns p with a model named, as if a flag had named it. The arguments stay as they were given.
func (p *Parsed) WithModel(name string) *Parsed {
	own := *p
	own.settings = maps.Clone(p.settings)
	own.settings[option("model-names").Name] = &setting{origin: Origin{FromFlag, "--model"}, value: []string{name}}
	return &own
}

// Value is the option's value: the one that was set, else the default, else nil.
func (p *Parsed) Value(name string) any {
	o := option(name)
	if s := p.settings[o.Name]; s != nil {
		return s.value
	}
	return defaultValue(o)
}

// Swept holds the values of a comma list; nil when there is only one.
func (p *Parsed) Swept(name string) []any {
	if s := p.settings[option(name).Name]; s != nil {
		return slices.Clone(s.swept)
	}
	return nil
}

// Bool is the value of a Bool; unset is false.
func (p *Parsed) Bool(name string) bool { v, _ := p.Value(name).(bool); return v }

// Text is the value of a String, Enum or Path; unset is empty.
func (p *Parsed) Text(name string) string { v, _ := p.Value(name).(string); return v }

// Int is the value of an Int; nil when unset.
func (p *Parsed) Int(name string) *int64 {
	if v, ok := p.Value(name).(int64); ok {
		return &v
	}
	return nil
}

// Float is the value of a Float; nil when unset.
func (p *Parsed) Float(name string) *float64 {
	if v, ok := p.Value(name).(float64); ok {
		return &v
	}
	return nil
}

// real is the value of an Int or a Float; unset is 0.
func (p *Parsed) real(name string) float64 {
	switch v := p.Value(name).(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// Texts is the value of a repeated String or Enum.
func (p *Parsed) Texts(name string) []string {
	v, _ := p.Value(name).([]string)
	return slices.Clone(v)
}

// Pairs is the value of Pairs or Headers.
func (p *Parsed) Pairs(name string) Object {
	v, _ := p.Value(name).(Object)
	return slices.Clone(v)
}
