package file

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
	"aiperf/internal/config/option"
	"aiperf/internal/config/parse"
	"aiperf/internal/config/schema"
	"aiperf/internal/config/settings"
)

// Hide replaces the texts that a function changes, such as those with secrets.
func Hide(n *document.Node, hidden func(string) string) *document.Node {
	for _, m := range n.Members {
		Hide(m.Value, hidden)
	}
	for _, item := range n.Items {
		Hide(item, hidden)
	}
	if n.Scalar != nil {
		if text := hidden(n.Written); text != n.Written {
			n.Kind, n.Scalar, n.Written = document.Text, text, text
		}
	}
	return n
}

// completer writes out what a file leaves to defaults.
type completer struct {
	flags *settings.Settings
}

// Complete is a tree of [Source.Settings] in the order of the table, with every default of the format in it. Values of
// the file keep their places, those of flags their origins; defaults have neither. Secrets are replaced.
func Complete(tree *document.Node, flags *settings.Settings) *document.Node {
	c := completer{flags: flags}
	out := &document.Node{Kind: document.Map}
	for _, f := range schema.Envelope().Fields {
		n := tree.Get(f.Name)
		switch {
		case f.Name == "benchmark":
			if n != nil && n.Kind == document.Map {
				out.Set(f.Name, c.section(f, n, f.Name, ""))
			}
		case n != nil && n.Kind != document.Null:
			out.Members = append(out.Members, document.Member{Key: f.Name, Value: c.value(f, n, f.Name, "")})
		case f.Default != nil:
			out.Set(f.Name, document.Of(f.Default))
		}
		if v, ok := c.flag(f); ok {
			out.Set(f.Name, v)
		}
	}
	return out
}

// CompleteBody is a "benchmark:" body, as exports carry it, with every default of the original's format in it.
func CompleteBody(body artifact.Object) artifact.Object {
	tree := Complete(document.Of(artifact.Object{{Key: "benchmark", Value: body}}), nil)
	whole, _ := tree.Get("benchmark").Any().(artifact.Object)
	known, _ := SplitBody(whole)
	return known
}

// always are the sections that a complete configuration has whatever the file says.
var always = []string{"benchmark.artifacts", "benchmark.tokenizer", "benchmark.gpu_telemetry",
	"benchmark.server_metrics",
	"benchmark.server_metrics.discovery", "benchmark.network_latency", "benchmark.otel", "benchmark.mlflow",
	"benchmark.wandb", "benchmark.runtime", "benchmark.logging", "benchmark.metrics",
	"benchmark.datasets[].prompts.cache_bust", "benchmark.datasets[].cache_bust", "benchmark.datasets[].video.audio"}

// flag is the value that a flag gives a key, other than one of a phase, whose tree has it already.
func (c *completer) flag(k schema.Key) (*document.Node, bool) {
	o := k.Option
	if o == nil || c.flags == nil || k.Kind != schema.ByOption {
		return nil, false
	}
	given := c.flags.Field(o)
	if !given.Given() {
		return nil, false
	}
	n := document.Of(plainValue(given.Value()))
	n.Origin = given.Flag()
	if o.Secret {
		n = &document.Node{Kind: document.Text, Scalar: artifact.Redacted, Written: artifact.Redacted, Origin: n.Origin}
	}
	return n, true
}

// plainValue is an option's value as document.Of takes it.
func plainValue(v any) any {
	if list, ok := v.([]string); ok {
		items := make([]any, len(list))
		for i, text := range list {
			items[i] = artifact.RedactAddress(text)
		}
		return items
	}
	return v
}

func (c *completer) section(k schema.Key, n *document.Node, path, kind string) *document.Node {
	out := &document.Node{Kind: document.Map, Pos: orNull(n).Pos, Origin: orNull(n).Origin}
	for _, f := range k.Fields {
		if kind != "" && !f.Has(kind) {
			continue
		}
		below := document.Path(path, f.Name)
		general := general.ReplaceAllString(below, "[]")
		v := n.Get(f.Name)
		if v != nil && v.Kind == document.Null {
			v = nil
		}
		flagged, byFlag := c.flag(f)
		switch {
		case byFlag && !strings.HasPrefix(path, "benchmark.phases"):
			if (f.Holds() == schema.Table || f.Holds() == schema.TextTable) && v != nil && v.Kind == document.Map {
				merged := v.Clone()
				for _, m := range flagged.Members {
					m.Value.Origin = flagged.Origin
					merged.Set(m.Key, m.Value)
				}
				flagged = merged
			}
			out.Members = append(out.Members, document.Member{Key: f.Name, Value: hide(f, f.Name, flagged)})
		case v != nil:
			out.Members = append(out.Members, document.Member{Key: f.Name, Value: c.value(f, v, below, kind)})
		case f.Holds() == schema.Section && slices.Contains(always, general):
			out.Members = append(out.Members, document.Member{Key: f.Name, Value: c.section(f, nil, below, kind)})
		case f.Name == "random_corpus_style" && n.Get("random_range_ratio_mode") != nil:
			// the mode decides; both together would be two answers
		case f.Default != nil:
			out.Members = append(out.Members, document.Member{Key: f.Name, Value: document.Of(f.Default)})
		}
	}
	return out
}

// value brings a value into the form that a complete configuration has.
func (c *completer) value(k schema.Key, n *document.Node, path, kind string) *document.Node {
	switch {
	case k.Name == "datasets" || k.Name == "phases":
		out := &document.Node{Kind: document.List, Pos: n.Pos}
		for i, item := range n.Items {
			own, ok := textOf(item.Get("type"))
			if !ok {
				own = schema.Synthetic
			}
			if k.Name == "phases" {
				item = parse.FlatAdaptive(item)
			}
			done := c.section(k, item, document.Index(path, i), own)
			if k.Name == "phases" {
				complete(done, own)
			}
			out.Items = append(out.Items, done)
		}
		return out
	case k.Name == "endpoint":
		done := c.section(k, n, path, kind)
		if n.Get("template") != nil && n.Get("type") == nil {
			done.Set("type", document.Of("template"))
		}
		completeEndpoint(done)
		return done
	case k.Holds() == schema.Section && n.Kind == document.Map:
		return c.section(k, n, path, kind)
	case k.Holds() == schema.Sections && n.Kind == document.List:
		out := &document.Node{Kind: document.List, Pos: n.Pos}
		for i, item := range n.Items {
			done := c.section(k, item, document.Index(path, i), "")
			if content := done.Get("content"); k.Name == "user_files" && content != nil && done.Get("format") == nil {
				done.Set("format", document.Of(document.UserFormatOf(content)))
			}
			out.Items = append(out.Items, done)
		}
		return out
	case k.Name == "sequence_distribution" && n.Kind == document.List:
		return pairForms(n)
	}
	return hide(k, k.Name, canonical(k, n))
}

// completeEndpoint writes the scheme of addresses, and the settings of switches that are on as mappings.
func completeEndpoint(endpoint *document.Node) {
	for i, u := range orNull(endpoint.Get("urls")).Items {
		if url := u.Get("url"); url != nil {
			if text, ok := textOf(url); ok && !strings.Contains(text, "://") {
				full := document.Of("http://" + text)
				full.Pos, full.Origin = url.Pos, url.Origin
				u.Set("url", full)
			}
			continue
		}
		if text, ok := textOf(u); ok && !strings.Contains(text, "://") {
			full := document.Of("http://" + text)
			full.Pos, full.Origin = u.Pos, u.Origin
			endpoint.Get("urls").Items[i] = full
		}
	}
	for _, name := range []string{"reset_kv_cache", "server_profiler"} {
		n := endpoint.Get(name)
		if n == nil || n.Kind == document.Map {
			continue
		}
		if on, _ := boolean(n); on {
			endpoint.Set(name, &document.Node{Kind: document.Map, Pos: n.Pos, Origin: n.Origin})
		} else {
			endpoint.Delete(name)
		}
	}
}

// pairForms writes pairs of lengths as distributions.
func pairForms(n *document.Node) *document.Node {
	out := &document.Node{Kind: document.List, Pos: n.Pos, Origin: n.Origin}
	for _, item := range n.Items {
		done := &document.Node{Kind: document.Map, Pos: item.Pos}
		for _, m := range item.Members {
			switch m.Key {
			case "isl", "osl":
				length := m.Value
				if deviation := item.Get(m.Key + "_stddev"); deviation != nil {
					length = &document.Node{Kind: document.Map, Pos: length.Pos,
						Members: []document.Member{{Key: "mean", Value: length}, {Key: "stddev", Value: deviation}}}
				}
				done.Set(m.Key, distributionForm(length))
			case "isl_stddev", "osl_stddev":
			default:
				done.Set(m.Key, m.Value)
			}
		}
		out.Items = append(out.Items, done)
	}
	return out
}

// complete fills in what follows from the type and the name of a phase.
func complete(phase *document.Node, kind string) {
	name, _ := textOf(phase.Get("name"))
	if phase.Get("kind") == nil && (name == warmup || name == profiling) {
		phase.Set("kind", document.Of(name))
	}
	role, _ := textOf(phase.Get("kind"))
	phase.Set("exclude_from_results", document.Of(role == warmup))
	if phase.Get("concurrency") == nil && kind == schema.Concurrency {
		phase.Set("concurrency", document.Of(1))
	}
}

// canonical is a value in the type of its key.
func canonical(k schema.Key, n *document.Node) *document.Node {
	same := func(v any) *document.Node {
		return placed(document.Of(v), n)
	}
	switch k.Holds() {
	case schema.Switch:
		if b, ok := boolean(n); ok {
			return same(b)
		}
	case schema.Whole:
		if v, ok := n.Number(); ok && v == math.Trunc(v) && math.Abs(v) < 1<<62 {
			return same(int64(v))
		}
	case schema.Number:
		if v, ok := n.Number(); ok && !math.IsInf(v, 0) {
			return same(v)
		}
	case schema.Duration:
		if v, err := duration(n); err == nil {
			return same(secondsOf(v))
		}
	case schema.Ramp:
		if v, err := duration(n); err == nil {
			return same(artifact.Object{{Key: "duration", Value: secondsOf(v)}, {Key: "strategy", Value: "linear"}})
		}
		if v, err := duration(orNull(n.Get("duration"))); err == nil {
			shape, ok := textOf(n.Get("strategy"))
			if !ok {
				shape = "linear"
			}
			return same(artifact.Object{{Key: "duration", Value: secondsOf(v)}, {Key: "strategy", Value: shape}})
		}
	case schema.Choice:
		if n.Scalar == nil {
			return n
		}
		if v, ok := option.MatchEnum(n.Written, k.Choices()); ok {
			return same(v)
		}
	case schema.Distribution:
		return distributionForm(n)
	case schema.Words, schema.Numbers:
		if n.Kind != document.List && n.Kind != document.Bool && n.Scalar != nil {
			return &document.Node{Kind: document.List, Pos: n.Pos, Items: []*document.Node{n}}
		}
	}
	if k.Name == "rate_series" && n.Kind == document.List {
		return &document.Node{Kind: document.Map, Pos: n.Pos, Members: []document.Member{{Key: "points", Value: n}}}
	}
	return n
}

// placed gives a tree that was made of another value its place and origin, in all of its values.
func placed(n, from *document.Node) *document.Node {
	n.Pos, n.Origin = from.Pos, from.Origin
	for _, m := range n.Members {
		placed(m.Value, from)
	}
	for _, item := range n.Items {
		placed(item, from)
	}
	return n
}

func secondsOf(v float64) any {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return v
}

// distributionForm writes a number as a mapping with value, and fills in weights and deviations.
func distributionForm(n *document.Node) *document.Node {
	real := func(n *document.Node) *document.Node {
		if v, ok := n.Number(); ok {
			out := document.Of(v)
			out.Pos = n.Pos
			return out
		}
		return n
	}
	if v, ok := n.Number(); ok {
		return placed(document.Of(artifact.Object{{Key: "value", Value: v}}), n)
	}
	if n.Kind != document.Map {
		return n
	}
	if kind, _ := textOf(n.Get("type")); kind != "" && !parse.SharedDistribution(kind) {
		return n // its keys alone would mean another type
	}
	out := &document.Node{Kind: document.Map, Pos: n.Pos, Origin: n.Origin}
	for _, m := range n.Members {
		switch {
		case m.Key == "type":
			continue
		case m.Key == "peaks" && m.Value.Kind == document.List:
			list := &document.Node{Kind: document.List, Pos: m.Value.Pos}
			for _, peak := range m.Value.Items {
				inner, weight := peak.Get("distribution"), peak.Get("weight")
				if inner == nil {
					inner = peak.Clone()
					inner.Delete("weight")
				}
				if weight == nil {
					weight = document.Of(1.0)
				}
				list.Items = append(list.Items,
					&document.Node{Kind: document.Map, Pos: peak.Pos, Members: []document.Member{
						{Key: "distribution", Value: distributionForm(inner)}, {Key: "weight", Value: real(weight)}}})
			}
			m.Value = list
		case m.Key == "points" && m.Value.Kind == document.List:
			list := &document.Node{Kind: document.List, Pos: m.Value.Pos}
			for _, point := range m.Value.Items {
				done := &document.Node{Kind: document.Map, Pos: point.Pos}
				done.Set("value", real(orNull(point.Get("value"))))
				done.Set("weight", document.Of(1.0))
				if w := point.Get("weight"); w != nil {
					done.Set("weight", real(w))
				}
				list.Items = append(list.Items, done)
			}
			m.Value = list
		default:
			m.Value = real(m.Value)
		}
		out.Members = append(out.Members, m)
	}
	if out.Get("mean") != nil && out.Get("median") == nil && out.Get("stddev") == nil && out.Get("sigma") == nil {
		out.Set("stddev", document.Of(0.0))
	}
	return out
}

// hide replaces secrets: values of secret keys and of sensitive names, and credentials in addresses.
func hide(k schema.Key, name string, n *document.Node) *document.Node {
	if n.Scalar != nil {
		text := n.Written
		if k.Option != nil && k.Option.Secret || artifact.IsSensitiveName(name) && k.Holds() != schema.Switch &&
			k.Holds() != schema.Whole {
			text = artifact.Redacted
		} else if n.Kind == document.Text {
			text = artifact.RedactURLs(text)
		}
		if text == n.Written {
			return n
		}
		return &document.Node{Kind: document.Text, Pos: n.Pos, Origin: n.Origin, Scalar: text, Written: text}
	}
	out := *n
	out.Members, out.Items = nil, nil
	for _, m := range n.Members {
		if artifact.IsSensitiveName(m.Key) && m.Value.Kind != document.Null {
			m.Value = &document.Node{Kind: document.Text, Pos: m.Value.Pos, Scalar: artifact.Redacted,
				Written: artifact.Redacted}
		} else {
			m.Value = hide(schema.Key{Kind: schema.Anything}, m.Key, m.Value)
		}
		out.Members = append(out.Members, m)
	}
	for _, item := range n.Items {
		out.Items = append(out.Items, hide(schema.Key{Kind: schema.Anything, Option: k.Option}, name, item))
	}
	return &out
}
