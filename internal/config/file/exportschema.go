package file

import (
	"slices"
	"strconv"

	"aiperf/internal/config/schema"
)

// SplitBody separates the members of a "benchmark:" body that the original's schema has a key for from the others, at any
// depth: its readers refuse other keys. What is split off a list is kept under the names of its items, of URLs under
// their numbers. A mapping without remaining members is left out.
func SplitBody(body Object) (known, further Object) { return splitBody(body, schema.Body(), "") }

// splitBody is [SplitBody] for a section. kind is the type of dataset or phase that the section belongs to.
func splitBody(o Object, k schema.Key, kind string) (known, further Object) {
	for _, m := range o {
		f, ok := k.FieldOf(m.Key, kind)
		if !ok || f.Ours {
			further = append(further, m)
			continue
		}
		switch v := m.Value.(type) {
		case Object:
			if f.Holds() != schema.Section {
				known = append(known, m)
				continue
			}
			inner, others := splitBody(v, f, kind)
			known, further = setNonEmpty(known, m.Key, inner), setNonEmpty(further, m.Key, others)
		case []any:
			list, others := splitList(v, f)
			known, further = append(known, Member{Key: m.Key, Value: list}), setNonEmpty(further, m.Key, others)
		default:
			known = append(known, m)
		}
	}
	return known, further
}

// splitList splits each mapping of a list of sections.
func splitList(list []any, k schema.Key) (known []any, further Object) {
	known = make([]any, len(list))
	for i, item := range list {
		known[i] = item
		o, ok := item.(Object)
		if ok && k.Name == "urls" { // a URL with headers of its own, which the original does not know
			known[i], _ = o.Get("url")
			further = append(further, Member{Key: strconv.Itoa(i), Value: o})
		}
		if !ok || k.Holds() != schema.Sections {
			continue
		}
		kind := ""
		if k.Name == "datasets" {
			kind = textMember(o, "type")
		}
		if !slices.Contains(schema.DatasetTypes(), kind) {
			kind = ""
		}
		inner, others := splitBody(o, k, kind)
		known[i], further = inner, setNonEmpty(further, textMember(o, "name"), others)
	}
	return known, further
}

func textMember(o Object, key string) string {
	v, _ := o.Get(key)
	text, _ := v.(string)
	return text
}
