package load_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/tokenizer"
	"aiperf/internal/workload/tokenizer/load"
)

// texts are what every tokenizer is asked.
var texts = []string{
	"", "low lowest", "Hello, wörld! 123\n中", " a  b\t", "<s> [W][L] [R] x <|endoftext|>", "e\u0301\u0316",
	strings.Repeat("ab ", 60), "\xff\xfe▁ <0x41>",
	strings.Repeat("lower", 30),
}

// kinds are files of every kind of tokenizer by a name for each.
func kinds(t testing.TB) map[string]map[string]string {
	t.Helper()
	data, err := os.ReadFile("../hf/testdata/components.json")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Models []struct{ File json.RawMessage }
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	list := map[string]map[string]string{}
	for i, m := range c.Models {
		list[fmt.Sprintf("tokenizer.json %d", i)] = map[string]string{tokenizerJSON: string(m.File)}
	}
	list["ignore merges"] = map[string]string{tokenizerJSON: `{"added_tokens":[{"id":1,"content":"<s>","special":true},{"id":9,"content":"AB","normalized":true}],
		"normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"},
		"model":{"type":"BPE","ignore_merges":true,"vocab":{"a":0,"<s>":1,"b":2,"Ġ":3,"Ġa":4,"low":6,"l":7,"o":8},"merges":["Ġ a"]}}`,
		configJSON: `{"bos_token":{"content":"<s>"},"eos_token":"AB","chat_template":"{{ bos_token }}{{ messages[0].content }}"}`}
	for kind := range uint64(4) {
		list[fmt.Sprintf("SentencePiece %d",
			kind+1)] = map[string]string{modelFile: string(sentencePiece(kind+1, kind%2 == 0))}
	}
	list["ranks"] = map[string]string{"r50k.tiktoken": rankLines(50256)}
	var tekken strings.Builder
	tekken.WriteString(`{"config":{"pattern":"\\p{N}{1,3}","default_vocab_size":260,"default_num_special_tokens":3},"special_tokens":[{"rank":1,"token_str":"<s>"}],"vocab":[`)
	for i := range 257 {
		token := []byte{byte(i)}
		if i == 256 {
			token = []byte("lo")
		}
		fmt.Fprintf(&tekken, `%s{"rank":%d,"token_bytes":"%s"}`, strings.Repeat(",", min(i, 1)), i,
			base64.StdEncoding.EncodeToString(token))
	}
	list["tekken"] = map[string]string{tekkenJSON: tekken.String() + "]}"}
	list["vocab.txt"] = map[string]string{vocabTXT: "[UNK]\n[CLS]\n[SEP]\nlow\n##est\na\n"}
	list["vocab.json"] = map[string]string{vocabJSON: `{"l":0,"o":1,"w":2,"lo":3,"Ġ":4}`,
		mergesTXT: "#version: 0.2\nl o\n"}
	return list
}

func rankLines(n int) string {
	var b strings.Builder
	for i := range n {
		token := []byte{byte(i)}
		if i >= 256 {
			token = fmt.Appendf(nil, "~%d~", i)
		}
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString(token), i)
	}
	return b.String()
}

// sentencePiece writes a model file of a few pieces.
func sentencePiece(modelType uint64, fallback bool) []byte {
	field := func(out []byte, number uint64, value []byte) []byte {
		out = binary.AppendUvarint(out, number<<3|2)
		out = binary.AppendUvarint(out, uint64(len(value)))
		return append(out, value...)
	}
	var out []byte
	piece := func(text string, score float32, kind byte) {
		p := append(field(nil, 1, []byte(text)), 2<<3|5)
		p = binary.LittleEndian.AppendUint32(p, math.Float32bits(score))
		out = field(out, 1, append(p, 3<<3, kind))
	}
	piece("<unk>", 0, 2)
	piece("<s>", 0, 3)
	for i, text := range []string{"▁", "a", "b", "l", "o", "w", "lo", "▁a", "▁lo", "low"} {
		piece(text, -float32(i), 1)
	}
	piece("▁low", -3, 5)
	if modelType != 2 { // user-defined pieces switch the word cache of BPE models off
		piece("er", 0, 4)
	}
	trainer := []byte{3 << 3, byte(modelType)}
	if fallback {
		for b := range 256 {
			piece(fmt.Sprintf("<0x%02X>", b), 0, 6)
		}
		trainer = append(binary.AppendUvarint(trainer, 35<<3), 1)
	}
	return field(out, 2, trainer)
}

// folder holds files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mustOpen(t testing.TB, path string) (*load.Bundle, tokenizer.Tokenizer) {
	t.Helper()
	tok, b, err := load.Load(t.Context(), load.Options{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	return b, tok
}

// repacked returns the tokenizer of a bundle out of its packed file.
func repacked(t testing.TB, b *load.Bundle) (*load.Bundle, tokenizer.Tokenizer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.tokenizer")
	if err := b.Pack(path); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, path)
}

func TestAPackedTokenizerIsTheSame(t *testing.T) {
	for name, files := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			b, tok := mustOpen(t, folder(t, files))
			pb, packed := repacked(t, b)
			again, twice := repacked(t, pb) // a packed file can be packed, too
			for _, p := range []tokenizer.Tokenizer{packed, twice} {
				if p.VocabSize() != tok.VocabSize() || p.Specials() != tok.Specials() {
					t.Errorf("size %d, %+v; want %d, %+v", p.VocabSize(), p.Specials(), tok.VocabSize(), tok.Specials())
				}
				for _, text := range texts {
					want := tok.Encode(nil, text)
					if got := p.Encode(nil, text); !slices.Equal(got, want) {
						t.Errorf("Encode(%q) is %v, want %v", text, got, want)
					}
					if got, want := p.Decode(want), tok.Decode(want); got != want {
						t.Errorf("the ids of %q decode to %q, want %q", text, got, want)
					}
				}
				all := make([]int, tok.VocabSize()+2)
				for i := range all {
					all[i] = i - 1
				}
				if p.Decode(all) != tok.Decode(all) {
					t.Error("all ids decode to something else")
				}
			}
			bos, eos := b.SpecialTokens()
			template, has := b.ChatTemplate()
			for _, p := range []*load.Bundle{pb, again} {
				gotBOS, gotEOS := p.SpecialTokens()
				gotTemplate, gotHas := p.ChatTemplate()
				if gotBOS != bos || gotEOS != eos || gotTemplate != template || gotHas != has {
					t.Errorf("%q %q %q %v, want %q %q %q %v", gotBOS, gotEOS, gotTemplate, gotHas, bos, eos, template,
						has)
				}
			}
		})
	}
}

func TestPacksOfEarlierReleasesAreRead(t *testing.T) {
	var old bytes.Buffer
	w := zip.NewWriter(&old)
	f, err := w.Create(tokenizerJSON)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte(tinyJSON))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(path, old.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	b, tok := mustOpen(t, path)
	if ids := tok.Encode(nil, "hello world"); !slices.Equal(ids, []int{2, 3}) {
		t.Errorf("ids %v", ids)
	}
	if _, tok = repacked(t, b); !slices.Equal(tok.Encode(nil, "world"), []int{3}) {
		t.Error("packed again it is another one")
	}
}

func packedBytes(t testing.TB, files map[string]string) []byte {
	t.Helper()
	b, _ := mustOpen(t, folder(t, files))
	path := filepath.Join(t.TempDir(), "x.tokenizer")
	if err := b.Pack(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDamagedPacksSayWhy(t *testing.T) {
	whole := packedBytes(t, map[string]string{tokenizerJSON: tinyJSON})
	for want, data := range map[string][]byte{
		"truncated":            whole[:len(whole)-5],
		"checksum":             append(slices.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1),
		"is not a packed":      whole[:9],
		"this release reads 1": append(slices.Clone(whole[:8]), append([]byte{9}, whole[9:]...)...),
		"unknown kind": func() []byte {
			w := &tokenizer.TableWriter{}
			w.Bytes("label",
				[]byte(`{"Kind":"odd"}`))
			return w.File()
		}(),
		`section "label"`: func() []byte {
			w := &tokenizer.TableWriter{}
			w.Bytes("label",
				[]byte(`{"Kind":`))
			return w.File()
		}(),
		`lacks the section`: (&tokenizer.TableWriter{}).File(),
	} {
		path := filepath.Join(folder(t, map[string]string{"x.tokenizer": string(data)}), "x.tokenizer")
		_, _, err := load.Load(t.Context(), load.Options{Name: path})
		var f *load.Failure
		if !errors.As(err, &f) || !strings.Contains(f.Err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// FuzzPacked changes packed tokenizers of every kind and gives them the right checksum: what can still be read must
// encode.
func FuzzPacked(f *testing.F) {
	var files [][]byte
	all := kinds(f)
	delete(all, "ranks") // large
	for _, name := range slices.Sorted(maps.Keys(all)) {
		files = append(files, packedBytes(f, all[name]))
	}
	for i := range files {
		f.Add(uint8(i), uint32(40), []byte{0xff, 0xff, 0xff, 0xff})
		f.Add(uint8(i), uint32(700), []byte{1, 0, 0, 0x80})
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, which uint8, at uint32, patch []byte) {
		data := slices.Clone(files[int(which)%len(files)])
		copy(data[24+int(at)%(len(data)-24):], patch)
		binary.LittleEndian.PutUint32(data[12:], crc32.Checksum(data[16:], crc32.MakeTable(crc32.Castagnoli)))
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		tok, b, err := load.Load(t.Context(), load.Options{Name: path})
		if err != nil {
			return
		}
		for _, text := range texts {
			ids := tok.Encode(nil, text)
			if n := tok.Count(text); n != len(ids) {
				t.Errorf("Count %d, Encode %d", n, len(ids))
			}
			tok.Decode(append(ids, -1, 1<<30))
		}
		b.ChatTemplate()
		b.SpecialTokens()
	})
}
