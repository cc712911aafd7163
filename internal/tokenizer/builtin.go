package tokenizer

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed data/o200k_base.bin
var o200kBase string

// Builtin is the vocabulary that comes with the program: o200k_base. It needs no file and no
// network. Its tables are made when it is first used, not when it is asked for.
func Builtin() Tokenizer { return builtin{} }

// builtin stands for the shared tables of o200k_base.
type builtin struct{}

var o200k = sync.OnceValue(func() *byteLevel {
	return newByteLevel(newRanks(o200kBase), classes(), []special{
		{"<|endoftext|>", 199999},
		{"<|endofprompt|>", 200018},
	})
})

func (builtin) Name() string                        { return "builtin" }
func (builtin) Encode(dst []int, text string) []int { return o200k().Encode(dst, text) }
func (builtin) Count(text string) int               { return o200k().Count(text) }
func (builtin) Decode(ids []int) string             { return o200k().Decode(ids) }
func (builtin) VocabSize() int                      { return 200019 }
func (builtin) Specials() Specials                  { return Specials{BOS: -1, EOS: 199999} }

// special is a token that stands outside the merges and is found in the text before it is split.
type special struct {
	text string
	id   int
}

// byteLevel encodes by byte-pair merging of the bytes of each piece of the text.
type byteLevel struct {
	ranks    *ranks
	classes  *classTable
	specials []special
	mergers  sync.Pool
}

func newByteLevel(r *ranks, c *classTable, specials []special) *byteLevel {
	t := &byteLevel{ranks: r, classes: c, specials: specials}
	t.mergers.New = func() any { return &merger{ranks: r} }
	return t
}

func (t *byteLevel) Encode(dst []int, text string) []int {
	t.each(text, func(ranks []uint32) {
		for _, rank := range ranks {
			dst = append(dst, int(rank))
		}
	}, func(id int) { dst = append(dst, id) })
	return dst
}

func (t *byteLevel) Count(text string) int {
	n := 0
	t.each(text, func(ranks []uint32) { n += len(ranks) }, func(int) { n++ })
	return n
}

// each walks over the pieces of text and the special tokens between them.
func (t *byteLevel) each(text string, piece func([]uint32), special func(id int)) {
	text = lossy(text)
	m := t.mergers.Get().(*merger)
	defer t.mergers.Put(m)
	for len(text) > 0 {
		at, found := t.nextSpecial(text)
		for ordinary, i := text[:at], 0; i < len(ordinary); {
			end := t.classes.splitO200k(ordinary, i)
			piece(m.piece(ordinary[i:end]))
			i = end
		}
		if found == nil {
			return
		}
		special(found.id)
		text = text[at+len(found.text):]
	}
}

// nextSpecial is where the first special token of text starts, or the length of text and nil.
func (t *byteLevel) nextSpecial(text string) (int, *special) {
	for from := 0; ; {
		at := strings.Index(text[from:], "<|")
		if at < 0 {
			return len(text), nil
		}
		from += at
		for i := range t.specials {
			if strings.HasPrefix(text[from:], t.specials[i].text) {
				return from, &t.specials[i]
			}
		}
		from += 2
	}
}

func (t *byteLevel) Decode(ids []int) string {
	var b strings.Builder
	b.Grow(4 * len(ids))
	for _, id := range ids {
		if id >= 0 && id < t.ranks.len() {
			b.WriteString(t.ranks.token(uint32(id)))
			continue
		}
		b.WriteString(t.specialText(id))
	}
	return lossy(b.String())
}

func (t *byteLevel) specialText(id int) string {
	for _, s := range t.specials {
		if s.id == id {
			return s.text
		}
	}
	return string(utf8.RuneError)
}
