// Package option is the table of the options of "aiperf profile": names, value grammar, default, limits, environment
// variable, YAML path, help, and whether the capability is built.
//
// Parsing, help, completion, documentation and validation read this one table. [Option.Parse] turns text into a value
// by the grammar of its row; it sees one option at a time and never the value of another one.
package option

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/config/flags"
)

// ValueType is the grammar of one value of an option.
type ValueType uint8

// The value types.
const (
	Bool ValueType = iota
	String
	Int
	Float
	Enum
	Path
	// Pairs are key:value items whose values are coerced to JSON types.
	Pairs
	// Headers are name:value items whose values stay text.
	Headers
	// URLHeaders are URL=name:value items, each a token of its own; the value is a list of them as texts.
	URLHeaders
	// Number is an int, or a float when written with a point or exponent.
	Number
	// Any is a value that only a configuration file gives; no text stands for it.
	Any
)

// String names the type in help and documentation.
func (t ValueType) String() string {
	return [...]string{"bool", "string", "int", "float", "enum", "path", "key:value", "name:value",
		"url=name:value", "number", "any"}[t]
}

// Arity is how often an option is given and how many tokens it takes.
type Arity uint8

// The arities.
const (
	// One value, given at most once.
	One Arity = iota
	// Repeat takes one token each time; a token may be a comma list.
	Repeat
	// Multi takes all tokens up to the next one that starts with "-", none at all included.
	Multi
)

// Group is a heading of the help text.
type Group string

// The groups in the order of the help text.
const (
	GroupEndpoint  Group = "Endpoint"
	GroupTokenizer Group = "Tokenizer"
	GroupInput     Group = "Input"
	GroupPrompts   Group = "Conversations and prompts"
	GroupMedia     Group = "Media, rankings, synthesis"
	GroupLoad      Group = "Load"
	GroupSeries    Group = "Repeated runs"
	GroupSweep     Group = "Sweeps"
	GroupSearch    Group = "Searches"
	GroupServer    Group = "Server under test"
	GroupFleet     Group = "Several processes and machines"
	GroupOutput    Group = "Results and verdicts"
	GroupTelemetry Group = "GPUs, server metrics, network"
	GroupExport    Group = "Export to other systems"
	GroupInterface Group = "Screen, log, processes"
	GroupAccuracy  Group = "Accuracy"
)

// Groups lists the groups in the order of the help text.
func Groups() []Group {
	return []Group{GroupEndpoint, GroupTokenizer, GroupInput, GroupPrompts, GroupMedia, GroupLoad, GroupSeries,
		GroupSweep, GroupSearch, GroupServer, GroupFleet, GroupOutput, GroupTelemetry, GroupExport, GroupInterface,
		GroupAccuracy}
}

// topicNames are the names of the groups for --help NAME.
func topicNames() map[Group]string {
	return map[Group]string{GroupEndpoint: "endpoint", GroupTokenizer: "tokenizer", GroupInput: "input",
		GroupPrompts: "prompts", GroupMedia: "media", GroupLoad: "load", GroupSeries: "repeats", GroupSweep: "sweep",
		GroupSearch: "search", GroupServer: "server", GroupFleet: "fleet", GroupOutput: "results",
		GroupTelemetry: "telemetry", GroupExport: "export", GroupInterface: "screen", GroupAccuracy: "accuracy"}
}

// Topics are the groups as topics of the help.
func Topics() (list []flags.Topic) {
	names := topicNames()
	for _, g := range Groups() {
		list = append(list, flags.Topic{Name: names[g], Title: string(g)})
	}
	return list
}

// Option is a row of the table of "aiperf profile".
type Option struct {
	flags.Flag
	Group Group
	Type  ValueType
	Arity Arity
	// Sweep allows a comma list, which makes the option a dimension of a sweep.
	Sweep bool
	// Whole says that a token of a list is one item, with its commas.
	Whole bool
	// DefaultNote says in words where the default comes from when it depends on something else.
	DefaultNote string
	Limits      Limits
	// Unit is that of a bare number where a Float or an Int is a time, whose texts may have units; else 0.
	Unit time.Duration
	// Factor allows a × before the number.
	Factor bool
	// Infinite allows "inf".
	Infinite bool
	// MustExist asks a Path to name a file or a folder.
	MustExist bool
	// Bare is the value of a flag that is given without one; "" for a flag that needs one.
	Bare string
	// MayBeEmpty allows an empty text.
	MayBeEmpty bool
	// Extensible allows an Enum values that the table lacks: the names of plug-ins, which nobody knows here.
	Extensible bool
	// Secret values are never shown; Address values may carry user information that is not shown.
	Secret, Address bool
	// Env is the environment variable that sets the option when no flag does.
	Env string
	// YAML is the path below "benchmark:", or from the envelope when it starts with "/".
	YAML string
	// Tier is 1 (core), 2 (common) or 3 (niche).
	Tier int
	// Meanings are sentences on the values of an Enum, for lists; nil where the names say it all.
	Meanings map[string]string
	// BuiltValues are the choices that this release has, where it lacks some.
	BuiltValues []string

	// usual is the long name by which pages and messages call the option, where that is not the canonical one.
	usual string
	// field is that of the tree which the table was made with, path its place in any tree.
	field Field
	path  []int
	// preset is the default as a value, nil without one.
	preset any
}

// mostChoices is the length of choices that follow their flag.
const mostChoices = 50

// ManyValues reports whether the values are too many to follow the flag in the help text.
func (o *Option) ManyValues() bool {
	return o.Type == Enum && len(strings.Join(o.Values, "|")) > mostChoices
}

// facts are the default, the limits and the choices of an option in words.
func (o *Option) facts() string {
	var list []string
	switch {
	case o.DefaultNote != "":
		list = append(list, "default: "+o.DefaultNote)
	case o.Default != "" && (o.Type != Bool || o.Default != "false"):
		list = append(list, "default: "+o.Default)
	}
	if limits := o.Limits.String(); limits != "" {
		list = append(list, limits)
	}
	missing := o.MissingValues()
	if o.ManyValues() {
		list = append(list, "one of "+strings.Join(without(o.Values, missing), ", "))
	}
	if o.Env != "" {
		list = append(list, "environment: "+o.Env)
	}
	if len(missing) > 0 {
		list = append(list, "not in this release: "+strings.Join(missing, ", "))
	}
	return strings.Join(list, "; ")
}

// MissingValues are the values of an option that this release cannot do.
func (o *Option) MissingValues() []string {
	if len(o.BuiltValues) == 0 {
		return nil
	}
	return without(o.Values, o.BuiltValues)
}

// Available are the values of an option that this release can do.
func (o *Option) Available() []string { return without(o.Values, o.MissingValues()) }

// without are the values that the others lack.
func without(values, others []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(others, v) })
}

// valueName is how the help text writes the value.
func (o *Option) valueName() string {
	name := strings.ToUpper(o.Type.String())
	switch {
	case o.Type == Bool:
		return ""
	case o.ManyValues():
		name = "TYPE"
	case o.Type == Enum:
		name = strings.Join(o.Values, "|")
	case o.Bare != "":
		name = "[ADDR]"
	case o.Unit == time.Second:
		name = "SECONDS"
	case o.Unit == time.Millisecond:
		name = "MILLISECONDS"
	}
	if o.Arity == Multi {
		name += " …"
	}
	return name
}

// Usual is the long name, without dashes, by which pages and messages call the option.
func (o *Option) Usual() string { return cmp.Or(o.usual, o.Name) }

// EnvPrefix begins the name of every variable of the table.
const EnvPrefix = "AIPERF_"

// All is the table of "aiperf profile", group by group in the order of the help text. It is the table itself, which
// callers only read: a configuration looks through it some twenty times, and a copy is 100 kB.
func All() []Option { return table().options[:table().flagged:table().flagged] }

// Flags are those of "aiperf profile" as a table of flags, in the order of Options.
func Flags() *flags.Table { return &table().flags }

// optionTable is the table with the tree that its rows are bound to.
type optionTable struct {
	// tree is the one without values; the fields of all others are copies of its fields.
	tree Tree
	// options are those of flags, up to flagged, and those of configuration files alone.
	options []Option
	flagged int
	flags   flags.Table
}

var table = sync.OnceValue(func() *optionTable {
	t := &optionTable{flags: flags.Table{Command: "profile", Topics: Topics(), Short: usualFlags()}}
	topics, briefs := topicNames(), briefs()
	t.options, t.flagged = t.tree.rows()
	paths := t.tree.paths()
	for i := range t.options {
		o := &t.options[i]
		o.path, o.preset = paths[o.field], o.parseDefault()
		o.field.bind(o)
		if i >= t.flagged {
			continue
		}
		o.Value = o.valueName()
		o.Optional = o.Bare != ""
		o.Facts, o.Topic = o.facts(), topics[o.Group]
		for _, name := range o.Long() {
			o.Brief = cmp.Or(o.Brief, briefs[name])
		}
		if o.Arity == Multi {
			o.Optional, o.More = true, func(arg string) bool { return !strings.HasPrefix(arg, "-") }
		}
		t.flags.Flags = append(t.flags.Flags, o.Flag)
	}
	return t
})

// mark fills further columns of a row.
type mark func(*Option)

// opt makes the row of a field, whose type says that of the values as far as no mark does; the names are written as for
// [flags.Value].
func opt(field Field, names, def string, tier int, help string, marks ...mark) Option {
	o := Option{Flag: flags.Flag{Default: def, Help: help}, Tier: tier, field: field}
	o.Type, o.Arity = field.grammar()
	o.SetNames(names)
	for _, m := range marks {
		m(&o)
	}
	if o.Type == String && o.Values != nil {
		o.Type = Enum
	}
	return o
}

func limits(l Limits) mark    { return func(o *Option) { o.Limits = l } }
func factor(o *Option)        { o.Factor = true }
func begins(g Group) mark     { return func(o *Option) { o.Group = g } }
func values(v ...string) mark { return func(o *Option) { o.Values = v } }

// choices are values, each followed by its meaning.
func choices(valuesAndMeanings ...string) mark {
	return func(o *Option) {
		o.Meanings = map[string]string{}
		for i := 0; i < len(valuesAndMeanings); i += 2 {
			o.Values = append(o.Values, valuesAndMeanings[i])
			o.Meanings[valuesAndMeanings[i]] = valuesAndMeanings[i+1]
		}
	}
}
func builtOnly(v ...string) mark { return func(o *Option) { o.BuiltValues = v } }
func yaml(path string) mark      { return func(o *Option) { o.YAML = path } }
func env(name string) mark       { return func(o *Option) { o.Env = EnvPrefix + name } }
func derived(note string) mark   { return func(o *Option) { o.DefaultNote = note } }
func negation(name string) mark  { return func(o *Option) { o.Negation = name } }
func headers(o *Option)          { o.Type = Headers }
func urlHeaders(o *Option)       { o.Type = URLHeaders }
func path(o *Option)             { o.Type = Path }
func structured(o *Option)       { o.Type, o.Arity = Any, One }
func whole(o *Option)            { o.Arity, o.Whole = Repeat, true }
func multi(o *Option)            { o.Arity = Multi }
func sweep(o *Option)            { o.Sweep = true }
func seconds(o *Option)          { o.Unit = time.Second }
func milliseconds(o *Option)     { o.Unit = time.Millisecond }
func infinite(o *Option)         { o.Infinite = true }
func mustExist(o *Option)        { o.Type, o.MustExist = Path, true }
func bare(value string) mark     { return func(o *Option) { o.Bare = value } }
func mayBeEmpty(o *Option)       { o.MayBeEmpty = true }
func extensible(o *Option)       { o.Extensible = true }
func secret(o *Option)           { o.Secret = true }
func address(o *Option)          { o.Address = true }
func usual(name string) mark     { return func(o *Option) { o.usual = name } }
func negated(o *Option)          { o.Negation = "no-" + o.Name }
