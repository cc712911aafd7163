package tokenizer

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

type vector struct {
	Text string `json:"text"`
	IDs  []int  `json:"ids"`
}

func readVectors(t *testing.T, path string) []vector {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []vector
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func checkVectors(t *testing.T, all []vector) {
	t.Helper()
	b := Builtin()
	wrong := 0
	for _, v := range all {
		got := b.Encode(nil, v.Text)
		if !slices.Equal(got, v.IDs) {
			if wrong++; wrong <= 10 {
				t.Errorf("Encode(%q)\n got %v\nwant %v", v.Text, got, v.IDs)
			}
		}
		if n := b.Count(v.Text); n != len(v.IDs) {
			t.Errorf("Count(%q) = %d, want %d", v.Text, n, len(v.IDs))
		}
		if text := b.Decode(v.IDs); text != v.Text {
			t.Errorf("Decode(%v) = %q, want %q", v.IDs, text, v.Text)
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d texts encoded wrongly", wrong, len(all))
	}
}

func TestBuiltinMatchesReference(t *testing.T) {
	all := readVectors(t, "testdata/o200k_base.jsonl")
	if len(all) < 300 {
		t.Fatalf("only %d vectors", len(all))
	}
	checkVectors(t, all)
}

// TestOracle checks any number of further vectors, made by interop/tokenizers/oracle.py.
func TestOracle(t *testing.T) {
	path := os.Getenv("AIPERF_TOKENIZER_VECTORS")
	if path == "" {
		t.Skip("AIPERF_TOKENIZER_VECTORS names no file")
	}
	all := readVectors(t, path)
	t.Logf("%d vectors", len(all))
	checkVectors(t, all)
}

func TestBuiltinFacts(t *testing.T) {
	b := Builtin()
	if b.Name() != "builtin" || b.VocabSize() != 200019 {
		t.Errorf("name %q, size %d", b.Name(), b.VocabSize())
	}
	if s := b.Specials(); s != (Specials{BOS: -1, EOS: 199999}) || s.Separator() != 199999 {
		t.Errorf("specials %+v", s)
	}
	if n := o200k().ranks.Len(); n != 199998 {
		t.Errorf("%d mergeable tokens", n)
	}
}

func TestEveryTokenHasItsRank(t *testing.T) {
	r := o200k().ranks
	for i := range uint32(r.Len()) {
		if got := r.rank(r.token(i)); got != i {
			t.Fatalf("rank of %q is %d, want %d", r.token(i), got, i)
		}
	}
	for _, s := range []string{"\xff\xfe\xfd", "zqxjkvbw", strings.Repeat("q", r.Longest()+1)} {
		if got := r.rank(s); got != noRank {
			t.Errorf("rank of %q is %d, want none", s, got)
		}
	}
}

func TestEncodeAppends(t *testing.T) {
	got := Builtin().Encode([]int{-7}, "hello world")
	if want := []int{-7, 24912, 2375}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDecodeOfUnknownIDsAndCutCharacters(t *testing.T) {
	b := Builtin()
	emoji := b.Encode(nil, "\U0001f9ff") // several tokens, none a whole character
	if len(emoji) < 2 {
		t.Fatal("the test needs a character of several tokens")
	}
	for _, c := range []struct {
		ids  []int
		want string
	}{
		{[]int{-1, 24912, 200019, 199998}, "\ufffdhello\ufffd\ufffd"},
		{emoji[:1], "\ufffd"},
		{emoji, "\U0001f9ff"},
		{[]int{199999, 200018}, "<|endoftext|><|endofprompt|>"},
	} {
		if got := b.Decode(c.ids); got != c.want {
			t.Errorf("Decode(%v) = %q, want %q", c.ids, got, c.want)
		}
	}
}

func TestInvalidUTF8CountsAsReplacement(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb":             "a\ufffdb",
		"\xe2\x82":           "\ufffd",
		"\xe2\x82\x41":       "\ufffdA",
		"\xf0\x9f\x98":       "\ufffd",
		"\xed\xa0\x80":       "\ufffd\ufffd\ufffd", // a surrogate
		"\xc0\x80":           "\ufffd\ufffd",
		"\xf4\x90\x80\x80":   "\ufffd\ufffd\ufffd\ufffd",
		"\xe0\xa0\xe0\xa0é":  "\ufffd\ufffdé",
		"fine \ufffd \u00e9": "fine \ufffd \u00e9",
	} {
		if got := Lossy(in); got != want {
			t.Errorf("Lossy(%q) = %q, want %q", in, got, want)
		}
		if got, want := Builtin().Encode(nil, in), Builtin().Encode(nil, want); !slices.Equal(got, want) {
			t.Errorf("Encode(%q) = %v, want %v", in, got, want)
		}
	}
}

// The two ways of merging must agree wherever both can be taken.
func TestHeapMergesLikeTheRowSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	vocabulary := o200k().ranks
	row, heap := &merger{ranks: vocabulary}, &queueMerger{}
	const alphabet = "aaabcdetTh  \xc3\xa9=-"
	for range 3000 {
		b := make([]byte, 1+r.IntN(maxLinear))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		row.out = row.out[:0]
		row.linear(string(b))
		if got := heap.merge(vocabulary, string(b), nil); !slices.Equal(got, row.out) {
			t.Fatalf("%q: heap %v, row %v", b, got, row.out)
		}
	}
}

// rowSearch is linear without its limit of length.
func rowSearch(r *ranks, s string) (out []uint32) {
	starts, pair := make([]int, 0, len(s)+1), make([]uint32, 0, len(s))
	for i := range len(s) + 1 {
		starts = append(starts, i)
	}
	set := func(i int) uint32 {
		if i+2 >= len(starts) {
			return noRank
		}
		return r.rank(s[starts[i]:starts[i+2]])
	}
	for i := range len(s) {
		pair = append(pair, set(i))
	}
	for {
		best := 0
		for i, rank := range pair {
			if rank < pair[best] {
				best = i
			}
		}
		if pair[best] == noRank {
			break
		}
		starts, pair = slices.Delete(starts, best+1, best+2), slices.Delete(pair, best+1, best+2)
		pair[best] = set(best)
		if best > 0 {
			pair[best-1] = set(best - 1)
		}
	}
	for i := range len(starts) - 1 {
		out = append(out, r.rank(s[starts[i]:starts[i+1]]))
	}
	return out
}

// A long piece has more pairs than a heap sorts quickly; those of one rank wait in rows.
func TestLongPiecesMergeLikeTheRowSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	vocabulary, heap := o200k().ranks, &queueMerger{}
	const n = 9001
	mixed := make([]byte, n)
	for i := range mixed {
		mixed[i] = "aaaaaaabc"[r.IntN(9)]
	}
	for _, s := range []string{strings.Repeat("a", n), strings.Repeat("abc", n/3), strings.Repeat(" ", n),
		strings.Repeat("\xf0\x9f\x98\x80", n/4), string(mixed)} {
		if got, want := heap.merge(vocabulary, s, nil), rowSearch(vocabulary, s); !slices.Equal(got, want) {
			t.Errorf("%q…: heap %d tokens, row %d", s[:9], len(got), len(want))
		}
	}
}

func TestLongRunsStayFast(t *testing.T) {
	// Quadratic merging would need minutes for these.
	for _, s := range []string{"a", "ab", "=", " ", "\u4e2d", "zqxj"} {
		text := strings.Repeat(s, 200_000/len(s))
		ids := Builtin().Encode(nil, text)
		if Builtin().Decode(ids) != text {
			t.Errorf("%q repeated does not survive", s)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	all := readVectors(t, "testdata/o200k_base.jsonl")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, v := range all {
				if !slices.Equal(Builtin().Encode(nil, v.Text), v.IDs) {
					t.Errorf("wrong ids for %q", v.Text)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"", "hello", "a \n \n b", "it'ſ", "\xff", "<|endoftext|>", "\u0301a", "12345",
		"\xe2\x82"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := Builtin()
		ids := b.Encode(nil, s)
		if n := b.Count(s); n != len(ids) {
			t.Errorf("Count %d, Encode %d", n, len(ids))
		}
		if got := b.Decode(ids); got != Lossy(s) || utf8.ValidString(s) && got != s {
			t.Errorf("%q came back as %q", s, got)
		}
		for _, id := range ids {
			if id < 0 || id >= b.VocabSize() {
				t.Errorf("id %d", id)
			}
		}
	})
}

var prose = strings.Repeat("Once more unto the breach, dear friends, once more; or close the wall up with our "+
	"English dead. "+
	"In peace there's nothing so becomes a man as modest stillness and humility:\n", 64)

func BenchmarkCountProse(b *testing.B) {
	t := Builtin()
	b.SetBytes(int64(len(prose)))
	for b.Loop() {
		t.Count(prose)
	}
}

func BenchmarkEncodeProse(b *testing.B) {
	t := Builtin()
	var ids []int
	b.SetBytes(int64(len(prose)))
	for b.Loop() {
		ids = t.Encode(ids[:0], prose)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		newRanks(o200kBase)
	}
}
