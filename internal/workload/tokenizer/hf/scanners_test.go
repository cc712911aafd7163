package hf

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/tokenizer"
)

const (
	cl100kStart = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|`
	cl100kEnd   = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	casedFirst  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
	casedSecond = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
	casedEnd    = `| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	contraction = `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
)

// knownPatterns are the patterns as published models spell them.
var knownPatterns = map[string]string{
	"gpt2":            `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
	"llama3":          cl100kStart + `\p{N}{1,3}` + cl100kEnd,
	"qwen2":           cl100kStart + `\p{N}` + cl100kEnd,
	"cl100k, newer":   `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`,
	"o200k":           casedFirst + contraction + `|` + casedSecond + contraction + `|\p{N}{1,3}` + casedEnd,
	"tekken":          casedFirst + `|` + casedSecond + `|\p{N}` + casedEnd,
	"deepseek 1":      `\p{N}{1,3}`,
	"deepseek 2":      `[一-龥぀-ゟ゠-ヿ]+`,
	"deepseek 3":      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
	"llama3, escaped": strings.ReplaceAll(cl100kStart, `\r\n`, "\r\n") + `\p{N}{1,3}` + cl100kEnd,
}

// The scanners know their patterns without an expression engine; here one checks them.
func TestScannersMatchTheirPatterns(t *testing.T) {
	alphabet := []rune("abZQéÄßǅʰ中国かカ가\u0301\u0903७1²Ⅷ٣ " +
		"\t\n\r\u00a0\u2028\u3000'sStTrReEvVlLmMdDſ.,!/-_(){}$+<\x00\x7f\u200d\ufeff😀🇩\U00010400\U00010d50\ua7cb")
	for name, text := range knownPatterns {
		known := tokenizer.KnownSplit(text)
		if known == nil {
			t.Errorf("%s has no scanner", name)
			continue
		}
		slow, err := newExpression(text)
		if err != nil {
			t.Fatal(err)
		}
		fast := scan(known)
		r := rand.New(rand.NewPCG(1, 2))
		for range 4000 {
			var b strings.Builder
			for range r.IntN(24) {
				c := alphabet[r.IntN(len(alphabet))]
				b.WriteString(strings.Repeat(string(c), 1+r.IntN(3)*r.IntN(2)))
			}
			if got, want := matches(fast, b.String()), matches(slow.each, b.String()); !slices.Equal(got, want) {
				t.Fatalf("%s of %q\n got %q\nwant %q", name, b.String(), got, want)
			}
		}
	}
}

func matches(p pattern, s string) []string {
	var out []string
	p(s, func(start, end int) { out = append(out, s[start:end]) })
	return out
}
