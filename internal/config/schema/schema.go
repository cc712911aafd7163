// Package schema is the table of the keys of a configuration file: names, kinds of values, limits, defaults, and the
// option whose effect a key has.
//
// Reading, completion, the JSON Schema for editors, the page of all keys and the exported configuration read this one
// table. A key with an [Key.Option] takes grammar, limits and help from the row of that option in config/option. The
// package must never know how a file is read.
package schema

import (
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/suggest"
	"aiperf/internal/config/option"
)

// Kind is what a key holds.
type Kind uint8

// The kinds. ByOption is that of the key's option.
const (
	ByOption Kind = iota
	// Switch is true or false; yes, no, on and off are accepted as texts.
	Switch
	Whole
	Number
	Word
	// Choice is one of Key.Values.
	Choice
	// Duration is a number of seconds, or a text such as 30s, 5m, 2 h or inf.
	Duration
	// Ramp is a Duration, or a mapping of duration and strategy.
	Ramp
	// Distribution is a number, or a mapping with the keys of a distribution.
	Distribution
	// Words and Numbers are lists; one value stands for a list of one.
	Words
	Numbers
	// Section is a mapping with Key.Fields, Sections a list of such.
	Section
	Sections
	// Table is a mapping with free keys and any values, TextTable one with texts as values.
	Table
	TextTable
	// Anything is checked by the room that it is for.
	Anything
)

// Key is a row of the table.
type Key struct {
	Name string
	Kind Kind
	// Option is the row of config/option whose grammar, limits, help and effect the key has.
	Option *option.Option
	// Fields are the keys of a Section and of each item of Sections, and of those items of Words that are mappings.
	Fields []Key
	Values []string
	Limits option.Limits
	// Default is what the complete configuration holds where the file has no value, nil for nothing: a Go value as
	// document.Of takes it.
	Default any
	// Required keys are asked for by the reader.
	Required bool
	Help     string
	// Ours reports that the original does not know the key.
	Ours bool
	// Of are the types of dataset or phase that have the key; nil is all.
	Of []string
	// Unused says why a key is accepted without effect; it is for warnings.
	Unused string
}

// Holds is the kind of the key's value, that of its option where the key names none.
func (k Key) Holds() Kind {
	o := k.Option
	if k.Kind != ByOption || o == nil {
		return k.Kind
	}
	switch {
	case o.Type == option.Pairs:
		return Table
	case o.Type == option.Headers:
		return TextTable
	case o.Type == option.Number && o.Arity != option.One:
		return Numbers
	case o.Arity != option.One:
		return Words
	case o.Type == option.Bool:
		return Switch
	case o.Type == option.Int:
		return Whole
	case o.Type == option.Float, o.Type == option.Number:
		return Number
	case o.Type == option.Enum:
		return Choice
	}
	return Word
}

// Choices are the values of a Choice.
func (k Key) Choices() []string {
	if k.Values != nil || k.Option == nil {
		return k.Values
	}
	return k.Option.Values
}

// Bounds are the limits of a number.
func (k Key) Bounds() option.Limits {
	if k.Option != nil && k.Limits == (option.Limits{}) {
		return k.Option.Limits
	}
	return k.Limits
}

// Text is the help of the key.
func (k Key) Text() string {
	if k.Option != nil && k.Help == "" {
		return k.Option.Help
	}
	return k.Help
}

// Has reports whether a dataset or a phase of the type has the key.
func (k Key) Has(kind string) bool { return k.Of == nil || slices.Contains(k.Of, kind) }

// Field finds a key of a section.
func (k Key) Field(name string) (Key, bool) {
	for _, f := range k.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Key{}, false
}

// Nearest is the key of the section that was probably meant, "" if none is near.
func (k Key) Nearest(name string) string {
	names := make([]string, len(k.Fields))
	for i, f := range k.Fields {
		names[i] = f.Name
	}
	return suggest.Nearest(Snake(name), names)
}

// Find finds the key at a dotted path below the envelope; list items are "[]", as in benchmark.phases[].rate.
func Find(path string) (Key, bool) {
	k := Envelope()
	for part := range strings.SplitSeq(strings.ReplaceAll(path, "[]", ""), ".") {
		next, ok := k.Field(part)
		if !ok {
			return Key{}, false
		}
		k = next
	}
	return k, true
}

// Envelope is the whole file.
func Envelope() Key { return envelope() }

var envelope = sync.OnceValue(func() Key { return Key{Kind: Section, Fields: envelopeKeys(option.Rows())} })

// Body is what "benchmark:" holds.
func Body() Key {
	k, _ := Envelope().Field("benchmark")
	return k
}

// Snake is the snake_case of a camelCase name; other names stay as they are.
func Snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && !strings.HasSuffix(b.String(), "_") {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Camel is the camelCase of a snake_case name.
func Camel(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

// FieldOf finds a key of a section that a dataset or phase of the type has; outside of them the type is "".
func (k Key) FieldOf(name, kind string) (Key, bool) {
	for _, f := range k.Fields {
		if f.Name == name && (kind == "" || f.Has(kind)) {
			return f, true
		}
	}
	return Key{}, false
}

// TypesOf are the types of dataset or phase that have a key of the section.
func (k Key) TypesOf(name string) (types []string) {
	for _, f := range k.Fields {
		if f.Name == name {
			types = append(types, f.Of...)
		}
	}
	return types
}
