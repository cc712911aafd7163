package option

import (
	"slices"

	"aiperf/internal/base/artifact"
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

// Opt is the value of an option in a [Tree], and where it comes from. It belongs to a tree that [NewTree] made; the
// zero value has no row and is not usable.
type Opt[T any] struct {
	row *Option
	// given is what was set, nil for nothing. Copies of a tree share it, so it is replaced and never changed.
	given *given[T]
}

// given is a value that something other than the table set.
type given[T any] struct {
	origin Origin
	value  T
	// valid is false where the tokens were wrong: the option then counts as given, without a value.
	valid bool
	// swept holds all values of a comma list when there is more than one; value is then the first.
	swept []any
}

// Field is an [Opt] of any type: what code that walks over the table sees of a value.
type Field interface {
	// Row is the option's row of the table.
	Row() *Option
	// Given reports whether a flag or a file set the option, even to its default.
	Given() bool
	// IsSet reports whether anything but the table set the option.
	IsSet() bool
	// Origin is where the option's value comes from.
	Origin() Origin
	// Flag is the option's name for a message: as it was typed, else the usual name.
	Flag() string
	// Value is the value: the one that was set, else the default, else nil. It is shared: callers only read it.
	Value() any
	// Swept holds the values of a comma list; nil when there is only one.
	Swept() []any
	// Set gives the option the value that its tokens stand for. Its error says what is wrong with them; the option then
	// counts as given, without a value.
	Set(tokens []string, from Origin) error
	// Claim makes the option given, without a value yet.
	Claim(from Origin)
	// Unset takes the value back.
	Unset()
	// Take takes over an option as it is set in another tree; it reports whether it is set there.
	Take(from Field) bool

	// set gives the option a value of its type; any other one, such as nil, makes it given without a value.
	set(value any, swept []any, from Origin)
	bind(row *Option)
	// grammar is the type of the row and its arity, as far as the type of the value says them.
	grammar() (ValueType, Arity)
}

// Get is the value: the one that was set, else the default, else the zero value. A list is the caller's own.
func (o *Opt[T]) Get() T {
	v, _ := o.value()
	switch list := any(v).(type) {
	case []string:
		return any(slices.Clone(list)).(T)
	case []any:
		return any(slices.Clone(list)).(T)
	case artifact.Object:
		return any(slices.Clone(list)).(T)
	}
	return v
}

// Or is the value, def when it is neither set nor defaulted.
func (o *Opt[T]) Or(def T) T {
	if v, ok := o.value(); ok {
		return v
	}
	return def
}

// Pointer is the value, nil when it is neither set nor defaulted.
func (o *Opt[T]) Pointer() *T {
	v, ok := o.value()
	if !ok {
		return nil
	}
	return &v
}

// All are the values of a comma list, else the only value, else none.
func (o *Opt[T]) All() (all []T) {
	for _, v := range o.Swept() {
		all = append(all, v.(T))
	}
	if v, ok := o.value(); ok && all == nil {
		all = append(all, v)
	}
	return all
}

// Put gives the option a value as it is.
func (o *Opt[T]) Put(value T, from Origin) {
	o.given = &given[T]{origin: from, value: value, valid: true}
}

func (o *Opt[T]) value() (v T, ok bool) {
	if o.given != nil {
		return o.given.value, o.given.valid
	}
	v, ok = o.row.preset.(T)
	return v, ok
}

// Row implements [Field].
func (o *Opt[T]) Row() *Option { return o.row }

// Given implements [Field].
func (o *Opt[T]) Given() bool { return o.given != nil && o.given.origin.Source >= FromFile }

// IsSet implements [Field].
func (o *Opt[T]) IsSet() bool { return o.given != nil }

// Origin implements [Field].
func (o *Opt[T]) Origin() Origin {
	if o.given == nil {
		return Origin{}
	}
	return o.given.origin
}

// Flag implements [Field].
func (o *Opt[T]) Flag() string {
	if origin := o.Origin(); origin.Source != FromDefault {
		return origin.Name
	}
	return "--" + o.row.Usual()
}

// Value implements [Field].
func (o *Opt[T]) Value() any {
	if v, ok := o.value(); ok {
		return v
	}
	return nil
}

// Swept implements [Field].
func (o *Opt[T]) Swept() []any {
	if o.given == nil {
		return nil
	}
	return slices.Clone(o.given.swept)
}

// Set implements [Field].
func (o *Opt[T]) Set(tokens []string, from Origin) error { return o.row.Set(o, tokens, from) }

// Claim implements [Field].
func (o *Opt[T]) Claim(from Origin) { o.given = &given[T]{origin: from} }

// Unset implements [Field].
func (o *Opt[T]) Unset() { o.given = nil }

// Take implements [Field].
func (o *Opt[T]) Take(from Field) bool {
	other, ok := from.(*Opt[T])
	if !ok || other.given == nil {
		return false
	}
	o.given = other.given
	return true
}

func (o *Opt[T]) set(value any, swept []any, from Origin) {
	g := &given[T]{origin: from, swept: swept}
	g.value, g.valid = value.(T)
	o.given = g
}

func (o *Opt[T]) bind(row *Option) { o.row = row }

func (o *Opt[T]) grammar() (ValueType, Arity) {
	switch any(o).(type) {
	case *Opt[bool]:
		return Bool, One
	case *Opt[string]:
		return String, One
	case *Opt[int64]:
		return Int, One
	case *Opt[float64]:
		return Float, One
	case *Opt[[]string]:
		return String, Repeat
	case *Opt[[]any]:
		return Number, Repeat
	case *Opt[artifact.Object]:
		return Pairs, One
	}
	return Any, One
}
