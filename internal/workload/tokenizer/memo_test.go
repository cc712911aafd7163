package tokenizer

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTrapGrowingHistory: the count of a history that grew is that of one encode of the whole text.
func TestTrapGrowingHistory(t *testing.T) {
	for _, name := range []string{"builtin", "cl100k_base", "r50k_base"} {
		tok, _ := Named(name)
		memo := NewMemo(tok)
		r := rand.New(rand.NewPCG(3, 4))
		parts := []string{"word", " ", "  ", "don't", "I'LL", "中文", "é", "\n", "x\n ", "123", "4 5", "<|endoftext|>",
			"<| a", "...", "日 a", "\u0301", "A", "bC", "\t", "\xff", "\u2028 z"}
		for range 6 {
			text := ""
			for range 30 {
				var turn strings.Builder
				for range r.IntN(400) {
					turn.WriteString(parts[r.IntN(len(parts))])
				}
				if text != "" {
					text += " "
				}
				text += turn.String()
				if got, want := memo.Count(text), tok.Count(text); got != want {
					t.Fatalf("%s: %d tokens of %d bytes, want %d", name, got, len(text), want)
				}
			}
		}
		if len(memo.known) == 0 {
			t.Error("nothing was remembered: the test tests nothing")
		}
	}
}

// uncut is a tokenizer that says nothing of where it may be cut.
type uncut struct{ Tokenizer }

func TestMemoOfATokenizerThatCannotBeCut(t *testing.T) {
	memo := NewMemo(uncut{Builtin()})
	if got, want := memo.Count(prose), Builtin().Count(prose); got != want || len(memo.known) > 0 {
		t.Errorf("%d, want %d; %d stretches", got, want, len(memo.known))
	}
}

func TestMemoIsBounded(t *testing.T) {
	memo := NewMemo(Builtin())
	for i := range uint64(memoEntries) {
		memo.known[memoKey{a: i}] = 1
	}
	memo.Count(prose)
	if len(memo.known) > memoEntries {
		t.Errorf("%d stretches", len(memo.known))
	}
}

func BenchmarkMemoOfGrowingHistory(b *testing.B) {
	memo := NewMemo(Builtin())
	text := strings.Repeat(prose, 8)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		memo.Count(text)
	}
}
