package artifact

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// StructObject returns a struct as an object: each exported field by its name in snake case. Its fields must
// be such that encoding/json writes and reads them.
func StructObject(structure any) (Object, error) {
	var o Object
	v := reflect.ValueOf(structure)
	for i := range v.NumField() {
		text, err := json.Marshal(v.Field(i).Interface())
		if v.Field(i).Kind() == reflect.Slice && v.Field(i).IsNil() {
			text = []byte("[]")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Type().Field(i).Name, err)
		}
		o = append(o, Member{Key: snakeCase(v.Type().Field(i).Name), Value: json.RawMessage(text)})
	}
	return o, nil
}

// ParseStruct reads such an object into the struct that into points to. Members that it does not have
// leave their fields as they are; others are passed over.
func ParseStruct(data []byte, into any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		name := snakeCase(v.Type().Field(i).Name)
		if text, ok := members[name]; ok {
			if err := json.Unmarshal(text, v.Field(i).Addr().Interface()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// snakeCase turns UseServerTokens into use_server_tokens, SliceNS into slice_ns and SLOs into slos.
func snakeCase(name string) string {
	var b strings.Builder
	runes := []rune(strings.Replace(name, "SLOs", "Slos", 1))
	for i, r := range runes {
		startsWord := unicode.IsUpper(r) && i > 0 &&
			(unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
