package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/schema"
)

// aliases are the fields of the measured phase that a path may name alone.
var aliases = append(slices.Clone(swept), "smoothness", "grace_period", "concurrency_ramp", "prefill_ramp", "rate_ramp",
	"rate_series")

// profilingPhase is what a path calls the measured phase, whatever its name.
const profilingPhase = "phases.profiling."

// destination is where a path leads to.
type destination struct {
	// path is written out in full; steps lead there from the envelope.
	path  string
	steps []step
}

// step is a key of a mapping, or the index of an item of a list if key is "".
type step struct {
	key   string
	index int
}

// assignment is a value for a place.
type assignment struct {
	// path is that of the place.
	path  string
	steps []step
	value *document.Node
}

// apply sets the value in an envelope that has the shape that the place was found in.
func (a assignment) apply(envelope *document.Node) {
	n := envelope
	last := len(a.steps) - 1
	for i, s := range a.steps {
		switch {
		case s.key == "" && i == last:
			n.Items[s.index] = a.value.Clone()
		case s.key == "":
			n = n.Items[s.index]
		case i == last:
			n.Set(s.key, a.value.Clone())
		default:
			next := n.Get(s.key)
			if next == nil || next.Kind == document.Null {
				next = &document.Node{Kind: document.Map, Pos: a.value.Pos}
				n.Set(s.key, next)
			}
			n = next
		}
	}
}

// find finds the place of a path. The error says what is wrong with the path.
func (x *expansion) find(path string) (destination, error) {
	if err := syntax(path); err != nil {
		return destination{}, err
	}
	segments := strings.Split(path, ".")
	if alias := schema.Snake(segments[0]); len(segments) == 1 && slices.Contains(aliases, alias) {
		segments = strings.Split(profilingPhase+alias, ".")
	}
	first := schema.Snake(segments[0])
	root, steps := x.raw.Get("benchmark"), []step{{key: "benchmark"}}
	switch {
	case first == "variables":
		root, steps, segments = x.raw, nil, append([]string{first}, segments[1:]...)
	case first == "benchmark":
		return destination{}, errors.New("must be written without \"benchmark.\": " +
			fault.Shorten(strings.Join(segments[1:], ".")))
	default:
		if _, own := schema.Envelope().Field(first); own {
			return destination{}, fmt.Errorf("%s is not part of the benchmark, so that it cannot be swept", first)
		}
		segments = written(root, segments)
		body, name := schema.Body(), schema.Snake(segments[0])
		if _, ok := body.Field(name); !ok {
			near := body.Nearest(name)
			if len(segments) == 1 {
				near = cmp.Or(suggest.Nearest(name, aliases), near)
			}
			if near != "" {
				return destination{}, fmt.Errorf("there is no %s in benchmark; did you mean %s?", fault.Shorten(name), near)
			}
			return destination{}, fmt.Errorf("there is no %s in benchmark; a path begins with one of its keys, or is one "+
				"of %s", fault.Shorten(name), strings.Join(aliases, ", "))
		}
		lists := name == "phases" || name == "datasets"
		if lists && len(segments) > 1 && len(items(root.Get(name))) == 0 {
			return destination{}, fmt.Errorf("the file has no %s", name)
		}
	}
	p := destination{steps: steps}
	n, free := root, first == "variables"
	for i, s := range segments {
		if n == nil || n.Kind == document.Null {
			n = &document.Node{Kind: document.Map}
		}
		switch n.Kind {
		case document.Map:
			if n.Member(s) == nil && !free {
				s = schema.Snake(s)
			}
			segments[i] = s
			free = free || freeKeys[s]
			p.steps = append(p.steps, step{key: s})
			n = n.Get(s)
		case document.List:
			index, err := entry(n, segments, i)
			if err != nil {
				return destination{}, err
			}
			p.steps = append(p.steps, step{index: index})
			n = n.Items[index]
		default:
			above := strings.Join(segments[:i], ".")
			return destination{}, fmt.Errorf("%s is %v, which has no %s; sweep %s itself", above, n.Kind, fault.Shorten(s),
				above)
		}
	}
	p.path = strings.Join(segments, ".")
	return p, nil
}

// freeKeys are mappings whose keys are the user's own.
var freeKeys = map[string]bool{"headers": true, "extra": true, "slos": true, "filters": true, "tags": true,
	"custom_resource_attributes": true}

// syntax checks a path by itself.
func syntax(path string) error {
	switch {
	case path == "":
		return errors.New("a path must not be empty")
	case strings.HasPrefix(path, "."), strings.HasSuffix(path, "."), strings.Contains(path, ".."):
		return errors.New("a path must not begin or end with a dot, or have two in a row")
	case strings.Count(path, ".") >= document.MaxDepth:
		return errors.New("the path is too long")
	case strings.ContainsFunc(path, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("a path must not hold blanks")
	}
	return nil
}

// written writes the short forms of a path out, as those of the file are.
func written(body *document.Node, segments []string) []string {
	switch schema.Snake(segments[0]) {
	case "model":
		segments = append([]string{"models"}, segments[1:]...)
	case "endpoint":
		if len(segments) > 1 && segments[1] == "url" {
			segments = append([]string{"endpoint", "urls"}, segments[2:]...)
		}
	case "warmup", "profiling":
		segments = append([]string{"phases", segments[0]}, segments[1:]...)
	case "dataset":
		if d := items(body.Get("datasets")); len(d) == 1 {
			segments = append([]string{"datasets", words(d[0].Get("name"), "0")}, segments[1:]...)
		}
	}
	datasets := body.Get("datasets")
	if len(segments) > 2 && segments[0] == "datasets" && len(items(datasets)) > 0 &&
		(segments[2] == "isl" || segments[2] == "osl") {
		i, err := entry(datasets, segments, 1)
		if err == nil && words(datasets.Items[i].Get("type"), "synthetic") == "synthetic" {
			segments = slices.Insert(slices.Clone(segments), 2, "prompts")
		}
	}
	return segments
}

// entry finds the item of a list that segment i names: by its index, by its name, or as the measured phase.
func entry(list *document.Node, segments []string, i int) (int, error) {
	s := segments[i]
	var names []string
	var named, profiling []int
	for j, item := range items(list) {
		if name := words(item.Get("name"), ""); name != "" {
			names = append(names, name)
			if name == s {
				named = append(named, j)
			}
		}
		if _, measured := phaseName(item); measured {
			profiling = append(profiling, j)
		}
	}
	if digits(s) {
		if index, err := strconv.Atoi(s); err == nil && index < len(list.Items) {
			return index, nil
		}
	}
	phases := i == 1 && segments[0] == "phases" && s == "profiling"
	switch {
	case len(named) == 1:
		return named[0], nil
	case len(named) > 1:
		return 0, fmt.Errorf("%d entries of %s have the name %s; write the index of one, from 0", len(named),
			segments[i-1], fault.Shorten(s))
	case phases && len(profiling) == 1:
		return profiling[0], nil
	case phases && len(profiling) > 1:
		var which []string
		for _, j := range profiling {
			which = append(which, words(list.Items[j].Get("name"), strconv.Itoa(j)))
		}
		return 0, fmt.Errorf("several phases are measured: %s; write the name of one instead of profiling",
			quoted(which))
	case len(names) == 0:
		return 0, fmt.Errorf("%s has %d entries; write the index of one, from 0", segments[i-1], len(list.Items))
	}
	hint := ""
	if near := suggest.Nearest(s, names); near != "" {
		hint = fmt.Sprintf("; did you mean '%s'?", near)
	}
	return 0, fmt.Errorf("%s has no entry '%s', only %s%s", segments[i-1], fault.Shorten(s), quoted(names), hint)
}

func digits(s string) bool {
	return s != "" && len(s) < 10 && strings.Trim(s, "0123456789") == ""
}

// overlap reports whether one place is the other, or holds it.
func overlap(a, b []step) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}
