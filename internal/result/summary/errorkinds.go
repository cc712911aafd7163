package summary

import (
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
)

// ErrorKind are errors that say the same: the first of them, and how many there are. Files list errors by their exact
// texts; people read kinds.
type ErrorKind struct {
	ErrorCount
	// Keys are the identities of the different texts.
	Keys []record.Key
}

// Texts returns in how many words the kind is told, as a remark behind its message; "" for one.
func (k *ErrorKind) Texts() string {
	if len(k.Keys) < 2 {
		return ""
	}
	return "(" + strconv.Itoa(len(k.Keys)) + " texts that differ in numbers, ids or form)"
}

// eventErrors is the type of errors that an event of a stream reports; they have no code of the server.
const eventErrors = "SSEResponseError"

// ErrorKinds groups errors whose messages differ only in numbers, such as ports and positions, and in ids. A body in
// JSON counts by the message in it: the same refusal may come as the reply itself, or as an event of a stream. The order
// is that of the first error of each kind.
func ErrorKinds(list []ErrorCount) []ErrorKind {
	type kind struct{ code, text string }
	of := make([]kind, len(list))
	byText := map[string]kind{}
	for i := range list {
		e := &list[i].Error
		of[i] = kind{e.Type, pattern(e.Message)}
		if e.HasCode && of[i].text != "" && e.Type != eventErrors {
			of[i].code = strconv.Itoa(e.Code)
			byText[of[i].text] = of[i]
		}
	}
	var out []ErrorKind
	at := map[kind]int{}
	for i := range list {
		e := &list[i]
		if same, known := byText[of[i].text]; known && e.Error.Type == eventErrors {
			of[i] = same
		}
		k, known := at[of[i]]
		if !known {
			k = len(out)
			at[of[i]] = k
			out = append(out, ErrorKind{ErrorCount: ErrorCount{Error: e.Error}})
		}
		out[k].Count += e.Count
		out[k].Keys = append(out[k].Keys, e.Error.Key())
	}
	return out
}

// ErrorKinds are those of the run.
func (r *Result) ErrorKinds() []ErrorKind { return ErrorKinds(r.Errors) }

// longestPattern bounds what is compared of a message, in bytes.
const longestPattern = 2048

// shortestID is the length from which on letters and digits together are an id, not a name such as llama3 or utf8.
const shortestID = 12

// pattern returns the message of an error with a # for each number and each id.
func pattern(message string) string {
	text := strings.TrimPrefix(innerMessage(message), "Error occurred in SSE response: ")
	text = text[:min(len(text), longestPattern)]
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := uuid(text)
		if n == 0 {
			n = span(text, alphanumeric)
		}
		switch word := text[:n]; {
		case n == 0:
			n = 1
			out = append(out, text[0])
		case len(word) >= shortestID && strings.ContainsFunc(word, isDigit), strings.Contains(word, "-"):
			out = append(out, '#')
		default:
			out = appendNumbers(out, word)
		}
		text = text[n:]
	}
	all := string(out)
	for strings.Contains(all, "#.#") { // decimals and addresses
		all = strings.ReplaceAll(all, "#.#", "#")
	}
	return all
}

// appendNumbers appends a word with a # for each run of digits.
func appendNumbers(out []byte, word string) []byte {
	for len(word) > 0 {
		if n := span(word, isDigit); n > 0 {
			out, word = append(out, '#'), word[n:]
			continue
		}
		out, word = append(out, word[0]), word[1:]
	}
	return out
}

// uuid returns the length of the UUID with which a text begins, 0 if it does not.
func uuid(text string) int {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(text) < len(form) {
		return 0
	}
	for i := range len(form) {
		if hyphen := form[i] == '-'; hyphen != (text[i] == '-') || !hyphen && !isHex(rune(text[i])) {
			return 0
		}
	}
	return len(form)
}

// span returns how many bytes at the beginning of a text are of a kind.
func span(text string, is func(rune) bool) int {
	n := 0
	for n < len(text) && is(rune(text[n])) {
		n++
	}
	return n
}

func isDigit(c rune) bool { return '0' <= c && c <= '9' }
func isHex(c rune) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func alphanumeric(c rune) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }

// innerMessage returns the message that a body in JSON has; the text itself where it is none.
func innerMessage(text string) string {
	body := []byte(strings.TrimSpace(text))
	if len(body) == 0 || body[0] != '{' {
		return text
	}
	for _, path := range [][]string{{"error", "message"}, {"error"}, {"message"}, {"detail"}} {
		value := body
		for _, name := range path {
			if value = jsonscan.Find(value, name); value == nil {
				break
			}
		}
		if len(value) > 0 && value[0] == '"' {
			return jsonscan.Text(value)
		}
	}
	return text
}
