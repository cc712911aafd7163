package report

import (
	"bytes"

	"aiperf/internal/base/artifact"
)

// withoutNulls returns a JSON document without the members whose value is null, at any depth. Numbers
// keep their spelling and members their order. Elements of arrays stay, because their place counts.
func withoutNulls(doc []byte) []byte {
	if !bytes.Contains(doc, []byte("null")) {
		return doc
	}
	tree, err := artifact.Parse(doc)
	if err != nil {
		return doc
	}
	out, err := artifact.AppendJSON(nil, dropNulls(tree))
	if err != nil {
		return doc
	}
	return out
}

func dropNulls(v any) any {
	switch v := v.(type) {
	case artifact.Object:
		kept := v[:0]
		for _, m := range v {
			if m.Value != nil {
				kept = append(kept, artifact.Member{Key: m.Key, Value: dropNulls(m.Value)})
			}
		}
		return kept
	case []any:
		for i := range v {
			v[i] = dropNulls(v[i])
		}
	}
	return v
}
