// Package artifact writes files: ordered JSON, JSONL and CSV in the number formats of the published
// files, atomic replacement, file names, redaction of secrets.
package artifact

// Object is a JSON object that keeps the order of its members. Values may be nil, bool, string, any
// integer or float type, json.RawMessage, Object, []any, or slices of the former.
type Object []Member

// Member is one key and its value.
type Member struct {
	Key   string
	Value any
}
