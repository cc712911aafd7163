package crd

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/config/document"
	"aiperf/internal/config/env"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/file"
	"aiperf/internal/config/resolve"
	"aiperf/internal/run"
)

// Source reads the envelope of a specification as a configuration file of the name. References to variables of the
// environment are looked up in the pod template first; those to secrets of the cluster get a stand-in.
func (s *Spec) Source(name string, lookup env.Lookup) (*file.Source, error) {
	o, err := ToObject(s)
	if err != nil {
		return nil, err
	}
	root := artifact.Object{}
	for _, key := range EnvelopeKeys() {
		if v, ok := o[key]; ok && v != nil {
			root = append(root, artifact.Member{Key: key, Value: Ordered(v)})
		}
	}
	return file.Of(&document.File{Name: name, Root: document.Of(root)}, s.Lookup(lookup))
}

// secretStandIn is what a reference to a secret of the cluster reads as where the secret is not known.
const secretStandIn = "secret-of-the-cluster"

// Lookup finds variables of the environment as the pods see them, before those of lookup, which may be nil.
func (s *Spec) Lookup(lookup env.Lookup) env.Lookup {
	return func(name string) (string, bool) {
		if s.PodTemplate != nil {
			for _, e := range s.PodTemplate.Env {
				if e["name"] != name {
					continue
				}
				if v, ok := e["value"].(string); ok {
					return v, true
				}
				return secretStandIn, true
			}
		}
		if lookup == nil {
			return "", false
		}
		return lookup(name)
	}
}

// Resolve checks the benchmark of a job and returns the run that it describes. Files that it names may be missing: they
// are read in the pods.
func (s *Spec) Resolve(name string, lookup env.Lookup) (*config.Run, []fault.Warning, error) {
	source, err := s.Source(name, lookup)
	if err != nil {
		return nil, nil, err
	}
	return ResolveSource(source)
}

// ResolveSource is [Spec.Resolve] of an envelope that was read already.
func ResolveSource(source *file.Source) (*config.Run, []fault.Warning, error) {
	p, _, err := source.Settings(source.Raw, file.Options{NoFiles: true})
	if err != nil {
		return nil, nil, err
	}
	return resolve.Resolve(p, run.Catalog{})
}

// Ordered is a value as JSON decodes it with its mappings in the order of their keys, as [document.Of] takes it. Numbers
// without a fraction become whole ones.
func Ordered(v any) any {
	switch v := v.(type) {
	case Object:
		o := artifact.Object{}
		for _, key := range slices.SortedFunc(maps.Keys(v), cmp.Compare[string]) {
			o = append(o, artifact.Member{Key: key, Value: Ordered(v[key])})
		}
		return o
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Ordered(item)
		}
		return out
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
		return v
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case int:
		return int64(v)
	}
	return v
}

// Plain is a value of a document as JSON decodes it: mappings lose their order.
func Plain(v any) any {
	switch v := v.(type) {
	case artifact.Object:
		o := Object{}
		for _, m := range v {
			o[m.Key] = Plain(m.Value)
		}
		return o
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Plain(item)
		}
		return out
	case int:
		return int64(v)
	}
	return v
}

// first puts the keys that say what an object is before the others.
func first(v any) any {
	o, ok := v.(artifact.Object)
	if !ok {
		return v
	}
	rank := func(key string) int {
		if i := slices.Index([]string{"apiVersion", "kind", "metadata"}, key); i >= 0 {
			return i
		}
		return 3
	}
	slices.SortStableFunc(o, func(a, b artifact.Member) int { return cmp.Compare(rank(a.Key), rank(b.Key)) })
	return o
}
