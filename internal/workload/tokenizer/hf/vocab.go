package hf

import (
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/tokenizer"
)

// maxID bounds the ids of a file; tables are made as long as the largest id.
const maxID = 1 << 21

// tokens takes an object of tokens and their ids.
func (r *jsonReader) tokens() (*tokenizer.Vocab, error) {
	if err := r.take('{'); err != nil {
		return nil, fmt.Errorf("model.vocab: %w", err)
	}
	left := len(r.b) - r.at
	b := tokenizer.NewVocabBuilder(left/40, left/6)
	for n := 0; ; n++ {
		more, err := r.more(n, '}')
		if err == nil && !more {
			return b.Vocab(), nil
		}
		var token string
		if err == nil {
			token, err = r.text()
		}
		if err == nil {
			err = r.take(':')
		}
		if err != nil {
			return nil, fmt.Errorf("model.vocab: %w", err)
		}
		id, end := jsonscan.Int(r.b, jsonscan.Space(r.b, r.at))
		if end >= 0 {
			r.at = end
		} else { // 5.0 is one, too
			f, err := r.number()
			if id = int64(max(-1, min(f, maxID))); err != nil || f != float64(id) {
				id = -1
			}
		}
		if r.peek() == 0 {
			return nil, errors.New("model.vocab: the text ends before the vocabulary does")
		}
		if id < 0 || id >= maxID {
			return nil, fmt.Errorf("model.vocab: the id of %q is not a number below %d", token, maxID)
		}
		b.Put(token, int32(id))
	}
}

// pieces takes an array of tokens and their scores: [["a", -1.5], …].
func (r *jsonReader) pieces() (*tokenizer.Vocab, []float64, error) {
	if err := r.take('['); err != nil {
		return nil, nil, fmt.Errorf("model.vocab: %w", err)
	}
	left := len(r.b) - r.at
	b := tokenizer.NewVocabBuilder(left/40, left/4)
	var scores []float64
	for n := 0; ; n++ {
		more, err := r.more(n, ']')
		if err == nil && !more {
			return b.Vocab(), scores, nil
		}
		var token string
		var score float64
		if err == nil {
			token, score, err = r.scored()
		}
		if err == nil && n >= maxID {
			err = fmt.Errorf("more than %d tokens", maxID)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("model.vocab, entry %d: %w", n, err)
		}
		b.Put(token, int32(n))
		scores = append(scores, score)
	}
}

// scored takes a token and its score: ["a", -1.5].
func (r *jsonReader) scored() (string, float64, error) {
	if err := r.take('['); err != nil {
		return "", 0, err
	}
	token, err := r.text()
	if err != nil {
		return "", 0, err
	}
	if err := r.take(','); err != nil {
		return "", 0, err
	}
	score, err := r.number()
	if err != nil {
		return "", 0, err
	}
	if err := r.take(']'); err != nil {
		return "", 0, errors.New("expected a token and its score")
	}
	return token, score, nil
}

// readMerges calls merge with the two parts of each entry: "a b" or ["a","b"].
func readMerges(raw []byte, merge func(left, right string) error) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	r := &jsonReader{b: raw}
	if err := r.take('['); err != nil {
		return fmt.Errorf("model.merges: %w", err)
	}
	for n := 0; ; n++ {
		more, err := r.more(n, ']')
		if err == nil && !more {
			return r.end()
		}
		var left, right string
		if err == nil {
			left, right, err = r.merge()
		}
		if err == nil {
			err = merge(left, right)
		}
		if err != nil {
			return fmt.Errorf("model.merges, entry %d: %w", n, err)
		}
	}
}

// merge reads a merge: "left right" in one string, or a list of two, which newer files have as tokens may hold spaces.
func (r *jsonReader) merge() (left, right string, err error) {
	if r.peek() != '[' {
		both, err := r.text()
		if err != nil {
			return "", "", err
		}
		at := strings.IndexByte(both, ' ')
		if at < 0 || strings.IndexByte(both[at+1:], ' ') >= 0 {
			return "", "", fmt.Errorf("%q is not two tokens", both)
		}
		return both[:at], both[at+1:], nil
	}
	r.at++
	if left, err = r.text(); err == nil {
		err = r.take(',')
	}
	if err == nil {
		right, err = r.text()
	}
	if err == nil && r.take(']') != nil {
		err = errors.New("expected two strings")
	}
	return left, right, err
}
