package loader

import (
	"bytes"
	"slices"
	"testing"
	"unicode/utf8"
)

// What is split is what the decoder reads.
func FuzzSplitObjectAgreesWithTheDecoder(f *testing.F) {
	for _, text := range []string{
		`{}`, `{ }`, `{"a":1}`, "{\"a\" :\t[1,{\"b\":\"}\\\"\"}] , \"c\\u0041\":null}\n", `{"a":-1.5e3,"a":2}`, `{"a":"é\\","b":true}`, `[1]`, `{"a":{}`, `{"\"":{"x":[]},"z":""}`,
		`{"a":1} x`, `{"a":"\ud800","b":[[],[[]],{}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) {
			return // refused before
		}
		line := bytes.Clone(text)
		split := splitObject(line)
		if split == nil {
			return
		}
		want, err := decodeObject(text)
		if err != nil {
			t.Fatalf("%q is split into %v, but wrong: %v", text, split.keys, err)
		}
		clear(line) // what was split does not lie in the line
		if !slices.Equal(split.keys, want.keys) {
			t.Fatalf("%q: keys %q, want %q", text, split.keys, want.keys)
		}
		for key, value := range want.members {
			if !bytes.Equal(split.members[key], value) {
				t.Errorf("%q: %s is %s, want %s", text, key, split.members[key], value)
			}
		}
	})
}
