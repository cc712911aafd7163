package artifact

import "strconv"

// Members appends the members of one compact JSON object without building a tree: what the lines
// of a hot JSONL file are made with. Keys must need no escapes.
type Members struct {
	// Dst is the text so far; Open and Close bracket it.
	Dst   []byte
	comma bool
}

// Open starts an object.
func (m *Members) Open() {
	m.Dst = append(m.Dst, '{')
	m.comma = false
}

// Close ends the object and makes the next member one of the object around it.
func (m *Members) Close() {
	m.Dst = append(m.Dst, '}')
	m.comma = true
}

// Key starts a member; the caller appends its value to Dst.
func (m *Members) Key(key string) {
	if m.comma {
		m.Dst = append(m.Dst, ',')
	}
	m.comma = true
	m.Dst = append(m.Dst, '"')
	m.Dst = append(m.Dst, key...)
	m.Dst = append(m.Dst, '"', ':')
}

// Object starts a member that is an object; Close ends it.
func (m *Members) Object(key string) {
	m.Key(key)
	m.Open()
}

// Int appends an integer member.
func (m *Members) Int(key string, v int64) {
	m.Key(key)
	m.Dst = strconv.AppendInt(m.Dst, v, 10)
}

// Bool appends a boolean member.
func (m *Members) Bool(key string, v bool) {
	m.Key(key)
	m.Dst = strconv.AppendBool(m.Dst, v)
}

// String appends a string member.
func (m *Members) String(key, v string) {
	m.Key(key)
	m.Dst = AppendString(m.Dst, v)
}
