package tokenizer

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"
)

//go:embed data/o200k_base.bin
var o200kBase string

// The others are compressed: they are asked for less often than the built-in one.
var (
	//go:embed data/cl100k_base.bin.z
	cl100kBase []byte
	//go:embed data/r50k_base.bin.z
	r50kBase []byte
)

// Builtin returns the vocabulary that comes with the program: o200k_base. It needs no file and no
// network. Its tables are made when it is first used, not when it is asked for.
func Builtin() Tokenizer { return builtin{} }

// builtin are the shared tables of o200k_base.
type builtin struct{}

const endOfText = "<|endoftext|>"

var o200k = sync.OnceValue(func() *byteLevel {
	return newByteLevel(newRanks(o200kBase), NamedSplit(SplitO200k),
		[]Special{{endOfText, 199999}, {"<|endofprompt|>", 200018}})
})

func (builtin) Name() string                        { return "builtin" }
func (builtin) Encode(dst []int, text string) []int { return o200k().Encode(dst, text) }
func (builtin) Count(text string) int               { return o200k().Count(text) }
func (builtin) Decode(ids []int) string             { return o200k().Decode(ids) }
func (builtin) VocabSize() int                      { return 200019 }
func (builtin) Specials() Specials                  { return Specials{BOS: -1, EOS: 199999} }

// named is a vocabulary of the tiktoken family under its own name.
type named struct {
	name   string
	eos    int
	engine func() *byteLevel
}

// BuiltinNames returns the names that need no file and no network.
func BuiltinNames() []string {
	list := []string{"builtin"}
	for i := range families {
		list = append(list, families[i].name)
	}
	return list
}

// Named returns the vocabulary of one of the BuiltinNames.
func Named(name string) (Tokenizer, bool) {
	if name == "builtin" {
		return Builtin(), true
	}
	for i := range families {
		if families[i].name == name {
			return &families[i], true
		}
	}
	return nil, false
}

func (n *named) Name() string                        { return n.name }
func (n *named) Encode(dst []int, text string) []int { return n.engine().Encode(dst, text) }
func (n *named) Count(text string) int               { return n.engine().Count(text) }
func (n *named) Decode(ids []int) string             { return n.engine().Decode(ids) }
func (n *named) VocabSize() int                      { return n.engine().size }
func (n *named) Specials() Specials                  { return Specials{BOS: -1, EOS: n.eos} }

var families = [...]named{
	{"cl100k_base", 100257, sync.OnceValue(func() *byteLevel {
		return newByteLevel(newRanks(inflate(cl100kBase)), NamedSplit(SplitCL100k), []Special{
			{endOfText, 100257}, {"<|fim_prefix|>", 100258}, {"<|fim_middle|>", 100259}, {"<|fim_suffix|>", 100260},
			{"<|endofprompt|>", 100276},
		})
	})},
	{"o200k_base", 199999, o200k},
	{"o200k_harmony", 199999, sync.OnceValue(func() *byteLevel {
		return newByteLevel(o200k().ranks, NamedSplit(SplitO200k), harmonySpecials())
	})},
	{"p50k_base", 50256, sync.OnceValue(func() *byteLevel {
		return newByteLevel(p50k(), NamedSplit(SplitGPT2), []Special{{endOfText, 50256}})
	})},
	{"p50k_edit", 50256, sync.OnceValue(func() *byteLevel {
		return newByteLevel(p50k(), NamedSplit(SplitGPT2), []Special{
			{endOfText, 50256}, {"<|fim_prefix|>", 50281}, {"<|fim_middle|>", 50282}, {"<|fim_suffix|>", 50283},
		})
	})},
	{"r50k_base", 50256, sync.OnceValue(func() *byteLevel {
		return newByteLevel(newRanks(inflate(r50kBase)), NamedSplit(SplitGPT2), []Special{{endOfText, 50256}})
	})},
}

// p50k is r50k_base and, after the end of text, the runs of two to 25 spaces.
var p50k = sync.OnceValue(func() *ranks {
	tokens := append(newRanks(inflate(r50kBase)).all(), "") // 50256 is the end of text
	for n := 2; n <= 25; n++ {
		tokens = append(tokens, strings.Repeat(" ", n))
	}
	return &ranks{VocabOf(tokens)}
})

// harmonySpecials returns the special tokens of o200k_harmony; the numbers between the named ones are
// reserved ones.
func harmonySpecials() []Special {
	names := map[int]string{
		199998: "<|startoftext|>", 199999: endOfText, 200002: "<|return|>", 200003: "<|constrain|>",
		200005: "<|channel|>",
		200006: "<|start|>", 200007: "<|end|>", 200008: "<|message|>", 200012: "<|call|>",
	}
	list := []Special{{"<|endofprompt|>", 200018}}
	for id := 199998; id < 201088; id++ {
		text := names[id]
		if text == "" {
			text = fmt.Sprintf("<|reserved_%d|>", id)
		}
		list = append(list, Special{text, id})
	}
	return list
}

// inflate unpacks an embedded vocabulary. It cannot fail but for a broken build.
func inflate(packed []byte) string {
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic(err)
	}
	return string(data)
}
