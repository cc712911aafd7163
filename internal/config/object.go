package config

// Member is one key of an ordered JSON object.
type Member struct {
	Key   string
	Value any
}

// Object is a JSON object that keeps the order of its keys. Values are nil, bool, string, int64,
// float64 (written with a decimal point or exponent), json.Number (an integer beyond 64 bits), Object,
// or []any of these.
type Object []Member

// Get finds a key.
func (o Object) Get(key string) (any, bool) {
	for _, m := range o {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// Set replaces the value of a key in its place or appends the key.
func (o Object) Set(key string, value any) Object {
	for i := range o {
		if o[i].Key == key {
			o[i].Value = value
			return o
		}
	}
	return append(o, Member{Key: key, Value: value})
}
