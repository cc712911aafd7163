package endpoint

import (
	"encoding/json"
	"strings"
	"testing"
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
		InputText(body.Bytes)
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
	if n := testing.AllocsPerRun(20, once); n != 0 {
		t.Errorf("%v allocations for 8 chunks", n)
	}
	if string(d.reply.Output) != strings.Repeat(" hello", 8) {
		t.Errorf("got %q", d.reply.Output)
	}
}
