package crd

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/config/document"
	"aiperf/internal/config/schema"
)

// Definitions are the CustomResourceDefinitions of both kinds: structural schemas, made of the tables of configuration
// keys and of deployment fields and of the structs of the statuses, with the rules of [Parse] that a schema can say.
func Definitions() []Object {
	return []Object{
		definition(JobKind, Jobs, "aiperfjob", []string{"apj"}, jobSchema(), []any{
			column("Phase", "string", ".status.phase"), column("Workers", "integer", ".status.workers.ready"),
			column("Total", "integer", ".status.workers.total"), column("Error", "string", ".status.error"),
			column("Age", "date", ".metadata.creationTimestamp")}),
		definition(SweepKind, Sweeps, "aiperfsweep", []string{"aps"}, sweepSchema(), []any{
			column("Phase", "string", ".status.phase"), column("Variations", "integer", ".status.totalVariations"),
			column("Completed", "integer", ".status.completedRuns"), column("Failed", "integer", ".status.failedRuns"),
			column("Age", "date", ".metadata.creationTimestamp")}),
	}
}

// DefinitionName is the name of the definition of a plural.
func DefinitionName(plural string) string { return plural + "." + Group }

func column(name, kind, path string) Object {
	return Object{"name": name, "type": kind, "jsonPath": path}
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

func definition(kind, plural, singular string, short []string, resource Object, columns []any) Object {
	return Object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": Object{"name": DefinitionName(plural), "labels": Object{LabelApp: AppName}},
		"spec": Object{"group": Group, "scope": "Namespaced",
			"names": Object{"kind": kind, "plural": plural, "singular": singular, "listKind": kind + "List",
				"shortNames": anys(short), "categories": []any{AppName}},
			"versions": []any{Object{"name": Version, "served": true, "storage": true,
				"subresources": Object{"status": Object{}}, "additionalPrinterColumns": columns,
				"schema": Object{"openAPIV3Schema": resource}}}}}
}

// Longest names whose children, or pods, have names that are valid.
const longestSweepName = MaxChildName - len("-v00")

func jobSchema() Object {
	spec := specSchema(false)
	spec["x-kubernetes-validations"] = []any{
		rule("!has(self.sweep)", "an AIPerfJob is one benchmark; move the sweep to an AIPerfSweep, or remove it"),
		rule("!has(self.multiRun) || ((!has(self.multiRun.numRuns) || self.multiRun.numRuns <= 1) && "+
			"!has(self.multiRun.convergence))",
			"an AIPerfJob is one run without convergence; use an AIPerfSweep for several runs"),
	}
	root := resourceSchema(spec, statusSchema(reflect.TypeFor[JobStatus](), JobPhases()), "One benchmark.")
	root["x-kubernetes-validations"] = []any{rule("size(self.metadata.name) <= 40",
		"the name has more than 40 characters")}
	return root
}

func sweepSchema() Object {
	spec := specSchema(true)
	spec["required"] = []any{"benchmark", "image", "sweep"}
	spec["x-kubernetes-validations"] = []any{
		rule("!(has(self.sweep.iterationOrder) && self.sweep.iterationOrder == 'repeated' && has(self.multiRun) && "+
			"has(self.multiRun.convergence))",
			"iterationOrder repeated excludes convergence; use independent"),
	}
	root := resourceSchema(spec, statusSchema(reflect.TypeFor[SweepStatus](), SweepPhases()),
		"Benchmarks for the variations and trials of one configuration.")
	root["x-kubernetes-validations"] = []any{rule("size(self.metadata.name) <= "+decimal(longestSweepName),
		"the names of the jobs of the sweep would be too long: at most "+decimal(longestSweepName)+
			" characters are left for its own")}
	return root
}

func rule(expression, message string) Object { return Object{"rule": expression, "message": message} }

func resourceSchema(spec, status Object, help string) Object {
	return Object{"type": "object", "description": help, "required": []any{"spec"}, "properties": Object{
		"apiVersion": Object{"type": "string"}, "kind": Object{"type": "string"}, "metadata": Object{"type": "object"},
		"spec": spec, "status": status}}
}

// openObject is a mapping with keys that the schema does not list.
func openObject(help string) Object {
	return Object{"type": "object", "description": help, "x-kubernetes-preserve-unknown-fields": true}
}

// anything is a value of any type.
func anything(help string) Object {
	o := Object{"x-kubernetes-preserve-unknown-fields": true, "nullable": true}
	if help != "" {
		o["description"] = help
	}
	return o
}

func specSchema(sweep bool) Object {
	properties := Object{}
	for _, k := range schema.Envelope().Fields {
		properties[schema.Camel(k.Name)] = keySchema(k)
	}
	block := openObject("Which parameters are varied, and how.")
	block["properties"] = Object{"iterationOrder": Object{"type": "string"}}
	properties["sweep"] = block
	multi := Object{"type": "object", "description": "Repetitions, and how their results are combined."}
	inner := Object{"numRuns": Object{"type": "integer", "minimum": int64(1), "maximum": int64(MaxTrials)},
		"convergence": openObject("When the runs are enough.")}
	k, _ := schema.Envelope().Field("multi_run")
	for _, f := range k.Fields {
		if name := schema.Camel(f.Name); inner[name] == nil {
			inner[name] = keySchema(f)
		}
	}
	multi["properties"] = inner
	properties["multiRun"] = multi
	for _, x := range deployment() {
		if sweep || !x.sweepOnly {
			properties[x.name] = fieldSchema(x)
		}
	}
	return Object{"type": "object", "properties": properties, "required": []any{"benchmark", "image"}}
}

// typed are the sections of a benchmark that have no short form, so that the cluster can refuse unknown keys in them.
var typed = []string{"benchmark", "endpoint", "artifacts", "runtime", "logging"}

// keySchema is the schema of a key of a configuration. Texts may stand for most values: a file may hold expressions.
func keySchema(k schema.Key) Object {
	switch {
	case k.Holds() == schema.Section && slices.Contains(typed, k.Name):
		properties := Object{}
		for _, f := range k.Fields {
			s := keySchema(f)
			properties[schema.Camel(f.Name)] = s
			properties[f.Name] = s
		}
		for name, help := range shortForms[k.Name] {
			properties[name] = anything(help)
		}
		o := Object{"type": "object", "properties": properties}
		if text := k.Text(); text != "" {
			o["description"] = text
		}
		if k.Name != "benchmark" {
			o["nullable"] = true
		}
		return o
	case k.Holds() == schema.Whole:
		o := Object{"x-kubernetes-int-or-string": true, "nullable": true}
		if text := k.Text(); text != "" {
			o["description"] = text
		}
		return limited(o, k)
	case k.Holds() == schema.Number:
		return limited(anything(k.Text()), k)
	}
	text := k.Text()
	if choices := k.Choices(); k.Holds() == schema.Choice && len(choices) > 0 {
		text = strings.TrimSpace(text + " One of " + strings.Join(choices, ", ") + ".")
	}
	return anything(text)
}

func limited(o Object, k schema.Key) Object {
	if lo, open, ok := k.Bounds().Least(); ok {
		o["minimum"] = lo
		if open {
			o["exclusiveMinimum"] = true
		}
	}
	if hi, ok := k.Bounds().Most(); ok {
		o["maximum"] = hi
	}
	return o
}

// shortForms are the keys of a section beside its table.
var shortForms = map[string]map[string]string{
	"benchmark": {"model": "Short for models.", "dataset": "Short for datasets with one.",
		"warmup": "Short for a warm-up phase.", "profiling": "Short for a profiling phase."},
	"endpoint": {"url": "Short for urls with one URL."},
}

func fieldSchema(x field) Object {
	o := Object{"description": x.help}
	object := func() Object {
		return Object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	switch x.kind {
	case text:
		o["type"] = "string"
		if x.values != nil {
			o["enum"] = anys(x.values)
		}
		if x.name == "image" {
			o["pattern"] = `\S`
		}
	case boolean:
		o["type"] = "boolean"
	case whole:
		o["type"] = "integer"
	case number:
		o["type"] = "number"
	case section:
		properties := Object{}
		for _, inner := range x.fields {
			properties[inner.name] = fieldSchema(inner)
		}
		o["type"], o["properties"] = "object", properties
	case free:
		o["type"], o["x-kubernetes-preserve-unknown-fields"] = "object", true
	case texts:
		o["type"], o["additionalProperties"] = "object", Object{"type": "string"}
	case list:
		o["type"], o["items"] = "array", object()
	case mixed:
		o["type"], o["items"] = "array", Object{"x-kubernetes-preserve-unknown-fields": true}
	}
	if !math.IsNaN(x.lo) {
		o["minimum"] = x.lo
	}
	if !math.IsNaN(x.hi) {
		o["maximum"] = x.hi
	}
	if x.def != nil && x.name != "connectionsPerWorker" {
		o["default"] = x.def
	}
	return o
}

// statusSchema is the schema of a status; its phase is one of the list.
func statusSchema(t reflect.Type, phases []string) Object {
	o := typeSchema(t)
	o["properties"].(Object)["phase"] = Object{"type": "string", "enum": anys(phases)}
	return o
}

// typeSchema is the schema of what a Go type is as JSON.
func typeSchema(t reflect.Type) Object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return Object{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		o := typeSchema(t.Elem())
		o["nullable"] = true
		return o
	}
	switch t.Kind() {
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Object{"type": "integer"}
	case reflect.Float64:
		return Object{"type": "number"}
	case reflect.Slice:
		return Object{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return Object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		}
		return Object{"type": "object", "additionalProperties": typeSchema(t.Elem())}
	case reflect.Struct:
		properties := Object{}
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			properties[name] = typeSchema(f.Type)
		}
		return Object{"type": "object", "properties": properties}
	}
	return Object{"x-kubernetes-preserve-unknown-fields": true}
}

func decimal(n int) string { return strconv.Itoa(n) }

// YAML is a value of JSON as YAML, mappings in the order of their keys, but with apiVersion, kind and metadata first.
func YAML(v any) []byte { return document.AppendYAML(nil, document.Of(first(Ordered(v))), 0) }

// Documents are several values as one stream of YAML documents.
func Documents(objects ...Object) []byte {
	var out []byte
	for i, o := range objects {
		if i > 0 {
			out = append(out, "---\n"...)
		}
		out = append(out, YAML(o)...)
	}
	return out
}
