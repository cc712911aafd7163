package sweep

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
)

// scenarios makes a variation of each partial configuration.
func (x *expansion) scenarios(block *document.Node) {
	runs := block.Get("runs")
	if len(runs.Items) > MaxVariations {
		x.tooMany(runs, "sweep.runs", "the list is longer")
		return
	}
	places := map[string]int{}
	for i, run := range runs.Items {
		at := document.Index("sweep.runs", i)
		name, named := words(run.Get("name"), ""), run.Get("name") != nil && run.Get("name").Kind != document.Null
		if !named {
			name = fmt.Sprintf("scenario_%d", i)
		} else if strings.ContainsAny(name, `/\`) || strings.Contains(name, "..") || FolderName(name) == "" {
			x.fault(run.Get("name"), at+".name", "%s cannot be the name of a folder; leave out separators and double "+
				"dots, and write at most %d characters", fault.Shorten(name), longest)
			continue
		}
		if first, twice := places[strings.ToLower(name)]; twice {
			x.fault(run, at+".name", "run %d has the name %s as well; names must differ in more than case", first,
				fault.Shorten(name))
			continue
		}
		places[strings.ToLower(name)] = i
		v, ok := x.scenario(run, at)
		if !ok {
			continue
		}
		v.Label, v.Dir = name, FolderName(name)
		if shown := run.Get("values"); shown != nil && len(shown.Members) > 0 {
			v.Values = shown.Any().(artifact.Object)
			v.Dir = folder(v.Values, name)
		} else if !named && run.Get("benchmark") != nil {
			x.warn(run, at, "has no name: its folder is called %s; give it one with name", name)
		}
		x.plan.Variations = append(x.plan.Variations, v)
	}
}

// scenario merges a run of the block over the file.
func (x *expansion) scenario(run *document.Node, at string) (Variation, bool) {
	before := len(x.faults)
	v := Variation{Values: artifact.Object{}}
	if shown := run.Get("values"); shown != nil {
		for _, m := range shown.Members {
			if m.Value.Kind == document.List || m.Value.Kind == document.Map {
				x.fault(m.Value, document.Path(at+".values", m.Key), "is %v; it must be a single value", m.Value.Kind)
			}
		}
	}
	base := *x.raw
	base.Members = slices.Clone(base.Members)
	for _, part := range []string{"benchmark", "variables"} {
		over := run.Get(part)
		if over == nil || over.Kind == document.Null {
			continue
		}
		if !finite(over) {
			x.fault(over, document.Path(at, part), "numbers must be finite")
			continue
		}
		v.Values = append(v.Values, artifact.Member{Key: part, Value: over.Any()})
		under := base.Get(part)
		if part == "benchmark" {
			over = x.body(over, under, document.Path(at, part))
			v.partial = over
		}
		merger := merger{expansion: x}
		base.Set(part, merger.merge(under, over, part, document.Path(at, part)))
	}
	v.base = &base
	return v, len(x.faults) == before
}

// merger merges trees. It shares what it does not change, which nobody changes either.
type merger struct{ *expansion }

// merge returns one tree over another: mappings key by key, phases and datasets by name, all else as a
// whole.
func (m *merger) merge(base, over *document.Node, path, at string) *document.Node {
	switch {
	case path == "benchmark.phases" && over.Kind == document.Map:
		return namedEntry(over, "profiling") // a single phase is all phases
	case base == nil:
		return over
	case base.Kind == document.Map && over.Kind == document.Map && !switches(base, over):
		merged := *base
		merged.Members = slices.Clone(base.Members)
		for _, o := range over.Members {
			merged.Set(o.Key, m.merge(base.Get(o.Key), o.Value, document.Path(path, o.Key), document.Path(at, o.Key)))
		}
		return &merged
	case base.Kind == document.List && over.Kind == document.List && len(over.Items) > 0 &&
		(path == "benchmark.phases" || path == "benchmark.datasets"):
		return m.entries(base, over, path, at)
	}
	return over
}

// entries merges a list of named entries by name. An unknown name adds an entry only if it is whole: a phase with its
// type.
func (m *merger) entries(base, over *document.Node, path, at string) *document.Node {
	merged := *base
	merged.Items = slices.Clone(base.Items)
	var names []string
	for _, item := range base.Items {
		names = append(names, words(item.Get("name"), ""))
	}
	for j, item := range over.Items {
		here := document.Index(at, j)
		name := words(item.Get("name"), "")
		if name == "" {
			m.fault(item, here, "has no name; the name says which entry of %s it changes: %s", path, quoted(names))
			continue
		}
		i := slices.Index(names, name)
		if i < 0 && path == "benchmark.phases" {
			if k, err := entry(base, []string{"phases", name}, 1); err == nil && !digits(name) {
				i = k
				item = without(item, "name")
			}
		}
		switch {
		case i >= 0:
			merged.Items[i] = m.merge(merged.Items[i], item, path+"[]", here)
		case path == "benchmark.datasets":
			m.fault(item, here, "there is no dataset '%s' in the file, only %s", fault.Shorten(name), quoted(names))
		case path == "benchmark.phases" && item.Get("type") == nil:
			m.fault(item, here, "there is no phase '%s' in the file, only %s; a phase that is added needs its type",
				fault.Shorten(name), quoted(names))
		default:
			merged.Items = append(merged.Items, item)
		}
	}
	return &merged
}

func without(n *document.Node, key string) *document.Node {
	c := *n
	c.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m document.Member) bool { return m.Key == key })
	return &c
}

// The kinds of distributions by the key that decides, strongest first. A mean alone decides nothing: three kinds have
// one.
var kindKeys = []struct{ key, kind string }{{"components", "mixture"}, {"peaks", "multimodal"}, {"points", "empirical"},
	{"median", "lognormal"}, {"sigma", "lognormal"}, {"alpha", "zipf"}, {"stddev", "normal"}, {"value", "fixed"}}

// kindOf is the kind of a distribution, "" if the keys do not say.
func kindOf(n *document.Node) string {
	if t := words(n.Get("type"), ""); t != "" {
		return t
	}
	for _, k := range kindKeys {
		if n.Get(k.key) != nil {
			return k.kind
		}
	}
	return ""
}

// distributionKeys are the keys of a distribution of any kind.
var distributionKeys = []string{"type", "value", "mean", "stddev", "median", "sigma", "peaks", "points", "components",
	"alpha", "scale", "offset", "distribution", "min", "max", "weight"}

func isDistribution(n *document.Node) bool {
	return len(n.Members) > 0 && !slices.ContainsFunc(n.Members, func(m document.Member) bool {
		return !slices.Contains(distributionKeys, m.Key)
	})
}

// switches reports whether a mapping makes another kind of distribution of one, so that it replaces it.
func switches(base, over *document.Node) bool {
	if !isDistribution(base) || !isDistribution(over) {
		return false
	}
	from, to := kindOf(base), kindOf(over)
	if from == "" {
		from = "normal" // a mean alone, with bounds
	}
	if to == "" {
		return from == "fixed" && over.Get("mean") != nil
	}
	return from != to
}

// body writes the short forms of a partial body out, as those of the file are, so that it can be merged.
func (x *expansion) body(over, base *document.Node, at string) *document.Node {
	out := *over
	out.Members = slices.Clone(over.Members)
	for _, short := range [][2]string{{"model", "models"}, {"dataset", "datasets"}} {
		m := out.Member(short[0])
		switch {
		case m == nil:
		case out.Member(short[1]) != nil:
			x.fault(m.Value, document.Path(at, m.Key), "cannot be used with %s; keep one of them", short[1])
		default:
			m.Key = short[1]
			if short[0] == "dataset" && m.Value.Kind == document.Map {
				m.Value = namedEntry(m.Value, x.only(base, m.Value, document.Path(at, "dataset")))
			}
		}
	}
	if m := out.Member("models"); m != nil {
		m.Value = models(m.Value)
	}
	if m := out.Member("datasets"); m != nil && m.Value.Kind == document.List {
		list := *m.Value
		list.Items = slices.Clone(list.Items)
		for i, d := range list.Items {
			list.Items[i] = x.lengths(d, base)
		}
		m.Value = &list
	}
	if e := out.Member("endpoint"); e != nil && e.Value.Kind == document.Map {
		c := *e.Value
		c.Members = slices.Clone(c.Members)
		if url := c.Member("url"); url != nil {
			url.Key = "urls"
		}
		if urls := c.Member("urls"); urls != nil {
			urls.Value = listOf(urls.Value)
		}
		e.Value = &c
	}
	x.phases(&out, at)
	return &out
}

// phases writes warmup and profiling as the list of phases that they stand for.
func (x *expansion) phases(out *document.Node, at string) {
	if p := out.Get("phases"); p != nil && p.Kind == document.Map && p.Get("type") == nil {
		x.fault(p, document.Path(at, "phases"), "must be a list of phases with their names, such as "+
			"[{name: profiling, rate: 10}]")
		return
	}
	var list *document.Node
	for _, name := range []string{"warmup", "profiling"} {
		m := out.Member(name)
		if m == nil {
			continue
		}
		if out.Get("phases") != nil && list == nil {
			x.fault(m.Value, document.Path(at, name), "cannot be used with phases; keep one of them")
			return
		}
		if list == nil {
			list = &document.Node{Kind: document.List, Pos: m.Pos}
		}
		if m.Value.Kind == document.Map {
			list.Items = append(list.Items, namedEntry(m.Value, name).Items...)
		}
		out.Delete(name)
	}
	if list != nil {
		out.Set("phases", list)
	}
}

// only is the name of the only dataset of the file.
func (x *expansion) only(base, n *document.Node, at string) string {
	all := items(base.Get("datasets"))
	if len(all) != 1 {
		x.fault(n, at, "the file has %d datasets; write datasets with the name of one", len(all))
		return "default"
	}
	return words(all[0].Get("name"), "default")
}

// lengths moves isl and osl of a synthetic dataset below its prompts.
func (x *expansion) lengths(d, base *document.Node) *document.Node {
	if d.Kind != document.Map || (d.Get("isl") == nil && d.Get("osl") == nil) {
		return d
	}
	kind := d.Get("type")
	for _, b := range items(base.Get("datasets")) {
		if kind == nil && words(b.Get("name"), "") == words(d.Get("name"), "-") {
			kind = b.Get("type")
		}
	}
	if words(kind, "synthetic") != "synthetic" {
		return d
	}
	out := *d
	out.Members = slices.Clone(d.Members)
	prompts := &document.Node{Kind: document.Map, Pos: d.Pos}
	if p := d.Get("prompts"); p != nil && p.Kind == document.Map {
		c := *p
		c.Members = slices.Clone(p.Members)
		prompts = &c
	}
	for _, name := range []string{"isl", "osl"} {
		if m := d.Member(name); m != nil {
			if prompts.Member(name) == nil {
				prompts.Members = append(prompts.Members, *m)
			}
			out.Delete(name)
		}
	}
	out.Set("prompts", prompts)
	return &out
}

// namedEntry is a list of one mapping, under the name if it has none.
func namedEntry(n *document.Node, name string) *document.Node {
	item := n
	if n.Get("name") == nil {
		c := *n
		c.Members = append([]document.Member{{Key: "name", Pos: n.Pos, Value: document.Of(name)}}, n.Members...)
		item = &c
	}
	return &document.Node{Kind: document.List, Pos: n.Pos, Items: []*document.Node{item}}
}

// models writes a name, or a list of names, as the mapping that they stand for.
func models(n *document.Node) *document.Node {
	if n.Kind == document.Map {
		return n
	}
	list := &document.Node{Kind: document.List, Pos: n.Pos}
	for _, item := range listOf(n).Items {
		if item.Kind != document.Map {
			item = &document.Node{Kind: document.Map, Pos: item.Pos,
				Members: []document.Member{{Key: "name", Pos: item.Pos, Value: item}}}
		}
		list.Items = append(list.Items, item)
	}
	return &document.Node{Kind: document.Map, Pos: n.Pos,
		Members: []document.Member{{Key: "items", Pos: n.Pos, Value: list}}}
}

// listOf is a list as it is, and anything else as a list of one.
func listOf(n *document.Node) *document.Node {
	if n.Kind == document.List {
		return n
	}
	return &document.Node{Kind: document.List, Pos: n.Pos, Items: []*document.Node{n}}
}
