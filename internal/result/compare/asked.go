package compare

import (
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/pattern"
)

// aspect is a part of what a run asks of a server, by the keys of the configuration that decide it.
type aspect struct {
	name string
	keys *pattern.Pattern
	// of reports that the keys say which server is measured, which is what comparisons are for.
	of bool
}

// aspects are in the order in which they are named; the first whose keys match has a key. A seed, the length of a run
// and its files are none: they change the sample, not the test.
var aspects = []aspect{
	{"url", pattern.New(`^endpoint\.urls?\b`), true},
	{"model", pattern.New(`^(models?|model_names|endpoint\.model_names)\b`), true},
	{"endpoint type", pattern.New(`^endpoint(\.|_)type$`), false},
	{"streaming", pattern.New(`^endpoint\.streaming$`), false},
	{"extra inputs", pattern.New(`^endpoint\.extra\b`), false},
	{"isl", pattern.New(`\b(isl|input_tokens)\b`), false},
	{"osl", pattern.New(`\b(osl|output_tokens)\b`), false},
	{"dataset", pattern.New(`^(datasets?|input|accuracy)\b`), false},
	{"concurrency", pattern.New(`^(phases.*|loadgen)\.concurrency$`), false},
	{"prefill concurrency", pattern.New(`^(phases.*|loadgen)\.prefill_concurrency$`), false},
	{"request rate", pattern.New(`^(phases.*\.(rate|rate_series\b.*)|loadgen\.request_rate)$`), false},
	{"users", pattern.New(`^(phases.*|loadgen)\.(num_)?users$`), false},
	{"arrivals", pattern.New(`^phases[^.]*\.(type|smoothness)$|^loadgen\.arrival_pattern$`), false},
}

// sampled are the keys that choose another sample of the same test.
var sampled = pattern.New(`(random_)?seed$|^datasets\[\d+\]\.name$|\.cache_bust\b`)

// askedDifferences names the parts of what was asked in which the first runs of two systems differ. There are none where
// only the server is another one: that is what a comparison is about.
func askedDifferences(base, next *System) (names []string) {
	if len(base.Runs) == 0 || len(next.Runs) == 0 {
		return nil
	}
	a, b := askedConfig(base), askedConfig(next)
	if !sameShape(a, b) {
		return nil // another program's: its keys have other names
	}
	differ := make([]bool, len(aspects))
	test := false
	for _, d := range differing(base, next, a, b) {
		if sampled.MatchString(d.Key) {
			continue
		}
		at := slices.IndexFunc(aspects, func(of aspect) bool { return of.keys.MatchString(d.Key) })
		if at >= 0 {
			differ[at] = true
			test = test || !aspects[at].of
		}
	}
	for i := range aspects {
		if test && differ[i] {
			names = append(names, aspects[i].name)
		}
	}
	return names
}

// askedConfig is the configuration of the first run without its warm-ups.
func askedConfig(s *System) artifact.Object {
	var out artifact.Object
	for _, m := range s.Runs[0].Figures.Config {
		input, ok := m.Value.(artifact.Object)
		if m.Key != "input_config" || !ok {
			continue
		}
		var kept artifact.Object
		for _, of := range input {
			if list, isList := of.Value.([]any); isList && of.Key == "phases" {
				of.Value = slices.DeleteFunc(slices.Clone(list), isWarmup)
			}
			kept = append(kept, of)
		}
		out = append(out, artifact.Member{Key: m.Key, Value: kept})
	}
	return out
}

// isWarmup reports whether an item of the phases is a warm-up.
func isWarmup(phase any) bool {
	o, _ := phase.(artifact.Object)
	kind, _ := o.Get("kind")
	name, _ := o.Get("name")
	text, _ := name.(string)
	return kind == "warmup" || kind == nil && strings.HasPrefix(text, "warmup")
}

// sameShape reports whether two configurations name their load alike.
func sameShape(a, b artifact.Object) bool {
	has := func(o artifact.Object) bool {
		input, _ := o.Get("input_config")
		config, _ := input.(artifact.Object)
		_, ok := config.Get("phases")
		return ok
	}
	return len(a) > 0 && len(b) > 0 && has(a) == has(b)
}

// NotTheSame says that what was asked differs; "" where it does not.
func (c *Comparison) NotTheSame() string {
	if len(c.Asked) == 0 {
		return ""
	}
	return "Not the same test: " + strings.Join(c.Asked, ", ")
}
