package hf

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzFile reads any text as a tokenizer.json; what can be read must encode.
func FuzzFile(f *testing.F) {
	for _, m := range readComponents(f).Models {
		f.Add([]byte(m.File))
	}
	f.Add([]byte(`{"model":{"type":"Unigram","vocab":[["a",-1],["",0]],"unk_id":0,"byte_fallback":true},"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"}}`))
	f.Add([]byte(`{"model":{"vocab":{"a":0},"merges":[["a","a"]]},"pre_tokenizer":{"type":"Split","pattern":{"Regex":"[a&&b]|\\p{L}+?"},"behavior":"Contiguous"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Count(string(data), "*")+strings.Count(string(data), "+") > 20 {
			return // an expression may take for ever; nobody publishes such a one
		}
		tok, err := New(data, Options{Guess: true})
		if err != nil {
			return
		}
		text := "Hello, wörld! <s> 123\n中"
		ids := tok.Encode(nil, text)
		if n := tok.Count(text); n != len(ids) {
			t.Errorf("Count %d, Encode %d", n, len(ids))
		}
		tok.Decode(append(ids, -1, 1<<30))
	})
}

// FuzzEncode encodes any text with tokenizers of every kind.
func FuzzEncode(f *testing.F) {
	var all []*Tokenizer
	for _, m := range readComponents(f).Models {
		tok, err := New(m.File, Options{})
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, tok)
	}
	for _, s := range []string{"", "low lowest", "\xff\xfe", "▁ <0x41> [W][L] [R] x", "e\u0301\u0316",
		strings.Repeat("\u0301", 40), "\ufffd\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for i, tok := range all {
			ids := tok.Encode(nil, s)
			if n := tok.Count(s); n != len(ids) {
				t.Errorf("tokenizer %d: Count %d, Encode %d", i, n, len(ids))
			}
			for _, id := range ids {
				if id < 0 || id >= tok.VocabSize() {
					t.Errorf("tokenizer %d: id %d", i, id)
				}
			}
			if !utf8.ValidString(tok.Decode(ids)) {
				t.Errorf("tokenizer %d: the text of %q is not UTF-8", i, s)
			}
		}
	})
}

// FuzzTranslate translates any expression.
func FuzzTranslate(f *testing.F) {
	for _, p := range knownPatterns {
		f.Add(p)
	}
	f.Add(`(?<=a)b|[^\P{L}&&[x-z]]{,3}+?|\x{1F600}\u00e9[[:^alpha:]]`)
	f.Add(`(a[b[:]c`)
	f.Add(`[[:]]`)
	f.Fuzz(func(t *testing.T, s string) {
		if out, err := translate(s); err == nil && utf8.ValidString(s) && !utf8.ValidString(out) {
			t.Errorf("%q became %q", s, out)
		}
	})
}
