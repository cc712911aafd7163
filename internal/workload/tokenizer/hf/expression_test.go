package hf

import (
	"strings"
	"testing"
	"time"
)

func splitFile(pattern string) []byte {
	return []byte(`{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"` +
		pattern + `"},"behavior":"Isolated"}]},
		"model":{"type":"WordLevel","unk_token":"a","vocab":{"a":0}}}`)
}

func TestAPatternThatBacktracksWithoutEndIsRefused(t *testing.T) {
	for _, pattern := range []string{`(a+)+$`, `(1|11)+$`} {
		if _, err := New(splitFile(pattern), Options{}); err == nil || !strings.Contains(err.Error(), pattern) ||
			!strings.Contains(err.Error(), "takes more than 500ms for 64 characters") {
			t.Errorf("%s: got %v", pattern, err)
		}
	}
}

// TestAPatternThatTakesTooLongIsGivenUp has a pattern that the probes do not find out.
func TestAPatternThatTakesTooLongIsGivenUp(t *testing.T) {
	tok, err := New(splitFile(`(z|zz)+$`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	tok.slow[0].re.MatchTimeout = 50 * time.Millisecond
	if tok.Encode(nil, "zzz"); tok.Err() != nil {
		t.Error(tok.Err())
	}
	for range 2 {
		tok.Encode(nil, strings.Repeat("z", 64)+"!")
		if err := tok.Err(); err == nil || !strings.Contains(err.Error(), "was given up") ||
			!strings.Contains(err.Error(), "(z|zz)+$") {
			t.Errorf("got %v", err)
		}
	}
}

// TestANestedClassThatBeginsWithAColon is no name of a class.
func TestANestedClassThatBeginsWithAColon(t *testing.T) {
	for pattern, same := range map[string]string{`[[:]]`: `[:]`, `[a[:]b]`: `[a:b]`, `[[:]-]`: `[:-]`} {
		got, err := translate(pattern)
		want, wantErr := translate(same)
		if err != nil || wantErr != nil || got != want {
			t.Errorf("%s became %q, %v; want %q, %v", pattern, got, err, want, wantErr)
		}
	}
	if out, err := translate(`(0[0[:]0`); err == nil {
		t.Errorf("a class that is not closed became %q", out)
	}
}
