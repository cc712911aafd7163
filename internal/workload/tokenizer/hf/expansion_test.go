package hf

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Replacements in a chain, each of which makes a text longer, are refused by name before a text is looked at;
// the components of published tokenizers are not.
func TestNormalizersThatExplodeAreRefused(t *testing.T) {
	replace := func(n int, content string) string {
		return strings.Repeat(fmt.Sprintf(`{"type":"Replace","pattern":{"String":"a"},"content":%q},`, content), n)
	}
	for _, c := range []struct{ part, list, want string }{
		{"normalizer", replace(8, strings.Repeat("a", 100)),
			"its normalizer could make a text 1e+16 times as long; the limit is 512 times"},
		{"normalizer", replace(10, "aa"), "1.02e+03 times"},
		{"normalizer", replace(1, strings.Repeat("a", 513)), "513 times"},
		{"normalizer", `{"type":"Replace","pattern":{"Regex":"x*"},"content":"` + strings.Repeat("b", 600) + `"},`,
			"601 times"},
		{"normalizer", `{"type":"Prepend","prepend":"` + strings.Repeat("b", 1<<20) + `"},`, "its normalizer"},
		{"decoder", replace(8, strings.Repeat("a", 100)), "its decoder"},
		{"pre_tokenizer", `{"type":"Metaspace","replacement":"` + strings.Repeat("b", 1000) + `"},`,
			"its pre_tokenizer"},
		{"normalizer", `{"type":"Prepend","prepend":"▁"},{"type":"Replace","pattern":{"String":" "},"content":"▁"},{"type":"NFKC"},{"type":"Lowercase"},{"type":"NFD"},`, ""},
		{"normalizer", replace(9, "aa"), ""},
	} {
		inner := map[string]string{"normalizer": "normalizers", "decoder": "decoders",
			"pre_tokenizer": "pretokenizers"}[c.part]
		text := fmt.Sprintf(`{"%s":{"type":"Sequence","%s":[%s]},"model":{"type":"WordLevel","vocab":{"a":0,"[UNK]":1},"unk_token":"[UNK]"}}`,
			c.part, inner, strings.TrimSuffix(c.list, ","))
		if !json.Valid([]byte(text)) {
			t.Fatal(text)
		}
		_, err := New([]byte(text), Options{})
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.60s: got %v, want %q", c.list, err, c.want)
		}
	}
}

func TestExpansionOfKnownComponentsIsSmall(t *testing.T) {
	all := readComponents(t)
	for _, c := range all.Normalizers {
		if by := expansion(&c.Spec); by > maxExpansion/2 {
			t.Errorf("%+v: %g", c.Spec.Type, by)
		}
	}
	for _, c := range all.Decoders {
		if by := expansion(&c.Spec); by > maxExpansion/2 {
			t.Errorf("%+v: %g", c.Spec.Type, by)
		}
	}
}
