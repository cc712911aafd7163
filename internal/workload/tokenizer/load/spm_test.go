package load_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/tokenizer/load"
)

// The types of pieces, and those of models, as sentencepiece_model.proto numbers them.
const (
	normal      = 1
	unknown     = 2
	control     = 3
	userDefined = 4
	unused      = 5
	byteKind    = 6

	unigramModel = 1
	bpeModel     = 2
	wordModel    = 3
	charModel    = 4
)

// model writes a model file by hand.
type model struct{ out []byte }

func (m *model) field(number int, value []byte) {
	m.out = binary.AppendUvarint(m.out, uint64(number)<<3|2)
	m.out = binary.AppendUvarint(m.out, uint64(len(value)))
	m.out = append(m.out, value...)
}

func (m *model) number(number int, n uint64) {
	m.out = binary.AppendUvarint(m.out, uint64(number)<<3)
	m.out = binary.AppendUvarint(m.out, n)
}

func (m *model) piece(text string, score float32, kind uint64) {
	var p model
	p.field(1, []byte(text))
	p.out = append(p.out, 2<<3|5)
	p.out = binary.LittleEndian.AppendUint32(p.out, math.Float32bits(score))
	p.number(3, kind)
	m.field(1, p.out)
}

// smallPieces returns a model of a few pieces: unknown, BOS, EOS, then the words with falling scores.
func small(modelType uint64, fallback bool, words ...string) []byte {
	var m, trainer, normalizer model
	m.piece("<unk>", 0, unknown)
	m.piece("<s>", 0, control)
	m.piece("</s>", 0, control)
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "!"):
			m.piece(w[1:], 0, userDefined)
		case strings.HasPrefix(w, "-"):
			m.piece(w[1:], -float32(i+1), unused)
		default:
			m.piece(w, -float32(i+1), normal)
		}
	}
	if fallback {
		for b := range 256 {
			m.piece(fmt.Sprintf("<0x%02X>", b), 0, byteKind)
		}
		trainer.number(35, 1)
	}
	trainer.number(3, modelType)
	normalizer.field(1, []byte("identity"))
	m.field(2, trainer.out)
	m.field(3, normalizer.out)
	return m.out
}

func smallSentencePiece(t testing.TB, data []byte) *load.SentencePiece {
	t.Helper()
	tok, err := load.NewSentencePiece("small", data, -1)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// The ids were worked out by hand from the rules of the library, which interop/tokenizers checks at length.
func TestSentencePieceModels(t *testing.T) {
	letters := []string{"▁", "a", "b", "c"} // 3 4 5 6
	for _, c := range []struct {
		name, text string
		data       []byte
		want       []int
		decoded    string
	}{
		{"pairs of the highest score are merged first", "abc",
			small(bpeModel, false, append(letters, "bc", "▁a", "ab")...), []int{8, 7}, "abc"},
		{"unknown characters in a row are one", "a中国b", small(bpeModel, false, append(letters, "▁a")...),
			[]int{7, 0, 5}, "a ⁇ b"},
		{"bytes for unknown characters", "aé", small(bpeModel, true, append(letters, "▁a")...),
			[]int{7, 8 + 0xc3, 8 + 0xa9}, "aé"},
		{"an unused piece is taken apart again", "ab", small(bpeModel, false, append(letters, "▁a", "-▁ab")...),
			[]int{7, 5}, "ab"},
		{"user-defined pieces never merge", "abc", small(bpeModel, false, append(letters, "bc", "!ab")...),
			[]int{3, 8, 6}, "abc"},
		{"blanks are joined and trimmed", "  a   b ", small(bpeModel, false, append(letters, "▁a", "▁b")...),
			[]int{7, 8}, "a b"},
		// Scores from -1 to -6: ▁ a bc is -9, ▁a bc -11, ▁ a b c -10.
		{"the best sum of scores wins", "abc", small(unigramModel, false, "▁", "a", "b", "c", "▁a", "bc"),
			[]int{3, 4, 8}, "abc"},
		{"control pieces are not looked for in text", "</s>", small(unigramModel, false, "▁", "s"), []int{3, 0, 4, 0},
			" ⁇ s ⁇ "},
		{"characters", "ab", small(charModel, false, letters...), []int{3, 4, 5}, "ab"},
		{"words", "a b a", small(wordModel, false, "▁a", "▁b"), []int{3, 4, 3}, "a b a"},
		{"nothing", "", small(bpeModel, false, letters...), nil, ""},
		{"blanks alone", "   ", small(unigramModel, false, letters...), nil, ""},
	} {
		tok := smallSentencePiece(t, c.data)
		got := tok.Encode(nil, c.text)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		if n := tok.Count(c.text); n != len(c.want) {
			t.Errorf("%s: counts %d", c.name, n)
		}
		if text := tok.Decode(c.want); text != c.decoded && c.name != "control pieces are not looked for in text" {
			t.Errorf("%s: decodes to %q, want %q", c.name, text, c.decoded)
		}
	}
}

func TestSentencePieceSpecials(t *testing.T) {
	tok := smallSentencePiece(t, small(bpeModel, false, "▁", "a"))
	if s := tok.Specials(); s.BOS != 1 || s.EOS != 2 || s.Added != 1 {
		t.Errorf("%+v", s)
	}
	if text := tok.Decode([]int{1, 4, 2, 99, -1}); text != "<s>a</s>\ufffd\ufffd" {
		t.Errorf("%q", text)
	}
}

func TestSentencePieceFilesThatCannotBeUsedSayWhy(t *testing.T) {
	for want, data := range map[string][]byte{
		"truncated":        {0x0a, 0x7f, 0x01},
		"no pieces":        {},
		"wire type":        {0x0f},
		"type 9":           small(9, false, "a"),
		"no unknown piece": func() []byte { var m model; m.piece("a", 0, normal); return m.out }(),
		"lacks pieces": func() []byte {
			var m, tr model
			m.piece("u", 0, unknown)
			tr.number(35, 1)
			m.field(2, tr.out)
			return m.out
		}(),
		"precompiled_charsmap": func() []byte {
			var m, n model
			m.piece("u", 0, unknown)
			n.field(2, []byte{9, 0, 0, 0})
			m.field(3, n.out)
			return m.out
		}(),
	} {
		if _, err := load.NewSentencePiece("x", data, -1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// FuzzSentencePiece reads any bytes as a model; what can be read must encode.
func FuzzSentencePiece(f *testing.F) {
	for kind := range uint64(4) {
		f.Add(small(kind+1, kind%2 == 0, "▁", "a", "!ab", "-bc", "▁a"), "abc a\u00e9 ab")
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := load.NewSentencePiece("x", data, -1)
		if err != nil {
			return
		}
		ids := tok.Encode(nil, text)
		if n := tok.Count(text); n != len(ids) {
			t.Errorf("Count %d, Encode %d", n, len(ids))
		}
		tok.Decode(append(ids, -1, 1<<30))
	})
}
