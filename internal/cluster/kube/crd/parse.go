package crd

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/config/schema"
)

// Faults is what is wrong with a resource, one line each.
type Faults []string

func (f Faults) Error() string { return strings.Join(f, "\n") }

// Parsed is a resource that was read.
type Parsed struct {
	Kind     string
	Metadata Metadata
	Spec     Spec
	// Unknown are keys beside the benchmark that no field has, with what was probably meant.
	Unknown []string
}

// Job returns the job that was read.
func (p *Parsed) Job() *Job {
	return &Job{APIVersion: APIVersion, Kind: JobKind, Metadata: p.Metadata, Spec: p.Spec}
}

// Sweep returns the sweep that was read.
func (p *Parsed) Sweep() *Sweep {
	return &Sweep{APIVersion: APIVersion, Kind: SweepKind, Metadata: p.Metadata, Spec: p.Spec}
}

// Parse reads a resource of either kind and checks it without a cluster: kind, name, the deployment and what each kind
// excludes. The benchmark itself is checked by [Resolve]. Unknown keys are listed, not refused: [Parsed.Refuse] does.
// The error is a [Faults].
func Parse(o Object) (*Parsed, error) {
	p, l := &Parsed{}, &faults{}
	p.Kind, _ = o["kind"].(string)
	if p.Kind != JobKind && p.Kind != SweepKind {
		l.add("kind", "is %q; it must be %s or %s", p.Kind, JobKind, SweepKind)
	}
	if v, _ := o["apiVersion"].(string); v != APIVersion {
		l.add("apiVersion", "is %q; it must be %s", v, APIVersion)
	}
	for _, key := range sortedKeys(o) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "spec", "status"}, key) {
			p.Unknown = append(p.Unknown, key)
		}
	}
	meta, _ := o["metadata"].(Object)
	if err := fromObject(meta, &p.Metadata); err != nil {
		l.add("metadata", "%v", err)
	}
	if err := ValidName(p.Metadata.Name); err != nil {
		l.add("metadata.name", "%v", err)
	}
	spec, ok := o["spec"].(Object)
	if !ok {
		l.add("spec", "is missing or not a mapping")
		return nil, Faults(l.texts)
	}
	p.spec(spec, l)
	if len(l.texts) > 0 {
		return p, Faults(l.texts)
	}
	return p, nil
}

// ParseSpec reads a specification alone, of the kind.
func ParseSpec(kind string, spec Object) (*Parsed, error) {
	p, l := &Parsed{Kind: kind}, &faults{}
	p.spec(spec, l)
	if len(l.texts) > 0 {
		return p, Faults(l.texts)
	}
	return p, nil
}

// Refuse returns an error where there are unknown keys.
func (p *Parsed) Refuse() error {
	if len(p.Unknown) == 0 {
		return nil
	}
	list := make(Faults, len(p.Unknown))
	for i, key := range p.Unknown {
		path, near, _ := strings.Cut(key, ": ")
		list[i] = path + ": unknown key"
		if near != "" {
			list[i] += "; " + near
		}
	}
	return list
}

// ValidName returns an error unless a name is that of a resource.
func ValidName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("is missing")
	case len(name) > 253 || !dnsSubdomain.MatchString(name):
		return fmt.Errorf("%q is not a name of a Kubernetes resource: use lower-case letters, digits and hyphens", name)
	}
	return nil
}

// EnvelopeKeys are the keys of a configuration file, as a specification has them.
func EnvelopeKeys() (keys []string) {
	for _, k := range schema.Envelope().Fields {
		keys = append(keys, schema.Camel(k.Name))
	}
	return keys
}

func (p *Parsed) spec(spec Object, l *faults) {
	fields := deployment()
	if p.Kind == JobKind {
		fields = slices.DeleteFunc(fields, func(x field) bool { return x.sweepOnly })
	}
	c := canonical(spec, fields, EnvelopeKeys(), "spec", l, &p.Unknown)
	if m, ok := c["multiRun"].(Object); ok {
		k, _ := schema.Envelope().Field("multi_run")
		c["multiRun"] = CamelKeys(k, m)
	}
	if body, ok := c["benchmark"].(Object); ok {
		c["benchmark"] = CamelKeys(schema.Body(), body)
	} else {
		l.add("spec.benchmark", "is missing or not a mapping")
		return
	}
	for _, key := range []string{"multiRun", "variables"} {
		if _, ok := c[key].(Object); c[key] != nil && !ok {
			l.add("spec."+key, "must be a mapping")
			return
		}
	}
	if len(l.texts) == 0 {
		if err := fromObject(c, &p.Spec); err != nil {
			l.add("spec", "%v", err)
		}
		if p.Spec.PodTemplate != nil {
			p.Spec.PodTemplate.restricted(l)
		}
	}
	p.rules(c, l)
}

// rules are what each kind excludes.
func (p *Parsed) rules(c Object, l *faults) {
	multi, _ := c["multiRun"].(Object)
	runs, _ := asNumber(multi["numRuns"])
	convergence, _ := multi["convergence"].(Object)
	switch p.Kind {
	case JobKind:
		if c["sweep"] != nil {
			l.add("spec.sweep", "an AIPerfJob is one benchmark; move the sweep to an AIPerfSweep, or remove it")
		}
		if runs > maxRunsWithoutTrials || len(convergence) > 0 {
			l.add("spec.multiRun", "an AIPerfJob is one run without convergence; use an AIPerfSweep for several runs")
		}
	case SweepKind:
		if c["sweep"] == nil {
			l.add("spec.sweep", "an AIPerfSweep needs a sweep: grid, zip, scenarios, sobol, latin_hypercube or "+
				"adaptive_search; for one benchmark use an AIPerfJob")
			return
		}
		sweep, ok := c["sweep"].(Object)
		if !ok {
			l.add("spec.sweep", "must be a mapping")
			return
		}
		if runs > MaxTrials {
			l.add("spec.multiRun.numRuns", "is %v; at most %d trials are allowed", runs, MaxTrials)
		}
		for _, key := range sortedKeys(sweep) {
			switch schema.Camel(key) {
			case "cooldownSeconds", "plateauThreshold", "slaWarmupSeconds":
				if n, ok := asNumber(sweep[key]); sweep[key] != nil && (!ok || math.IsNaN(n) || math.IsInf(n, 0)) {
					l.add("spec.sweep."+key, "must be a finite number")
				}
			case "iterationOrder":
				if sweep[key] == "repeated" && len(convergence) > 0 {
					l.add("spec.sweep."+key, "repeated excludes convergence; use independent")
				}
			}
		}
	}
}

// CamelKeys returns a section with the names of its known keys in camelCase, at any depth; keys of tables, and unknown
// ones, stay as they are.
func CamelKeys(k schema.Key, m Object) Object { return renamed(k, m, schema.Camel) }

// SnakeKeys is the reverse of [CamelKeys].
func SnakeKeys(k schema.Key, m Object) Object { return renamed(k, m, schema.Snake) }

func renamed(k schema.Key, m Object, spell func(string) string) Object {
	out := make(Object, len(m))
	for name, value := range m {
		inner, ok := k.Field(schema.Snake(name))
		if !ok {
			// short forms hold sections of their long ones
			switch name {
			case "dataset":
				inner, _ = k.Field("datasets")
			case "warmup", "profiling":
				inner, _ = k.Field("phases")
			}
			out[name] = renamedValue(inner, value, spell)
			continue
		}
		out[spell(schema.Snake(name))] = renamedValue(inner, value, spell)
	}
	return out
}

func renamedValue(k schema.Key, value any, spell func(string) string) any {
	if k.Name == "" || len(k.Fields) == 0 {
		return value
	}
	switch v := value.(type) {
	case Object:
		return renamed(merged(k), v, spell)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = renamedValue(k, item, spell)
		}
		return out
	}
	return value
}

// merged is a section in which keys of the same name, which belong to different types, have all their fields.
func merged(k schema.Key) schema.Key {
	var fields []schema.Key
	for _, f := range k.Fields {
		i := slices.IndexFunc(fields, func(x schema.Key) bool { return x.Name == f.Name })
		if i < 0 {
			fields = append(fields, f)
			continue
		}
		fields[i].Fields = slices.Concat(fields[i].Fields, f.Fields)
	}
	k.Fields = fields
	return k
}

// CamelName is the camelCase of a key.
func CamelName(key string) string { return schema.Camel(key) }
