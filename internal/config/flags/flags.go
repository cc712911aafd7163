// Package flags is the grammar of the command line, the same for all commands: a Table holds the flags of a command as
// data, and parsing, the help text, suggestions and completion come from it.
//
// Vocabulary: a flag is a row of a table, a switch is a flag without a value, a word is an argument that belongs to no
// flag. Underscores and dashes in the names of flags are the same; behind "--" all arguments are words.
package flags

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
)

// Flag is a row of a table.
type Flag struct {
	// Name is the canonical long name without dashes; Aliases mean the same.
	Name    string
	Aliases []string
	// Short is a spelling with one dash, without it; usually one letter. Unlisted is one that only Help names.
	Short, Unlisted string
	// Negation is the long name that sets a switch to false, where there is one.
	Negation string
	// Value is what the help calls the value; empty for a switch.
	Value string
	// Default is written as a user would write it; empty means unset.
	Default string
	// Help explains the flag; an empty one hides a flag that is known only to be refused. Brief is a shorter one, for
	// lists; empty takes the first sentence. Facts are what is known of the value besides: default, limits, choices.
	Help, Brief, Facts string
	// Topic is the name of the topic of the table that the flag belongs to; empty for none.
	Topic string
	// Values are the choices that completion offers.
	Values []string
	// Set takes the value; that of a switch is "true" unless it is given. On is what a switch does that takes none.
	Set func(value string) error
	On  func()
	// More reports whether an argument behind the value is a further value; nil for a flag with one value. Optional
	// allows no value at all.
	More     func(arg string) bool
	Optional bool
}

// Value is a flag that takes a value. The first of the names, separated by blanks, is canonical; "-x" is a short name.
func Value(names, value, help string, set func(string) error) Flag {
	f := named(names)
	f.Value, f.Help, f.Set = value, help, set
	return f
}

// Switch is a flag that takes no value and sets on.
func Switch(names, help string, on *bool) Flag {
	f := named(names)
	f.Help, f.On = help, func() { *on = true }
	return f
}

// Choice is a flag whose value is one of some values.
func Choice(names, value, help string, to *string, values ...string) Flag {
	f := Value(names, value, help, OneOf(to, values...))
	f.Values = values
	return f
}

// OneOf keeps one of some values, given in any case.
func OneOf(to *string, values ...string) func(string) error {
	return func(v string) error {
		i := slices.IndexFunc(values, func(value string) bool { return strings.EqualFold(value, v) })
		if i < 0 {
			return fmt.Errorf("%q is none of %s", v, strings.Join(values, ", "))
		}
		*to = values[i]
		return nil
	}
}

// named is a flag with names and nothing else.
func named(names string) (f Flag) {
	f.SetNames(names)
	return f
}

// SetNames sets the names of a flag, as [Value] takes them.
func (f *Flag) SetNames(names string) {
	for name := range strings.FieldsSeq(names) {
		switch {
		case strings.HasPrefix(name, "-"):
			f.Short = name[1:]
		case f.Name == "":
			f.Name = name
		default:
			f.Aliases = append(f.Aliases, name)
		}
	}
}

// Text keeps the value as it is.
func Text(to *string) func(string) error { return func(v string) error { *to = v; return nil } }

// Texts keeps the values of all uses.
func Texts(to *[]string) func(string) error {
	return func(v string) error { *to = append(*to, v); return nil }
}

// List keeps the items of comma lists.
func List(to *[]string) func(string) error {
	return func(v string) error {
		for item := range strings.SplitSeq(v, ",") {
			if item = strings.TrimSpace(item); item == "" {
				return fmt.Errorf("%q has an empty item", v)
			}
			*to = append(*to, item)
		}
		return nil
	}
}

// Bool reads a truth value, as that of a switch which takes one.
func Bool(to *bool) func(string) error {
	return func(v string) (err error) { *to, err = scalar.Bool(v); return err }
}

// Long are the long names of the flag without dashes: canonical, aliases, negation.
func (f *Flag) Long() []string {
	long := append([]string{f.Name}, f.Aliases...)
	if f.Negation != "" {
		long = append(long, f.Negation)
	}
	return long
}

// Spellings are the ways to write the flag that the help lists, with dashes: short, canonical, aliases, negation.
func (f *Flag) Spellings() []string {
	var all []string
	if f.Short != "" {
		all = append(all, "-"+f.Short)
	}
	for _, name := range f.Long() {
		all = append(all, "--"+name)
	}
	return all
}

// Table is a command with its flags.
type Table struct {
	// Command is the word after "aiperf".
	Command string
	Flags   []Flag
	// Places are the flags that are set by words without a flag, in order; nil passes the words on.
	Places []string
	// Once refuses a flag that is given twice; Clustered allows "-ab" for "-a -b" and "-n5" for "-n 5".
	Once, Clustered bool

	// About and Footer are the text around the flags: paragraphs, whose lines are broken anew, and indented lines, which
	// are not. A last line of About with a colon is the heading of the flags. ShortFooter follows a short help text.
	About, Footer, ShortFooter string
	// Page is that of the documentation, named as its file; empty for none.
	Page string
	// Examples are commands that run as they are printed.
	Examples []Example
	// Topics are the groups of the flags, in the order of the help; nil for one group.
	Topics []Topic
	// Short are the usual flags by purpose, for a help of one screen; nil where all flags fit, or have a line each.
	Short []Section
	// Foreign says what flags of other programs are called here, with a value; nil for nothing.
	Foreign func(typed, value string) string
	// Also are further flags that the command takes, those of another one; nil for none.
	Also *Table
	// Entries are what a search of the help looks through besides, below a title; nil for nothing.
	Entries      func() []Entry
	EntriesTitle string
}

// Find finds the flag of an argument, without its value; its index is -1 if there is none. negative reports that it is
// the form that says no.
func (t *Table) Find(typed string) (flag int, negative bool) {
	long, is := strings.CutPrefix(typed, "--")
	if is {
		long = strings.ReplaceAll(long, "_", "-")
	}
	for i := range t.Flags {
		f := &t.Flags[i]
		switch {
		case !is && len(typed) > 1 && (typed[1:] == f.Short || typed[1:] == f.Unlisted):
			return i, false
		case is && long != "" && (long == f.Name || slices.Contains(f.Aliases, long)):
			return i, false
		case is && long != "" && long == f.Negation:
			return i, true
		}
	}
	return -1, false
}

// Nearest is the flag, with dashes, that was probably meant by one that there is not; empty if none is near.
func (t *Table) Nearest(typed string) string {
	word := strings.ReplaceAll(strings.TrimLeft(typed, "-"), "_", "-")
	if len(word) == 1 { // every short name is near to every other: only one that differs by its case is meant
		for i := range t.Flags {
			if short := t.Flags[i].Short; short != word && strings.EqualFold(short, word) {
				return "-" + short
			}
		}
		return ""
	}
	var long []string
	for i := range t.Flags {
		if t.Flags[i].Help != "" {
			long = append(long, t.Flags[i].Long()...)
		}
	}
	if slices.Contains(long, word) {
		return "--" + word
	}
	if near := suggest.Nearest(word, long); near != "" {
		return "--" + near
	}
	return ""
}
