package config

import (
	"reflect"
	"slices"
	"strings"
)

// checkBuilt refuses what this release cannot do. An option that repeats its default or says no asks for
// nothing and is accepted.
func (d *draft) checkBuilt() {
	for _, o := range table().options {
		if !d.given(o.Name) {
			continue
		}
		value := d.p.Value(o.Name)
		text, isText := value.(string)
		switch {
		case o.Name == "endpoint-type":
			d.checkEndpointBuilt()
		case !o.Built():
			if value != false && !reflect.DeepEqual(value, defaultValue(o)) {
				d.unavailable(d.flag(o.Name), "it lacks "+o.Missing)
			}
		case len(o.BuiltValues) > 0 && isText && !slices.Contains(o.BuiltValues, text):
			d.unavailable(d.flag(o.Name)+" "+text, "use "+orList(o.BuiltValues))
		case d.p.Swept(o.Name) != nil:
			d.unavailable("a list for "+d.flag(o.Name), "it lacks parameter sweeps; give one value")
		}
	}
	if d.p.Env.Dataset.TraceLabJoin {
		d.unavailable("AIPERF_DATASET_TRACELAB_SUBAGENT_JOIN or …_CODEX_SUBAGENT_JOIN", "sessions of sub-agents are played beside those of their parents")
	}
	if origin := d.p.Origin("api-port"); origin.Source == FromEnvironment {
		d.unavailable(origin.Name, "it lacks "+option("api-port").Missing)
	}
}

func (d *draft) checkEndpointBuilt() {
	if d.facts.Built {
		return
	}
	var built []string
	for _, name := range endpointTypes() {
		if facts, ok := d.catalog.Endpoint(name); ok && facts.Built {
			built = append(built, name)
		}
	}
	d.unavailable(d.flag("endpoint-type")+" "+d.endpointType, "use "+orList(built))
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
