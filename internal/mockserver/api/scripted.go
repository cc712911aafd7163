package api

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"aiperf/internal/workload/tokenizer"
)

// Scripted is a reply that is given to a prompt instead of a generated one.
type Scripted struct {
	// Prompt is the whole prompt; Contains is a text of it, where Prompt is nil.
	Prompt   *string `json:"prompt"`
	Contains string  `json:"contains"`
	// Reply and Reasoning are what is answered.
	Reply     *string `json:"reply"`
	Reasoning string  `json:"reasoning"`
	// Above is how many requests must be in flight at least, less one, for the reply to be given.
	Above int64 `json:"above"`
}

// maxScriptLine bounds a line of a file of replies.
const maxScriptLine = 16 << 20

// ReadScripted reads a file with a [Scripted] as a JSON object on each line. Errors name the file and the line.
func ReadScripted(path string) (list []Scripted, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxScriptLine)
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		one, err := readScripted(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		list = append(list, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, number+1, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: the file has no replies", path)
	}
	return list, nil
}

func readScripted(line []byte) (one Scripted, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&one); err != nil {
		return one, fmt.Errorf("want an object with prompt or contains, reply, reasoning and above: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return one, errors.New("want one object on a line")
	}
	switch {
	case one.Prompt == nil && one.Contains == "":
		return one, errors.New(`want "prompt" or "contains" with a text`)
	case one.Prompt != nil && one.Contains != "":
		return one, errors.New(`want "prompt" or "contains", not both`)
	case one.Reply == nil && one.Reasoning == "":
		return one, errors.New(`want "reply" or "reasoning"`)
	case one.Above < 0:
		return one, errors.New(`want "above" of at least 0`)
	}
	return one, nil
}

// script is a scripted reply, cut into the texts of its tokens, which are escaped for JSON.
type script struct{ content, reasoning []string }

// scripts are the replies to one prompt, for ever more load from the last level to the first.
type scripts struct {
	contains string
	levels   []*level
}

// level has the replies that are given, in turn, while more than so many requests are in flight.
type level struct {
	above   int64
	replies []script
	taken   atomic.Uint64
}

// next returns the next reply with so many requests in flight; nil for none.
func (s *scripts) next(busy int64) *script {
	for _, l := range s.levels {
		if busy > l.above {
			return &l.replies[(l.taken.Add(1)-1)%uint64(len(l.replies))]
		}
	}
	return nil
}

// level returns the level with the replies above a number of requests.
func (s *scripts) level(above int64) *level {
	i, found := slices.BinarySearchFunc(s.levels, above, func(l *level, above int64) int { return cmp.Compare(above, l.above) })
	if !found {
		s.levels = slices.Insert(s.levels, i, &level{above: above})
	}
	return s.levels[i]
}

// scriptBook finds the scripts of a prompt.
type scriptBook struct {
	exact    map[string]*scripts
	contains []*scripts
}

// newScriptBook cuts replies into tokens; nil where there is none.
func newScriptBook(list []Scripted, v *vocabulary) *scriptBook {
	if len(list) == 0 {
		return nil
	}
	book := &scriptBook{exact: map[string]*scripts{}}
	parts := map[string]*scripts{}
	for _, one := range list {
		known, key := parts, one.Contains
		if one.Prompt != nil {
			known, key = book.exact, *one.Prompt
		}
		s := known[key]
		if s == nil {
			s = &scripts{contains: one.Contains}
			known[key] = s
			if one.Prompt == nil {
				book.contains = append(book.contains, s)
			}
		}
		var reply string
		if one.Reply != nil {
			reply = *one.Reply
		}
		l := s.level(one.Above)
		l.replies = append(l.replies, script{content: escapeAll(v.split(reply)), reasoning: escapeAll(v.split(one.Reasoning))})
	}
	return book
}

// find returns the next reply to a prompt with so many requests in flight: that of the whole prompt, else that of the
// first text that it contains; nil for none.
func (b *scriptBook) find(prompt []byte, busy int64) *script {
	if s := b.exact[string(prompt)]; s != nil {
		return s.next(busy)
	}
	for _, s := range b.contains {
		if bytes.Contains(prompt, []byte(s.contains)) {
			return s.next(busy)
		}
	}
	return nil
}

func escapeAll(pieces []string) []string {
	for i, p := range pieces {
		quoted := AppendString(nil, p)
		pieces[i] = string(quoted[1 : len(quoted)-1])
	}
	return pieces
}

// plan is that of a scripted reply, cut at the limit of the request.
func (s *script) plan(promptTokens, limit int, draw uint64) Plan {
	p := Plan{PromptTokens: promptTokens, Reasoning: len(s.reasoning), Content: len(s.content), Finish: "stop", draw: draw}
	if limit > 0 && p.Tokens() > limit {
		p.Finish = "length"
		p.Reasoning = min(p.Reasoning, limit)
		p.Content = limit - p.Reasoning
	}
	return p
}

// pieces returns the texts of the tokens of a text. A character of several tokens is in the last of them.
func pieces(tok tokenizer.Tokenizer, text string) (list []string) {
	ids := tok.Encode(nil, text)
	from := 0
	for i := range ids {
		piece := tok.Decode(ids[from : i+1])
		if i < len(ids)-1 && !strings.HasPrefix(text, piece) {
			list = append(list, "")
			continue
		}
		from, text = i+1, strings.TrimPrefix(text, piece)
		list = append(list, piece)
	}
	return list
}

// asks is what scripted replies are looked up by: the last message of the user, else the whole prompt.
func (r *Request) asks() []byte {
	if r.userEnd > r.userAt {
		return r.text[r.userAt:r.userEnd]
	}
	return bytes.TrimPrefix(r.text[min(r.userAt, len(r.text)):], []byte(" "))
}

// user notes where the texts of the last message of the user stand.
func (r *Request) user(role []byte, from int) {
	if string(role) != `"user"` {
		return
	}
	r.userAt, r.userEnd = from, len(r.text)
	if from > 0 && from < len(r.text) {
		r.userAt++ // the blank between two texts
	}
}

func appendPieces(b []byte, pieces []string) []byte { return append(b, strings.Join(pieces, "")...) }
