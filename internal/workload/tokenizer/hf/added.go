package hf

import (
	"strings"
	"unicode/utf8"

	"aiperf/internal/workload/tokenizer"
)

// addedToken is an entry of "added_tokens": text that becomes one id before the model is asked.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// added finds added tokens, the longest of those that start first.
type added struct {
	tree   *tokenizer.Trie
	tokens []addedToken
}

func newAdded() *added { return &added{tree: tokenizer.NewTrie()} }

// add enters content as the text of the token.
func (a *added) add(content string, token addedToken) {
	if content == "" {
		return
	}
	a.tree.Put(content, int32(len(a.tokens)))
	a.tokens = append(a.tokens, token)
}

// cut walks over text: parts between tokens have the id -1, start is where a part starts.
func (a *added) cut(text string, part func(text string, start, id int)) {
	if len(a.tokens) == 0 {
		part(text, 0, -1)
		return
	}
	done := 0 // everything before is handed out
	for at := 0; at < len(text); {
		if !a.tree.Starts(text[at]) {
			at++
			continue
		}
		token, end := a.match(text, at)
		if token == nil {
			at++
			continue
		}
		start, stop := at, end
		at = end
		if token.SingleWord && (endsWord(text[:start]) || startsWord(text[end:])) {
			continue
		}
		if token.LStrip {
			start = max(len(strings.TrimRightFunc(text[:start], isSpace)), done)
		}
		if token.RStrip {
			stop = len(text) - len(strings.TrimLeftFunc(text[stop:], isSpace))
		}
		if done < start {
			part(text[done:start], done, -1)
		}
		part(text[start:stop], start, token.ID)
		done = stop
	}
	if done < len(text) {
		part(text[done:], done, -1)
	}
}

// match returns the longest token that starts at text[at], and its end.
func (a *added) match(text string, at int) (*addedToken, int) {
	n, v := a.tree.Longest(text[at:])
	if v < 0 {
		return nil, at
	}
	return &a.tokens[v], at + n
}

func endsWord(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return size > 0 && wordChars().has(r)
}

func startsWord(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size > 0 && wordChars().has(r)
}
