package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"aiperf/internal/base/suggest"
	"aiperf/internal/config/document"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/schema"
)

// normalizer brings names into snake_case and writes short forms out.
type normalizer struct {
	file     *document.File
	faults   fault.List
	warnings []fault.Warning
	// broken are the paths that a fault was found at: what follows from it is none.
	broken map[string]bool
}

func (z *normalizer) fault(n *document.Node, path, format string, args ...any) {
	z.broken[path] = true
	z.file.Fault(&z.faults, n.Pos, path, format, args...)
}

func (z *normalizer) warn(format string, args ...any) {
	z.warnings = append(z.warnings, fault.Warning{Level: fault.LevelWarning, Text: fmt.Sprintf(format, args...)})
}

// short are names of the body that are written out.
var short = []string{"model", "dataset", "warmup", "profiling"}

func (z *normalizer) envelope(root *document.Node) *document.Node {
	if root.Kind != document.Map {
		z.fault(root, "", "the file is %v; it must be a mapping with the key benchmark", root.Kind)
		return root
	}
	root = root.Clone()
	z.names(root, "")
	jobRun(root)
	z.flat(root)
	z.unknown(root)
	if body := root.Get("benchmark"); body == nil || body.Kind == document.Null {
		if len(z.faults) == 0 {
			z.fault(root, "benchmark", "is missing: it holds models, endpoint, datasets and phases")
		}
	} else if body.Kind != document.Map {
		z.fault(body, "benchmark", "is %v; it must be a mapping", body.Kind)
	} else {
		z.section(schema.Body(), body, "benchmark")
		z.body(body, "benchmark")
	}
	if m := root.Get("multi_run"); m != nil && m.Kind == document.Map {
		k, _ := schema.Envelope().Field("multi_run")
		z.section(k, m, "multi_run")
	}
	if sweep := root.Get("sweep"); sweep != nil {
		z.sweep(sweep, "sweep")
	}
	return root
}

// names brings the names of a mapping into snake_case. Two spellings of one name are a fault.
func (z *normalizer) names(n *document.Node, path string) {
	places := map[string]document.Pos{}
	kept := n.Members[:0:0]
	for _, m := range n.Members {
		written := m.Key
		m.Key = schema.Snake(written)
		if before, twice := places[m.Key]; twice {
			z.file.Fault(&z.faults, m.Pos, document.Path(path, written),
				"is another spelling of %s in line %d; keep one",
				m.Key, before.Line)
			continue
		}
		places[m.Key] = m.Pos
		kept = append(kept, m)
	}
	n.Members = kept
}

// section brings the names below a section into shape, as far as the table knows them.
func (z *normalizer) section(k schema.Key, n *document.Node, path string) {
	switch {
	case n.Kind == document.List:
		for i, item := range n.Items {
			if item.Kind == document.Map {
				z.section(k, item, document.Index(path, i))
			}
		}
		return
	case n.Kind != document.Map:
		return
	}
	if k.Holds() == schema.Section || k.Holds() == schema.Sections {
		z.names(n, path)
	}
	for _, m := range n.Members {
		below := document.Path(path, m.Key)
		if i := slices.Index(short, m.Key); i >= 0 && k.Name == "benchmark" {
			full, _ := k.Field([]string{"models", "datasets", "phases", "phases"}[i])
			z.section(full, m.Value, below)
			continue
		}
		field, ok := k.Field(m.Key)
		switch {
		case !ok:
		case field.Holds() == schema.Section, field.Holds() == schema.Sections:
			z.section(field, m.Value, below)
		case field.Holds() == schema.Distribution, field.Name == "adaptive_scale", field.Name == "communication",
			field.Name == "rate_series", field.Name == "sequence_distribution":
			z.deep(m.Value, below)
		case field.Holds() == schema.Ramp && m.Value.Kind == document.Map:
			z.names(m.Value, below)
		}
	}
}

// deep brings all names of a value into snake_case.
func (z *normalizer) deep(n *document.Node, path string) {
	if n.Kind == document.Map {
		z.names(n, path)
	}
	for _, m := range n.Members {
		z.deep(m.Value, document.Path(path, m.Key))
	}
	for i, item := range n.Items {
		z.deep(item, document.Index(path, i))
	}
}

// sweep brings the names of a sweep into shape; paths of parameters and names of the user's own stay as they are.
func (z *normalizer) sweep(n *document.Node, path string) {
	if n.Kind == document.Map {
		z.names(n, path)
	}
	for _, m := range n.Members {
		below := document.Path(path, m.Key)
		switch m.Key {
		case "parameters", "variables", "values", "params":
		case "benchmark":
			if m.Value.Kind == document.Map {
				z.section(schema.Body(), m.Value, below)
			}
		default:
			z.sweep(m.Value, below)
		}
	}
	for i, item := range n.Items {
		z.sweep(item, document.Index(path, i))
	}
}

// flatKeys are the names of the body that may stand at the top of a file without "benchmark:".
func flatKeys() []string {
	keys := []string{"model", "dataset"}
	for _, f := range schema.Body().Fields {
		switch f.Name {
		case "otel", "mlflow", "wandb", "network_latency", "scenario", "unsafe_override":
		default:
			keys = append(keys, f.Name)
		}
	}
	return keys
}

// flat moves keys of the body below "benchmark:".
func (z *normalizer) flat(root *document.Node) {
	known := flatKeys()
	var moved []document.Member
	for _, m := range root.Members {
		if slices.Contains(known, m.Key) {
			moved = append(moved, m)
		}
	}
	if len(moved) == 0 {
		return
	}
	body := filled(root, "benchmark", moved[0].Pos)
	if body.Kind != document.Map {
		return
	}
	var names []string
	for _, m := range moved {
		root.Delete(m.Key)
		names = append(names, m.Key)
		if m.Key == "dataset" && m.Value.Kind == document.Map && body.Get("datasets") == nil {
			m.Key, m.Value = "datasets", named(m.Value, "main")
		}
		if body.Member(m.Key) == nil {
			body.Members = append(body.Members, m)
		}
	}
	z.warn("%s: %s at the top of the file: taken as keys of benchmark; write them below \"benchmark:\"", z.file.Name,
		strings.Join(names, ", "))
}

// named is a list of one mapping that has the name, if it has none of its own.
func named(n *document.Node, name string) *document.Node {
	item := n.Clone()
	if item.Get("name") == nil {
		item.Members = append([]document.Member{{Key: "name", Pos: n.Pos, Value: document.Of(name)}}, item.Members...)
	}
	return &document.Node{Kind: document.List, Pos: n.Pos, Items: []*document.Node{item}}
}

// unknown reports all keys of the envelope that there are not, in one fault.
func (z *normalizer) unknown(root *document.Node) {
	env, body := schema.Envelope(), schema.Body()
	var bad []string
	var first *document.Member
	for i, m := range root.Members {
		if _, ok := env.Field(m.Key); ok {
			continue
		}
		if first == nil {
			first = &root.Members[i]
		}
		hint := ""
		_, inBody := body.Field(m.Key)
		if inBody || slices.Contains(short, m.Key) {
			z.broken["benchmark.phases"] = z.broken["benchmark.phases"] || m.Key == warmup || m.Key == profiling
			hint = " (nest it under 'benchmark:')"
		} else if near := env.Nearest(m.Key); near != "" {
			hint = fmt.Sprintf(" (did you mean '%s'?)", near)
		} else if near := suggest.Nearest(m.Key, append(flatKeys(), short...)); near != "" {
			hint = fmt.Sprintf(" (did you mean 'benchmark.%s'?)", near)
		}
		bad = append(bad, fmt.Sprintf("'%s'%s", m.Key, hint))
	}
	if first == nil {
		return
	}
	known := map[string]bool{}
	for _, f := range env.Fields {
		known[f.Name], known[schema.Camel(f.Name)] = true, true
	}
	z.file.Fault(&z.faults, first.Pos, "", "unknown keys at the top of the file: %s; known are %s",
		strings.Join(bad, ", "),
		strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}

// body writes the short forms of a body out.
func (z *normalizer) body(body *document.Node, path string) {
	z.either(body, path, "model", "models")
	z.either(body, path, "dataset", "datasets")
	if m := rename(body, "model", "models"); m != nil {
		m.Value = models(m.Value)
	}
	single := body.Member("dataset") != nil
	if m := rename(body, "dataset", "datasets"); m != nil && single && m.Value.Kind == document.Map {
		m.Value = named(m.Value, "default")
	}
	z.phases(body, path)
	if d := body.Get("datasets"); d != nil {
		z.datasets(d, document.Path(path, "datasets"))
	}
	if e := body.Get("endpoint"); e != nil && e.Kind == document.Map {
		if url := e.Member("url"); url != nil && e.Member("urls") != nil { // as the original does, but not silently
			z.warn("%s:%d:%d: %s: without effect, since urls is given", z.file.Name, url.Pos.Line, url.Pos.Column,
				document.Path(path, "endpoint.url"))
			e.Delete("url")
		}
		if m := rename(e, "url", "urls"); m != nil && m.Value.Kind != document.List {
			m.Value = &document.Node{Kind: document.List, Pos: m.Value.Pos, Items: []*document.Node{m.Value}}
		}
		for _, hook := range []string{"reset_kv_cache", "server_profiler"} {
			if m := e.Member(hook); m != nil && m.Value.Kind == document.Text {
				m.Value = truth(m.Value)
			}
		}
	}
	for _, name := range []string{"gpu_telemetry", "server_metrics"} {
		z.collector(body, name, document.Path(path, name))
	}
}

// truth is a text such as yes as the boolean that it stands for.
func truth(n *document.Node) *document.Node {
	if b, ok := boolean(n); ok {
		return &document.Node{Kind: document.Bool, Pos: n.Pos, Scalar: b, Written: n.Written}
	}
	return n
}

// either refuses a short form next to what it stands for.
func (z *normalizer) either(n *document.Node, path, short, full string) {
	if a, b := n.Member(short), n.Member(full); a != nil && b != nil {
		z.file.Fault(&z.faults, a.Pos, document.Path(path, short), "cannot be used with %s; keep one of them", full)
		n.Delete(short)
	}
}

// rename gives a member another name, in its place; where the new name is there it is that member.
func rename(n *document.Node, from, to string) *document.Member {
	m := n.Member(to)
	if m == nil {
		if m = n.Member(from); m != nil {
			m.Key = to
		}
	}
	return m
}

// models writes out a name, or a list of names.
func models(n *document.Node) *document.Node {
	item := func(name *document.Node) *document.Node {
		if name.Kind == document.Map {
			return name
		}
		return &document.Node{Kind: document.Map, Pos: name.Pos,
			Members: []document.Member{{Key: "name", Pos: name.Pos, Value: name}}}
	}
	list := &document.Node{Kind: document.List, Pos: n.Pos}
	switch n.Kind {
	case document.Map, document.Null:
		return n
	case document.List:
		for _, name := range n.Items {
			list.Items = append(list.Items, item(name))
		}
	default:
		list.Items = []*document.Node{item(n)}
	}
	return &document.Node{Kind: document.Map, Pos: n.Pos,
		Members: []document.Member{{Key: "items", Pos: n.Pos, Value: list}}}
}

// phases writes out a single phase, and the pair of warmup and profiling.
func (z *normalizer) phases(body *document.Node, path string) {
	warmup, profiling, phases := body.Member("warmup"), body.Member("profiling"), body.Member("phases")
	for _, m := range []*document.Member{warmup, profiling} {
		if m != nil && phases != nil {
			z.file.Fault(&z.faults, m.Pos, document.Path(path, m.Key), "cannot be used with phases; keep one of them")
			z.broken[document.Path(path, "phases")] = true
			body.Delete("warmup")
			body.Delete("profiling")
			return
		}
	}
	switch {
	case warmup != nil && profiling == nil:
		z.file.Fault(&z.faults, warmup.Pos, document.Path(path, "warmup"), "needs profiling: a warm-up alone measures "+
			"nothing")
		z.broken[document.Path(path, "phases")] = true
		body.Delete(warmup.Key)
	case profiling != nil:
		list := &document.Node{Kind: document.List, Pos: profiling.Pos}
		for _, m := range []*document.Member{warmup, profiling} {
			if m != nil && m.Value.Kind == document.Map {
				list.Items = append(list.Items, named(m.Value, m.Key).Items...)
			} else if m != nil {
				z.fault(m.Value, document.Path(path, m.Key), "is %v; it must be a mapping", m.Value.Kind)
			}
		}
		body.Delete("warmup")
		body.Delete("profiling")
		body.Set("phases", list)
	case phases != nil && phases.Value.Kind == document.Map:
		if phases.Value.Get("type") == nil {
			z.fault(phases.Value, document.Path(path, "phases"),
				"has no type: as a mapping it is one phase with the key "+
					"type, one of %s; several phases are a list", strings.Join(schema.PhaseTypes(), ", "))
			return
		}
		phases.Value = named(phases.Value, "profiling")
		if only := phases.Value.Items[0]; only.Get("kind") == nil { // whatever its name
			only.Set("kind", document.Of("profiling"))
		}
	}
}

// datasets fills in the type, and moves isl and osl of generated data below prompts.
func (z *normalizer) datasets(list *document.Node, path string) {
	for i, d := range list.Items {
		if d.Kind != document.Map {
			continue
		}
		if m := d.Member("count"); m != nil && d.Member("entries") == nil {
			m.Key = "entries"
		}
		kind := d.Get("type")
		if kind != nil && kind.Written != schema.Synthetic {
			continue
		}
		var lengths []document.Member
		for _, name := range []string{"isl", "osl"} {
			if m := d.Member(name); m != nil {
				lengths = append(lengths, *m)
				d.Delete(name)
			}
		}
		if len(lengths) == 0 {
			continue
		}
		prompts := filled(d, "prompts", lengths[0].Pos)
		if prompts.Kind != document.Map {
			z.fault(prompts, document.Path(document.Index(path, i), "prompts"), "is %v; it must be a mapping",
				prompts.Kind)
			continue
		}
		for _, m := range lengths {
			into(prompts, m)
		}
	}
}

// filled is the value of a key; where there is none it becomes an empty mapping at the place.
func filled(n *document.Node, key string, pos document.Pos) *document.Node {
	value := n.Get(key)
	if value == nil || value.Kind == document.Null {
		value = &document.Node{Kind: document.Map, Pos: pos}
		n.Set(key, value)
	}
	return value
}

// into adds a member to a mapping; of one that is there only missing keys are taken over.
func into(n *document.Node, m document.Member) {
	there := n.Get(m.Key)
	switch {
	case there == nil:
		n.Members = append(n.Members, m)
	case there.Kind == document.Map && m.Value.Kind == document.Map:
		for _, below := range m.Value.Members {
			into(there, below)
		}
	}
}

// collector writes out an address in the place of the settings of a collector.
func (z *normalizer) collector(body *document.Node, name, path string) {
	m := body.Member(name)
	if m == nil {
		return
	}
	if m.Value.Kind == document.Text {
		if b, ok := boolean(m.Value); ok {
			m.Value = document.Of(b)
		} else {
			m.Value = &document.Node{Kind: document.Map, Pos: m.Value.Pos,
				Members: []document.Member{{Key: "url", Pos: m.Value.Pos, Value: m.Value}}}
		}
	}
	if m.Value.Kind == document.Bool {
		m.Value = &document.Node{Kind: document.Map, Pos: m.Value.Pos,
			Members: []document.Member{{Key: "enabled", Pos: m.Value.Pos, Value: m.Value}}}
	}
	if m.Value.Kind != document.Map {
		return
	}
	z.either(m.Value, path, "url", "urls")
	if url := rename(m.Value, "url", "urls"); url != nil && url.Value.Kind == document.Text {
		url.Value = &document.Node{Kind: document.List, Pos: url.Value.Pos, Items: []*document.Node{url.Value}}
	}
}

// jobRun brings the run of a job in Kubernetes, {benchmark_id, cfg, artifact_dir, variables}, into the shape of a file.
func jobRun(root *document.Node) {
	body := root.Get("cfg")
	if body == nil || root.Get("benchmark") != nil || root.Get("benchmark_id") == nil {
		return
	}
	if dir := root.Get("artifact_dir"); dir != nil && dir.Kind == document.Text && body.Kind == document.Map {
		artifacts := body.Get("artifacts")
		if artifacts == nil || artifacts.Kind != document.Map {
			artifacts = &document.Node{Kind: document.Map}
			body.Set("artifacts", artifacts)
		}
		artifacts.Set("dir", dir)
	}
	for _, key := range []string{"cfg", "benchmark_id", "artifact_dir"} {
		root.Delete(key)
	}
	root.Set("benchmark", body)
}
