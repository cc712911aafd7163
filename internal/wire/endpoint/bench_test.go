package endpoint

import (
	"encoding/json"
	"strings"
	"testing"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/base/testkit"
	"aiperf/internal/workload/tokenizer"
)

// benchChunk is a chunk as vLLM sends it, 262 bytes long.
var benchChunk = func() []byte {
	return []byte(`{"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion.chunk","created":1700000000,"model":"meta-llama/Llama-3.1-8B-Instruct",` +
		`"choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null,"token_ids":null}],"n":12}`)
}()

func BenchmarkChatChunk(b *testing.B) {
	e, err := New("chat", Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(benchChunk)))
	b.ReportAllocs()
	d := e.NewDecoder()
	for i := 0; b.Loop(); i++ {
		if i%256 == 255 {
			d.Release()
			d = e.NewDecoder()
		}
		d.Event(nil, benchChunk, int64(i+1))
	}
}

// A chunk that is not like the one before: of a delta with a role, and of reasoning.
func BenchmarkScannedChunk(b *testing.B) {
	d := decoder(b, "chat").(*openAIDecoder)
	first := []byte(strings.Replace(string(benchChunk), `{"content"`, `{"role":"assistant","content"`, 1))
	thought := []byte(strings.Replace(string(benchChunk), `{"content":" hello"}`, `{"content":null,"reasoning_content":" hello"}`, 1))
	b.SetBytes(int64(len(first) + len(thought)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%256 == 255 {
			d.reply.reset()
		}
		d.Event(nil, first, int64(i+1))
		d.Event(nil, thought, int64(i+1))
	}
}

func BenchmarkUsageChunk(b *testing.B) {
	data := []byte(`{"id":"x","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64}}}`)
	d := decoder(b, "chat")
	b.ReportAllocs()
	for b.Loop() {
		d.Event(nil, data, 1)
	}
}

func BenchmarkEncode(b *testing.B) {
	e, err := New("chat", Options{Model: "m", Streaming: true, Extra: extra("temperature", "0.7")})
	if err != nil {
		b.Fatal(err)
	}
	c := turns(limited(text(strings.Repeat("lorem ipsum ", 16)), 32))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Encode(c); err != nil {
			b.Fatal(err)
		}
	}
}

// prose is English text of about n tokens.
func prose(n int) string {
	const sentence = "The quick brown fox jumps over the lazy dog, and \"nobody\" was surprised.\n" // 17 tokens
	return strings.Repeat(sentence, n/17)
}

// A chat request of 10,000 tokens, encoded.
func BenchmarkEncodeLong(b *testing.B) {
	e, err := New("chat", Options{Model: "m", Streaming: true, Extra: extra("temperature", "0.7")})
	if err != nil {
		b.Fatal(err)
	}
	c := turns(limited(text(prose(10_000)), 32))
	b.SetBytes(int64(len(c.Turns[0].Texts[0].Contents[0])))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Encode(c); err != nil {
			b.Fatal(err)
		}
	}
}

// A streamed reply of 1,000 tokens, decoded and counted.
func BenchmarkStreamOfAThousandTokens(b *testing.B) {
	e, err := New("chat", Options{})
	if err != nil {
		b.Fatal(err)
	}
	words := strings.SplitAfter(prose(2000), " ")[:1000]
	var events [][]byte
	for _, w := range words {
		word := string(jsonscan.AppendString(nil, w))
		events = append(events, []byte(strings.Replace(string(benchChunk), `" hello"`, word, 1)))
	}
	events = append(events, []byte(
		`{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":1000}}`),
		[]byte("[DONE]"))
	vocabulary := tokenizer.Builtin()
	tokens := 0
	b.ReportAllocs()
	for b.Loop() {
		d := e.NewDecoder()
		for i, data := range events {
			d.Event(nil, data, int64(i+1))
		}
		tokens = vocabulary.Count(string(d.Reply().Output))
		d.Release()
	}
	b.ReportMetric(float64(tokens), "tokens")
}

func BenchmarkInputText(b *testing.B) {
	e, err := New("chat", Options{Model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	body, err := e.Encode(turns(text(strings.Repeat("lorem ipsum ", 16))))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		inputText(body.Bytes)
	}
}

// The path of an event allocates nothing once the buffers have grown.
func TestChunksDoNotAllocate(t *testing.T) {
	if !json.Valid(benchChunk) {
		t.Fatal("the chunk is not JSON")
	}
	d := decoder(t, "chat").(*openAIDecoder)
	usage := []byte(`{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":64}}}`)
	once := func() {
		d.reply.reset()
		for range 8 {
			d.Event(nil, benchChunk, 1)
			d.Event(nil, usage, 2)
		}
	}
	once()
	if n := testing.AllocsPerRun(20, once); n != 0 && !testkit.Race {
		t.Errorf("%v allocations for 8 chunks", n)
	}
	if string(d.reply.Output) != strings.Repeat(" hello", 8) {
		t.Errorf("got %q", d.reply.Output)
	}
}
