package parse

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/bounded"
	"aiperf/internal/base/pattern"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
)

// assignment is key=value of --serve-params; what does not look like one is the name of a file.
var assignment = pattern.New(`^-{0,2}[A-Za-z_][A-Za-z0-9_.-]*=`)

// MaxServeSets bounds the combinations of --serve-params: each is a start of the server.
const MaxServeSets = 1000

// ServeParams reads the texts of --serve-params: key=v1,v2, or the name of a JSON or YAML file with a list of mappings,
// a mapping of names to mappings, or one mapping. It returns all combinations, the last text varying fastest.
func ServeParams(texts []string) ([]artifact.Object, error) {
	sets := []artifact.Object{{}}
	for _, text := range texts {
		own, err := serveAxis(text)
		if err != nil {
			return nil, err
		}
		if len(sets)*len(own) > MaxServeSets {
			return nil, fmt.Errorf("--serve-params has more than %d combinations", MaxServeSets)
		}
		var product []artifact.Object
		for _, set := range sets {
			for _, more := range own {
				for _, m := range more {
					if _, twice := set.Get(m.Key); twice {
						return nil, fmt.Errorf("--serve-params %s: %s is given by another --serve-params, too",
							fault.Shorten(text), m.Key)
					}
				}
				product = append(product, slices.Concat(set, more))
			}
		}
		sets = product
	}
	seen := map[string]bool{}
	for _, set := range sets {
		key, err := artifact.AppendJSON(nil, set)
		if err != nil {
			return nil, fmt.Errorf("--serve-params: %w", err)
		}
		if seen[string(key)] {
			return nil, fmt.Errorf("--serve-params: %s stands there twice", key)
		}
		seen[string(key)] = true
	}
	return sets, nil
}

// serveAxis reads one text.
func serveAxis(text string) (sets []artifact.Object, err error) {
	if !assignment.MatchString(text) {
		return serveFile(text)
	}
	key, values, _ := strings.Cut(text, "=")
	for value := range strings.SplitSeq(values, ",") {
		sets = append(sets, artifact.Object{{Key: key, Value: asTyped(strings.TrimSpace(value))}})
	}
	return sets, nil
}

// asTyped returns a number as such where its text means nothing else to a command: not 0.90 and 007.
func asTyped(text string) any {
	v := option.Coerce(text)
	switch v.(type) {
	case int64, float64:
		if again, err := artifact.AppendJSON(nil, v); err == nil && string(again) == text {
			return v
		}
	}
	return text
}

// serveFile reads a file of parameter sets.
func serveFile(name string) ([]artifact.Object, error) {
	text, err := bounded.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--serve-params %s is neither key=value nor a file that can be read: %w",
			fault.Shorten(name), err)
	}
	f, err := document.ReadAny(name, text)
	if err != nil {
		return nil, fmt.Errorf("--serve-params: %w", err)
	}
	items := f.Root.Items
	if f.Root.Kind == document.Map {
		items = []*document.Node{f.Root}
		if !slices.ContainsFunc(f.Root.Members, func(m document.Member) bool { return m.Value.Kind != document.Map }) {
			items = nil
			for _, m := range f.Root.Members {
				items = append(items, m.Value)
			}
		}
	}
	var sets []artifact.Object
	var faults fault.List
	for i, n := range items {
		set, isMap := n.Any().(artifact.Object)
		if !isMap || len(set) == 0 {
			f.FaultOf(&faults, n, document.Index("", i), "is %v; it must be a mapping of parameters to values", n.Kind)
		}
		sets = append(sets, set)
	}
	if len(items) == 0 {
		f.Fault(&faults, f.Root.Pos, "", "has no parameters; write a list of mappings")
	}
	if err := faults.Err(); err != nil {
		return nil, fmt.Errorf("--serve-params: %w", err)
	}
	return sets, nil
}
