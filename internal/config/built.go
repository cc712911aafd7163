package config

import (
	"reflect"
	"slices"
	"strings"
)

// checkMissing refuses the options of capabilities that this release lacks. An option that repeats its
// default or says no asks for nothing and is accepted.
func (d *draft) checkMissing() {
	for _, o := range table().options {
		if o.Built() || !d.given(o.Name) {
			continue
		}
		if value := d.p.Value(o.Name); value != false && !reflect.DeepEqual(value, defaultValue(o)) {
			d.unavailable(d.flag(o.Name), "it lacks "+o.Missing)
		}
	}
	if origin := d.p.Origin("api-port"); origin.Source == FromEnvironment {
		d.unavailable(origin.Name, "it lacks "+option("api-port").Missing)
	}
}

// checkBuilt refuses the values that this release lacks, and lists of them.
func (d *draft) checkBuilt() {
	for _, o := range table().options {
		if !d.given(o.Name) {
			continue
		}
		text, isText := d.p.Value(o.Name).(string)
		switch {
		case len(o.BuiltValues) > 0 && isText && !slices.Contains(o.BuiltValues, text):
			d.unavailable(d.flag(o.Name)+" "+text, "use "+orList(o.BuiltValues))
		case d.p.Swept(o.Name) != nil:
			d.unavailable("a list for "+d.flag(o.Name), "it lacks parameter sweeps; give one value")
		}
	}
}

func (d *draft) unavailable(what, why string) {
	d.fault(Unavailable, "%s is not available in this release: %s", what, why)
}

// orList joins choices: "a, b or c".
func orList(choices []string) string {
	if len(choices) < 2 {
		return strings.Join(choices, "")
	}
	last := len(choices) - 1
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}
