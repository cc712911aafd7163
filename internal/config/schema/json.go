package schema

import (
	"slices"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/option"
)

type object = artifact.Object

// JSON is the JSON Schema (draft 2020-12) of configuration files. It is for editors: they propose names in snake_case
// and accept camelCase; short forms are in it; a text with ${…} or {{ … }} is allowed wherever another type is.
func JSON() artifact.Object {
	root := sectionJSON(Envelope())
	return append(object{{Key: "$schema", Value: "https://json-schema.org/draft/2020-12/schema"},
		{Key: "title", Value: "aiperf configuration"}}, append(root,
		artifact.Member{Key: "$defs", Value: object{
			{Key: "expression", Value: object{{Key: "type", Value: "string"},
				{Key: "pattern", Value: `\$\{[A-Za-z_][A-Za-z0-9_]*(:[^}]*)?\}|\{\{|\{%`},
				{Key: "description", Value: "A variable of the environment, or an expression."}}},
			{Key: "time", Value: object{{Key: "anyOf", Value: []any{
				object{{Key: "type", Value: "number"}, {Key: "minimum", Value: 0}},
				object{{Key: "type", Value: "string"},
					{Key: "pattern", Value: `^\s*([0-9.]+\s*(s|sec|m|min|h|hr|hour)?|inf|infinity)\s*$`}},
				object{{Key: "$ref", Value: "#/$defs/expression"}}}}}},
			{Key: "distribution", Value: object{{Key: "anyOf", Value: []any{
				object{{Key: "type", Value: "number"}}, object{{Key: "$ref", Value: "#/$defs/expression"}},
				object{{Key: "type", Value: "object"}, {Key: "properties", Value: distributionKeys()}}}}}},
		}})...)
}

// distributionKeys are the keys of the kinds of distribution.
func distributionKeys() artifact.Object {
	out := object{{Key: "type", Value: object{{Key: "enum", Value: []any{"fixed", "normal", "lognormal", "multimodal",
		"empirical", "uniform", "exponential", "zipf", "mixture", "clamped"}}}}}
	for _, name := range []string{"value", "mean", "stddev", "median", "sigma", "min", "max", "alpha", "scale",
		"offset",
		"weight"} {
		out = append(out, artifact.Member{Key: name, Value: object{{Key: "type", Value: []any{"number", "string"}}}})
	}
	for _, name := range []string{"peaks", "points", "components"} {
		out = append(out, artifact.Member{Key: name, Value: object{{Key: "type", Value: "array"}}})
	}
	return out
}

// sectionJSON is a mapping with the keys of a section.
func sectionJSON(k Key) artifact.Object {
	properties, required := object{}, []any{}
	for _, f := range k.Fields {
		if _, twice := properties.Get(f.Name); twice {
			continue // the key of another type of dataset
		}
		properties = append(properties, artifact.Member{Key: f.Name, Value: keyJSON(f)})
	}
	properties = append(properties, shorts(k.Name)...)
	out := object{{Key: "type", Value: "object"}, {Key: "properties", Value: properties}}
	camel := object{}
	for _, p := range properties {
		if name := Camel(p.Key); name != p.Key {
			camel = append(camel, artifact.Member{Key: "^" + name + "$", Value: p.Value})
		}
	}
	if len(camel) > 0 {
		out = append(out, artifact.Member{Key: "patternProperties", Value: camel})
	}
	for _, f := range k.Fields {
		if f.Required && f.Of == nil && len(shorts(k.Name)) == 0 && k.Name != "phases" && k.Name != "datasets" {
			required = append(required, f.Name)
		}
	}
	if len(required) > 0 && k.Name != "" {
		out = append(out, artifact.Member{Key: "required", Value: required})
	}
	return append(out, artifact.Member{Key: "additionalProperties", Value: k.Name == ""})
}

// shorts are the short forms that a section has beside its keys.
func shorts(name string) (members artifact.Object) {
	of := func(name string) artifact.Object { k, _ := Body().Field(name); return sectionJSON(k) }
	switch name {
	case "benchmark":
		members = object{
			{Key: "model", Value: object{{Key: "description", Value: "Short for models: a name, or a list of names."}}},
			{Key: "dataset", Value: of("datasets")}, {Key: "warmup", Value: of("phases")},
			{Key: "profiling", Value: of("phases")}}
	case "endpoint", "gpu_telemetry", "server_metrics":
		members = object{{Key: "url", Value: object{{Key: "type", Value: []any{"string", "array"}},
			{Key: "description", Value: "Short for urls with one URL."}}}}
	case "datasets":
		members = object{{Key: "isl", Value: object{{Key: "$ref", Value: "#/$defs/distribution"}}},
			{Key: "count", Value: object{{Key: "type", Value: []any{"integer", "string"}}}}}
	}
	return members
}

// mappings are sections without a short form. What is wrong in them is reported at its place, not as a choice of which
// nothing fits.
var mappings = []string{"benchmark", "endpoint", "artifacts", "runtime", "logging", "prompts", "multi_run"}

// keyJSON is the schema of one key.
func keyJSON(k Key) artifact.Object {
	out := object{}
	if text := k.Text(); text != "" {
		out = append(out, artifact.Member{Key: "description", Value: text})
	}
	if k.Default != nil {
		out = append(out, artifact.Member{Key: "default", Value: k.Default})
	}
	either := func(types ...any) artifact.Object {
		return append(out, artifact.Member{Key: "anyOf", Value: append(types, object{{Key: "type", Value: "null"}})})
	}
	expression := object{{Key: "$ref", Value: "#/$defs/expression"}}
	text := object{{Key: "type", Value: []any{"string", "number", "boolean"}}}
	switch k.Holds() {
	case Switch:
		return either(object{{Key: "type", Value: "boolean"}}, expression,
			object{{Key: "enum", Value: []any{"yes", "no",
				"on", "off"}}})
	case Whole:
		return either(bounded(object{{Key: "type", Value: "integer"}}, k.Bounds()), expression)
	case Number:
		return either(bounded(object{{Key: "type", Value: "number"}}, k.Bounds()), expression,
			object{{Key: "type", Value: "string"}})
	case Choice:
		types := []any{object{{Key: "enum", Value: anys(k.Choices())}}, expression}
		if k.Option != nil && k.Option.Extensible && k.Values == nil {
			types = append(types, object{{Key: "type", Value: "string"}, {Key: "description", Value: "A plug-in."}})
		}
		return either(types...)
	case Duration:
		return either(object{{Key: "$ref", Value: "#/$defs/time"}})
	case Ramp:
		return either(object{{Key: "$ref", Value: "#/$defs/time"}}, object{{Key: "type", Value: "object"},
			{Key: "properties", Value: object{{Key: "duration", Value: object{{Key: "$ref", Value: "#/$defs/time"}}},
				{Key: "strategy", Value: object{{Key: "enum", Value: anys(option.RampShapes())}}}}}})
	case Distribution:
		return either(object{{Key: "$ref", Value: "#/$defs/distribution"}})
	case Words:
		item := text
		if k.Values != nil {
			item = object{{Key: "enum", Value: anys(k.Values)}}
		}
		if k.Fields != nil {
			item = object{{Key: "anyOf", Value: []any{text, sectionJSON(k)}}}
		}
		return either(object{{Key: "type", Value: "array"}, {Key: "items", Value: item}}, text)
	case Numbers:
		return either(object{{Key: "type", Value: "array"}, {Key: "items", Value: object{{Key: "type",
			Value: []any{"number", "string"}}}}}, object{{Key: "type", Value: "number"}}, expression)
	case Section:
		section := sectionJSON(k)
		switch {
		case slices.Contains(mappings, k.Name):
			section[0].Value = []any{"object", "null"}
			return append(out, section...)
		case k.Name == "models":
			return either(section, text, object{{Key: "type", Value: "array"}})
		}
		return either(section, text) // a text where a section has a short form
	case Sections:
		return either(object{{Key: "type", Value: "array"}, {Key: "items", Value: sectionJSON(k)}},
			append(sectionJSON(k), artifact.Member{Key: "description", Value: "A single one."}))
	case Table:
		return either(object{{Key: "type", Value: "object"}})
	case TextTable:
		return either(object{{Key: "type", Value: "object"}, {Key: "additionalProperties", Value: text}})
	case Word:
		return either(text)
	case Anything:
		if k.Fields != nil {
			return either(sectionJSON(k))
		}
	}
	return out
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

// bounded adds the limits of a number.
func bounded(o artifact.Object, l option.Limits) artifact.Object {
	if lo, open, ok := l.Least(); ok {
		key := "minimum"
		if open {
			key = "exclusiveMinimum"
		}
		o = append(o, artifact.Member{Key: key, Value: lo})
	}
	if hi, ok := l.Most(); ok {
		o = append(o, artifact.Member{Key: "maximum", Value: hi})
	}
	return o
}
