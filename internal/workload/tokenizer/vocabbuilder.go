package tokenizer

import "strings"

// VocabOf makes the table of tokens in the order of their ids; an empty one leaves its id out.
func VocabOf(tokens []string) *Vocab {
	return VocabFromLengths(strings.Join(tokens, ""), len(tokens), func(i int) int { return len(tokens[i]) })
}

// VocabFromLengths makes the table of n tokens whose bytes follow each other. Of equal tokens the first is found.
func VocabFromLengths(blob string, n int, length func(i int) int) *Vocab {
	v := &Vocab{blob: blob, ends: make([]uint32, n+1), empty: none}
	end := 0
	for i := range n {
		end += length(i)
		v.ends[i+1] = uint32(end)
	}
	v.fill()
	return v
}

// VocabBuilder gathers tokens in any order of their ids. Of equal tokens the last counts.
type VocabBuilder struct {
	blob []byte
	ends []uint32
	ids  []int32
	out  bool // the ids do not rise
}

// NewVocabBuilder expects about n tokens of size bytes together.
func NewVocabBuilder(n, size int) *VocabBuilder {
	return &VocabBuilder{blob: make([]byte, 0, size), ends: make([]uint32, 1, n+1), ids: make([]int32, 0, n)}
}

// Put adds a token. An id is not negative.
func (b *VocabBuilder) Put(token string, id int32) {
	for !b.out && int(id) > len(b.ids) { // ids without a token
		b.ends, b.ids = append(b.ends, uint32(len(b.blob))), append(b.ids, none)
	}
	b.out = b.out || int(id) != len(b.ids) || token == ""
	b.blob = append(b.blob, token...)
	b.ends, b.ids = append(b.ends, uint32(len(b.blob))), append(b.ids, id)
}

// Vocab returns the table of what was put.
func (b *VocabBuilder) Vocab() *Vocab {
	if !b.out {
		v := &Vocab{blob: string(b.blob), ends: b.ends, empty: none}
		if !v.fill() {
			return v
		}
	}
	last := map[string]int{} // the entry that counts, of each token
	size := int32(0)
	for e, id := range b.ids {
		if id == none {
			continue
		}
		last[b.entry(e)] = e
		size = max(size, id+1)
	}
	tokens, entries := make([]string, size), make([]int, size)
	v := &Vocab{empty: none}
	for token, e := range last {
		id := b.ids[e]
		if token == "" {
			v.empty = id
			continue
		}
		// An id shows the last of its tokens; the others are only found.
		if tokens[id] != "" && entries[id] > e {
			v.also(token, id)
			continue
		}
		if tokens[id] != "" {
			v.also(tokens[id], id)
		}
		tokens[id], entries[id] = token, e
	}
	made := VocabOf(tokens)
	made.empty, made.more = v.empty, v.more
	if made.empty != none && tokens[made.empty] != "" {
		made.also("", made.empty)
		made.empty = none
	}
	for token := range made.more {
		made.longest = max(made.longest, len(token))
	}
	return made
}

func (b *VocabBuilder) entry(e int) string { return string(b.blob[b.ends[e]:b.ends[e+1]]) }

func (v *Vocab) also(token string, id int32) {
	if v.more == nil {
		v.more = map[string]int32{}
	}
	v.more[token] = id
}
