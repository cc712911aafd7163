package settings

import (
	"aiperf/internal/base/artifact"
	"aiperf/internal/config/option"
)

func (p *Settings) named(name string) option.Field {
	o := option.Named(name)
	return p.Field(&o)
}

// Set gives an option the value that its tokens stand for.
func (p *Settings) Set(o option.Option, tokens []string, from option.Origin) error {
	return o.Set(p.Field(&o), tokens, from)
}

// Given reports whether a flag or a file set the option, even to its default.
func (p *Settings) Given(name string) bool { return p.named(name).Given() }

// IsSet reports whether anything but the default set the option.
func (p *Settings) IsSet(name string) bool { return p.named(name).IsSet() }

// Origin is where the option's value comes from.
func (p *Settings) Origin(name string) option.Origin { return p.named(name).Origin() }

// Flag is the option's name for a message.
func (p *Settings) Flag(name string) string { return p.named(name).Flag() }

// Value is the option's value: the one that was set, else the default, else nil.
func (p *Settings) Value(name string) any { return p.named(name).Value() }

// Swept holds the values of a comma list; nil when there is only one.
func (p *Settings) Swept(name string) []any { return p.named(name).Swept() }

// Unset takes an option's value back.
func (p *Settings) Unset(name string) { p.named(name).Unset() }

// Put gives an option a value as it is.
func (p *Settings) Put(name string, value any, from option.Origin) {
	switch f := p.named(name).(type) {
	case *option.Opt[string]:
		f.Put(value.(string), from)
	case *option.Opt[bool]:
		f.Put(value.(bool), from)
	case *option.Opt[int64]:
		f.Put(value.(int64), from)
	}
}

// Bool is the value of a Bool; unset is false.
func (p *Settings) Bool(name string) bool { v, _ := p.Value(name).(bool); return v }

// Text is the value of a String, Enum or Path; unset is empty.
func (p *Settings) Text(name string) string { v, _ := p.Value(name).(string); return v }

// Int is the value of an Int; nil when unset.
func (p *Settings) Int(name string) *int64 { return p.named(name).(*option.Opt[int64]).Pointer() }

// Float is the value of a Float; nil when unset.
func (p *Settings) Float(name string) *float64 { return p.named(name).(*option.Opt[float64]).Pointer() }

// Texts is the value of a repeated String or Enum.
func (p *Settings) Texts(name string) []string { return p.named(name).(*option.Opt[[]string]).Get() }

// Pairs is the value of Pairs or Headers.
func (p *Settings) Pairs(name string) artifact.Object {
	return p.named(name).(*option.Opt[artifact.Object]).Get()
}
