package tokenizer

import (
	"strings"
	"sync"
)

// Names of the splitters that vocabularies of ranks use.
const (
	SplitGPT2   = "gpt2"
	SplitCL100k = "cl100k"
	SplitLlama3 = "llama3"
	SplitQwen   = "qwen"
	SplitO200k  = "o200k"
	tekken      = "tekken"
)

// NamedSplit returns the splitter of that name.
func NamedSplit(name string) SplitFunc {
	t := CharacterClasses()
	switch name {
	case SplitGPT2:
		return covering(t.gpt2)
	case SplitCL100k:
		return covering(func(s string, i int) int { return t.cl100k(s, i, 3, true) })
	case SplitLlama3:
		return covering(func(s string, i int) int { return t.cl100k(s, i, 3, false) })
	case SplitQwen:
		return covering(func(s string, i int) int { return t.cl100k(s, i, 1, false) })
	case SplitO200k:
		return covering(t.o200k)
	case tekken:
		return covering(func(s string, i int) int { return t.cased(s, i, 1, false) })
	}
	return nil
}

const (
	contractions      = `'s|'t|'re|'ve|'m|'ll|'d`
	foldedContraction = `(?i:` + contractions + `)`
	casedFirst        = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
	casedSecond       = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
	endSpaces         = `|\s*[\r\n]+|\s+(?!\S)|\s+`
	casedEnd          = `| ?[^\s\p{L}\p{N}]+[\r\n/]*` + endSpaces
	cl100kMiddle      = `|[^\r\n\p{L}\p{N}]?\p{L}+|`
	newerEnd          = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]+|\s+(?!\S)|\s`
	cl100kEnd         = `| ?[^\s\p{L}\p{N}]+[\r\n]*` + endSpaces
)

// patterns are the published patterns that a scanner knows, by their plain spelling.
var patterns = sync.OnceValue(func() map[string]SplitFunc {
	t := CharacterClasses()
	known := map[string]SplitFunc{}
	for pattern, find := range map[string]SplitFunc{
		contractions + `| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: NamedSplit(SplitGPT2),
		foldedContraction + cl100kMiddle + `\p{N}{1,3}` +
			cl100kEnd: NamedSplit(SplitLlama3),
		foldedContraction + cl100kMiddle + `\p{N}{1,3}` +
			newerEnd: NamedSplit(SplitCL100k),
		foldedContraction + cl100kMiddle + `\p{N}` +
			cl100kEnd: NamedSplit(SplitQwen),
		casedFirst + foldedContraction + `?|` + casedSecond + foldedContraction + `?|\p{N}{1,3}` +
			casedEnd: NamedSplit(SplitO200k),
		casedFirst + `|` + casedSecond + `|\p{N}` + casedEnd: NamedSplit(tekken),
		`\p{N}{1,3}`:   t.digitGroups(3),
		`\p{N}`:        t.digitGroups(1),
		"[一-龥぀-ゟ゠-ヿ]+": eastAsian,
		"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| " +
			"?[\\p{P}\\p{S}]+[\\r\\n]*" + endSpaces: t.deepSeekWords,
	} {
		known[plain(pattern)] = find
	}
	return known
})

// KnownSplit returns the scanner of a pattern, or nil if there is none for it. Spellings that match the same
// text count as the same pattern: line breaks written raw or escaped, possessive ?, * and +, other ways to
// write the contractions. A + behind {1,3} repeats it in the reference engine, which is another pattern.
func KnownSplit(pattern string) SplitFunc {
	return patterns()[plain(pattern)]
}

// plain returns one spelling of all that match the same text.
func plain(pattern string) string {
	return strings.NewReplacer(
		"\r", `\r`, "\n", `\n`, "?+", "?", "*+", "*", "++", "+",
		`\s*[\r\n]|`, `\s*[\r\n]+|`,
		`'(?i:[sdmt]|ll|ve|re)`, foldedContraction, `(?i:[sdmt]|ll|ve|re)`, `(?i:[sdmt]|ll|ve|re)`,
	).Replace(pattern)
}
