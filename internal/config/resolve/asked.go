package resolve

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/config/settings"
	"aiperf/internal/wire/api"
	"aiperf/internal/workload/recipe"
	"aiperf/internal/workload/recording"
)

// asked is what every subject works on: the values that were given, the facts of other rooms, and what was found wrong
// so far. All subjects of a resolution share one.
type asked struct {
	p       *settings.Settings
	catalog Catalog
	*found
	// recording is what recorded has found, once it has looked.
	recording *recording.About
	looked    bool
}

// found is what was found wrong, and what to tell the user. All phases of a resolution share one.
type found struct {
	faults   fault.List
	warnings []fault.Warning
}

// of is the same with the settings of a phase.
func (a *asked) of(p *settings.Settings) *asked {
	return &asked{p: p, catalog: a.catalog, found: a.found}
}

func (a *asked) warn(format string, args ...any) {
	a.warnings = append(a.warnings, fault.Warning{Level: fault.LevelWarning, Text: fmt.Sprintf(format, args...)})
}

func (a *asked) info(format string, args ...any) {
	a.warnings = append(a.warnings, fault.Warning{Level: fault.LevelInfo, Text: fmt.Sprintf(format, args...)})
}

func (a *asked) fault(rule, format string, args ...any) { a.faults.Add(rule, format, args...) }

func (a *asked) unavailable(what, why string) {
	a.fault(fault.Unavailable, "%s is not available in this release: %s", what, why)
}

// givenOf lists the flags, as typed, of those options that were given.
func givenOf(options ...option.Field) []string {
	var flags []string
	for _, o := range options {
		if o.Given() {
			flags = append(flags, o.Flag())
		}
	}
	return flags
}

// active reports whether an option was given and asks for something: a Bool must be true, and what a file says must be
// more than the default, so that a complete configuration can be read again.
func active(o option.Field) bool {
	if fromFile(o) && reflect.DeepEqual(o.Value(), o.Row().DefaultValue()) {
		return false
	}
	return o.Given() && (o.Row().Type != option.Bool || o.Value() == true)
}

// activeOf lists those options that were given and ask for something.
func activeOf(options ...option.Field) (flags []string) {
	for _, o := range options {
		if active(o) {
			flags = append(flags, o.Flag())
		}
	}
	return flags
}

// fromFile reports whether a configuration file sets the option.
func fromFile(o option.Field) bool { return o.Origin().Source == option.FromFile }

// real is the value of a number, 0 without one.
func real(o option.Field) float64 {
	switch v := o.Value().(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

func positive(o option.Field) bool { return real(o) > 0 }

// sizes is the distribution that a file gives, else that of the options of its mean and deviation.
func sizes(own recipe.Sizes, mean, stddev option.Field) recipe.Sizes {
	if own != nil {
		return own
	}
	return recipe.Normal{Mean: real(mean), Stddev: real(stddev)}
}

// numbers are the values of a list of numbers.
func numbers(o *option.Opt[[]any]) []float64 {
	var list []float64
	for _, v := range o.Get() {
		switch n := v.(type) {
		case int64:
			list = append(list, float64(n))
		case float64:
			list = append(list, n)
		}
	}
	return list
}

// first is the first pointer that is not nil.
func first[T any](choices ...*T) *T {
	for _, c := range choices {
		if c != nil {
			return c
		}
	}
	return nil
}

// smallInt narrows a count; one beyond the range of int is as good as none.
func smallInt(v *int64) *int {
	if v == nil {
		return nil
	}
	n := int(min(*v, math.MaxInt32))
	return &n
}

func durationOf(seconds *float64) *time.Duration {
	if seconds == nil {
		return nil
	}
	d := option.Seconds(*seconds)
	return &d
}

// orList joins choices: "a, b or c".
func orList(choices []string) string {
	if len(choices) < 2 {
		return strings.Join(choices, "")
	}
	last := len(choices) - 1
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}

// typesThat lists the endpoint types that match, in the order of the option's choices.
func typesThat(match func(api.Descriptor) bool) (names []string) {
	for _, d := range api.All() {
		if match(d) {
			names = append(names, d.Name)
		}
	}
	return names
}
