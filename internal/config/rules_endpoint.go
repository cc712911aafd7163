package config

import (
	"strings"

	"aiperf/internal/wire/api"
)

// multiTurn is the format of files that hold conversations turn by turn.
const multiTurn = "multi_turn"

// typesThat lists the endpoint types that match, in the order of the option's choices.
func typesThat(match func(api.Descriptor) bool) (names []string) {
	for _, d := range api.All() {
		if match(d) {
			names = append(names, d.Name)
		}
	}
	return names
}

// checkSystemPrompt refuses a system text where no request could hold it, or where another prefix stands in its place.
func (d *draft) checkSystemPrompt() {
	prompts := d.givenOf("system-prompt", "system-prompt-file")
	if len(prompts) == 0 {
		return
	}
	if !d.facts.SystemMessage {
		types := typesThat(func(f api.Descriptor) bool { return f.SystemMessage })
		d.fault("", "%s cannot be used with --endpoint-type %s, which takes no system message; use %s",
			strings.Join(prompts, ", "), d.endpointType, orList(types))
	}
	var prefixes []string
	for _, name := range []string{"prompt-prefix-pool-size", "prompt-prefix-length"} {
		if d.positive(name) {
			prefixes = append(prefixes, d.flag(name))
		}
	}
	if len(prefixes) > 0 {
		d.fault("", "%s and %s are mutually exclusive", strings.Join(prompts, ", "), strings.Join(prefixes, ", "))
	}
}

// checkUsersFile refuses files without conversations of several turns where users take turns at a rate.
func (d *draft) checkUsersFile() {
	file := d.p.Text("input-file")
	if d.mode != UserCentric || file == "" || d.branching { // those of branching sessions are refused by checkRoots
		return
	}
	if format := d.datasetFormat(file); format != "" && format != multiTurn {
		d.fault("", "%s needs a file of format %s, but %s has the format %s", d.flag("user-centric-rate"), multiTurn,
			shorten(file), format)
	}
}
