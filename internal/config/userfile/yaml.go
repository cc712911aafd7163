package userfile

import (
	"github.com/goccy/go-yaml"

	"aiperf/internal/base/artifact"
)

func marshalYAML(v any) ([]byte, error) {
	return yaml.MarshalWithOptions(ordered(v), yaml.IndentSequence(false))
}

// ordered is a value whose mappings the library writes in their order.
func ordered(v any) any {
	switch v := v.(type) {
	case artifact.Object:
		o := yaml.MapSlice{}
		for _, m := range v {
			o = append(o, yaml.MapItem{Key: m.Key, Value: ordered(m.Value)})
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = ordered(item)
		}
		return list
	}
	return v
}
