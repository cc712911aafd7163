package mockserver

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// value follows keys and indices through a JSON document; nil where one is missing.
func value(t *testing.T, doc string, path ...any) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatalf("%v in %s", err, doc)
	}
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

const ask = "Say something about the weather in five words."

var asked = float64(o200k.Count(ask))

// Each API that generates says how much, whole and in pieces, and says the same text.
func TestGeneratingAPIsCountExactly(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for _, c := range []struct {
		path, streamPath, body string
		text                   []any                                   // of a whole reply
		piece                  func(t *testing.T, event string) string // of an event
		prompt, completion     []any
	}{
		{"/v1/responses", "/v1/responses", `{"model":"m","input":%q,"max_output_tokens":7,"ignore_eos":true%s}`,
			[]any{"output", 0, "content", 0, "text"},
			func(t *testing.T, e string) string { return pieceOf(t, e, "response.output_text.delta", "delta") },
			[]any{"usage", "input_tokens"}, []any{"usage", "output_tokens"}},
		{"/v1/messages", "/v1/messages",
			`{"model":"m","messages":[{"role":"user","content":%q}],"max_tokens":7,"ignore_eos":true%s}`,
			[]any{"content", 0, "text"},
			func(t *testing.T, e string) string { return pieceOf(t, e, "content_block_delta", "delta", "text") },
			[]any{"usage", "input_tokens"}, []any{"usage", "output_tokens"}},
		{"/generate", "/generate_stream", `{"inputs":%q,"parameters":{"max_new_tokens":7,"ignore_eos":true}%s}`,
			[]any{"generated_text"},
			func(t *testing.T, e string) string { text, _ := value(t, e, "token", "text").(string); return text }, nil,
			nil},
		{"/rag/api/prompt", "/rag/api/prompt", `{"query":[%q],"max_tokens":7,"ignore_eos":true%s}`, []any{"content"},
			func(t *testing.T, e string) string { text, _ := value(t, e, "content").(string); return text }, nil, nil},
		{"/v1/custom-multimodal", "/v1/custom-multimodal", `{"prompt":%q,"max_tokens":7,"ignore_eos":true%s}`,
			[]any{"text"},
			func(t *testing.T, e string) string { text, _ := value(t, e, "text").(string); return text }, nil, nil},
	} {
		a := s.post(c.path, fmt.Sprintf(c.body, ask, ""))
		if a.status != 200 {
			t.Fatalf("%s: %d %s", c.path, a.status, a.body)
		}
		whole, _ := value(t, a.body, c.text...).(string)
		if o200k.Count(whole) != 7 {
			t.Errorf("%s: %d tokens in %q", c.path, o200k.Count(whole), whole)
		}
		if c.prompt != nil && (value(t, a.body, c.prompt...) != asked || value(t, a.body, c.completion...) != 7.0) {
			t.Errorf("%s: usage in %s", c.path, a.body)
		}
		var pieces []string
		for _, e := range s.post(c.streamPath, fmt.Sprintf(c.body, ask, `,"stream":true`)).events {
			if e.data == "[DONE]" {
				continue
			}
			if piece := c.piece(t, e.data); piece != "" {
				pieces = append(pieces, piece)
			}
		}
		if len(pieces) != 7 || strings.Join(pieces, "") != whole {
			t.Errorf("%s: pieces %q, whole %q", c.path, pieces, whole)
		}
	}
}

func pieceOf(t *testing.T, event, kind string, path ...any) string {
	if value(t, event, "type") != kind {
		return ""
	}
	text, _ := value(t, event, path...).(string)
	return text
}

// Models that reason do so in every API that has a place for it.
func TestReasoningInEveryAPI(t *testing.T) {
	s := serve(t, Options{Fast: true})
	a := s.post("/v1/responses", `{"model":"qwen3","input":"x","max_output_tokens":110,"reasoning":{"effort":"low"},"ignore_eos":true,"stream":true}`)
	thought := 0
	for _, e := range a.events {
		if value(t, e.data, "type") == "response.reasoning_text.delta" {
			thought++
		}
	}
	last := a.events[len(a.events)-1].data
	if thought != 100 || value(t, last, "response", "usage", "output_tokens_details", "reasoning_tokens") != 100.0 ||
		value(t, last, "response", "usage", "output_tokens") != 110.0 {
		t.Errorf("%d reasoning deltas, end %s", thought, last)
	}
	a = s.post("/v1/messages", `{"model":"qwen3","messages":[{"role":"user","content":"x"}],"max_tokens":300,"ignore_eos":true}`)
	if value(t, a.body, "content", 0, "type") != "thinking" || value(t, a.body, "content", 1, "type") != "text" ||
		value(t, a.body, "usage", "output_tokens") != 300.0 {
		t.Errorf("%s", a.body)
	}
}

func TestTokenIDs(t *testing.T) {
	s := serve(t, Options{Fast: true})
	const body = `{"rid":"r","input_ids":[1,2,3],"sampling_params":{"max_new_tokens":4,"ignore_eos":true},"stream":%v}`
	whole := s.post("/generate", fmt.Sprintf(body, false)).body
	var ids []any
	events := s.post("/generate", fmt.Sprintf(body, true)).events
	for _, e := range events[:len(events)-1] {
		ids = append(ids, value(t, e.data, "output_ids", 0))
	}
	if value(t, whole, "meta_info", "prompt_tokens") != 3.0 ||
		value(t, whole, "meta_info", "completion_tokens") != 4.0 || len(ids) != 4 ||
		fmt.Sprint(ids) != fmt.Sprint(value(t, whole, "output_ids")) || events[4].data != "[DONE]" {
		t.Errorf("%s, streamed %v", whole, ids)
	}
}

func TestEmbeddings(t *testing.T) {
	s := serve(t, Options{Fast: true})
	plain := s.post("/v1/embeddings", `{"input":["one","two three"],"dimensions":4}`).body
	if value(t, plain, "usage", "prompt_tokens") != float64(o200k.Count("one two three")) ||
		value(t, plain, "data", 1, "object") != "embedding" {
		t.Errorf("%s", plain)
	}
	coded, _ := value(t, s.post("/v1/embeddings",
		`{"input":["one","two three"],"dimensions":4,"encoding_format":"base64"}`).body, "data", 1,
		"embedding").(string)
	b, err := base64.StdEncoding.DecodeString(coded)
	if err != nil || len(b) != 16 {
		t.Fatalf("%v, %d bytes", err, len(b))
	}
	for i := range 4 {
		got, want := math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])),
			value(t, plain, "data", 1, "embedding", i).(float64)
		if math.Abs(float64(got)-want) > 1e-6 || want < -0.5 || want >= 0.5 {
			t.Errorf("number %d: %v and %v", i, got, want)
		}
	}
	for body, want := range map[string]int{`{"input":[1,2,3],"dimensions":2}`: 1,
		`{"input":[[1,2],[3]],"dimensions":2}`: 2, `{"input":"x","dimensions":2}`: 1} {
		if list, _ := value(t, s.post("/v1/embeddings", body).body, "data").([]any); len(list) != want {
			t.Errorf("%s: %d vectors, want %d", body, len(list), want)
		}
	}
	if a := s.post("/v1/embeddings", `{"input":[`+strings.Repeat(`"x",`, 2048)+`"x"]}`); a.status != 400 {
		t.Errorf("too many inputs: %d", a.status)
	}
	vector, _ := value(t, s.post("/v1/embeddings", `{"messages":[{"role":"user","content":"x"}]}`).body, "data", 0,
		"embedding").([]any)
	if len(vector) != 768 {
		t.Errorf("%d dimensions for messages", len(vector))
	}
}

// Speech is a tone of 50 ms for each token of the text, as a body or in events.
func TestSpeech(t *testing.T) {
	s := serve(t, Options{Fast: true})
	const request = `{"model":"m","input":%q,"voice":"alloy"%s}`
	pieces := int(asked)
	wav := s.post("/v1/audio/speech", fmt.Sprintf(request, ask, `,"response_format":"wav"`))
	if wav.contentType != "audio/wav" || len(wav.body) != 44+2400*pieces || wav.body[:4] != "RIFF" || wav.body[36:40] != "data" ||
		binary.LittleEndian.Uint32([]byte(wav.body[24:])) != 24000 || binary.LittleEndian.Uint32([]byte(wav.body[28:])) != 48000 {
		t.Errorf("%s, %d bytes, %q", wav.contentType, len(wav.body), wav.body[:min(44, len(wav.body))])
	}
	if pcm := s.post("/v1/audio/speech", fmt.Sprintf(request, ask, `,"response_format":"pcm"`)); pcm.contentType != "audio/pcm" ||
		pcm.body != wav.body[44:] {
		t.Errorf("%s, %d bytes", pcm.contentType, len(pcm.body))
	}
	if mp3 := s.post("/v1/audio/speech", fmt.Sprintf(request, ask, "")); mp3.contentType != "audio/mpeg" ||
		len(mp3.body) != 400*pieces || mp3.body[0] != 0xff {
		t.Errorf("%s, %d bytes", mp3.contentType, len(mp3.body))
	}
	var sound []byte
	events := s.post("/v1/audio/speech", fmt.Sprintf(request, ask, `,"response_format":"wav","stream_format":"sse"`)).events
	for _, e := range events[:len(events)-1] {
		b, err := base64.StdEncoding.DecodeString(pieceOf(t, e.data, "speech.audio.delta", "audio"))
		if err != nil {
			t.Fatal(err)
		}
		sound = append(sound, b...)
	}
	last := events[len(events)-1].data
	if string(sound) != wav.body || len(events) != pieces+1 || value(t, last, "type") != "speech.audio.done" ||
		value(t, last, "usage", "input_tokens") != asked || value(t, last, "usage", "output_tokens") != asked {
		t.Errorf("%d events, %d bytes, %s", len(events), len(sound), last)
	}
	for _, body := range []string{`{"input":"a"}`, `{"voice":"alloy"}`, `{"input":["a"],"voice":"alloy"}`,
		`{"input":"a","voice":"alloy","response_format":"midi"}`} {
		if a := s.post("/v1/audio/speech", body); a.status != 400 {
			t.Errorf("%s: %d", body, a.status)
		}
	}
}

// The pieces of a sound come at the instants of tokens, whatever they are wrapped in.
func TestSpeechStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 40 * time.Millisecond, ITL: 10 * time.Millisecond})
		for _, format := range []string{"audio", "sse"} {
			start := time.Now()
			a := s.post("/v1/audio/speech", fmt.Sprintf(`{"input":%q,"voice":"alloy","stream_format":%q}`, ask, format))
			if took := time.Since(start); took != 40*time.Millisecond+time.Duration(asked-1)*10*time.Millisecond || a.err != nil {
				t.Errorf("%s: %v, error %v", format, took, a.err)
			}
		}
	})
}

// Of the reranker that returns a few of the passages, these are the best ones, with their texts if asked for.
func TestRankingOfTheBest(t *testing.T) {
	s := serve(t, Options{Fast: true})
	const request = `{"model":"m","query":"rain?","documents":["water","ice","light"]%s}`
	all := s.post("/v1/rerank", fmt.Sprintf(request, "")).body
	best := s.post("/v1/rerank", fmt.Sprintf(request, `,"top_k":1,"return_documents":true`)).body
	list, _ := value(t, best, "data").([]any)
	index, _ := value(t, all, "data", 0, "index").(float64)
	if len(list) != 1 || value(t, best, "data", 0, "index") != index ||
		value(t, best, "data", 0, "document") != []string{"water", "ice", "light"}[int(index)] ||
		value(t, all, "data", 0, "document") != nil {
		t.Errorf("%s of %s", best, all)
	}
}

// Scores are those that the rankings have, in the order of the texts, whatever the fields are called.
func TestScores(t *testing.T) {
	s := serve(t, Options{Fast: true})
	ranked := s.post("/rerank", `{"query":"rain?","texts":["water","ice"]}`).body
	scores := map[any]any{}
	for i := range 2 {
		scores[value(t, ranked, i, "index")] = value(t, ranked, i, "score")
	}
	for _, body := range []string{`{"model":"m","text_1":"rain?","text_2":["water","ice"]}`,
		`{"model":"m","queries":"rain?","documents":["water","ice"]}`,
		`{"model":"m","text_1":["rain?","rain?"],"text_2":["water","ice"]}`} {
		got := s.post("/score", body).body
		for i := range 2 {
			if value(t, got, "data", i, "score") != scores[float64(i)] || value(t, got, "data", i, "object") != "score" {
				t.Errorf("%s: %s, want %v", body, got, scores)
			}
		}
	}
	if a := s.post("/score", `{"model":"m","text_1":"rain?","text_2":"water"}`); value(t, a.body, "data", 0, "score") !=
		scores[0.0] || value(t, a.body, "usage", "prompt_tokens") != float64(o200k.Count("rain? water")) {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, body := range []string{`{"text_1":"a"}`, `{"text_1":["a","b"],"text_2":["c"]}`, `{"text_1":1,"text_2":"a"}`} {
		if a := s.post("/score", body); a.status != 400 {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
}

func TestPoolingAndClassification(t *testing.T) {
	s := serve(t, Options{Fast: true})
	const body = `{"model":"m","input":["one","two three"]%s}`
	pooled := s.post("/pooling", fmt.Sprintf(body, "")).body
	rows, _ := value(t, pooled, "data", 1, "data").([]any)
	row, _ := value(t, pooled, "data", 1, "data", 7).([]any)
	if len(rows) != 8 || len(row) != 96 || value(t, pooled, "data", 1, "object") != "pooling" ||
		value(t, pooled, "usage", "prompt_tokens") != float64(o200k.Count("one two three")) {
		t.Errorf("%d rows of %d: %s", len(rows), len(row), pooled)
	}
	coded, _ := value(t, s.post("/pooling", fmt.Sprintf(body, `,"encoding_format":"base64"`)).body, "data", 1,
		"data").(string)
	if b, err := base64.StdEncoding.DecodeString(coded); err != nil || len(b) != 4*768 {
		t.Errorf("%v, %d bytes", err, len(b))
	}
	classified := s.post("/classify", fmt.Sprintf(body, "")).body
	for i := range 2 {
		sum, best := 0.0, 0
		for class := range 3 {
			p, _ := value(t, classified, "data", i, "probs", class).(float64)
			if sum += p; p > value(t, classified, "data", i, "probs", best).(float64) {
				best = class
			}
		}
		if math.Abs(sum-1) > 1e-9 || value(t, classified, "data", i, "label") != fmt.Sprint("LABEL_", best) ||
			value(t, classified, "data", i, "num_classes") != 3.0 {
			t.Errorf("text %d: %s", i, classified)
		}
	}
}

func TestRankings(t *testing.T) {
	s := serve(t, Options{Fast: true})
	tokens := float64(o200k.Count("rain? water ice light"))
	for _, c := range []struct {
		path, body  string
		list, usage []any
		score       string
	}{
		{"/v2/rerank", `{"model":"m","query":"rain?","documents":["water","ice","light"]}`, []any{"results"},
			[]any{"meta", "tokens", "input_tokens"}, "relevance_score"},
		{"/rerank", `{"query":"rain?","texts":["water","ice","light"]}`, nil, nil, "score"},
		{"/rerank", `{"query":"rain?","documents":["water","ice","light"]}`, nil, nil, "score"},
		{"/v1/rerank", `{"model":"m","query":"rain?","documents":["water","ice","light"]}`, []any{"data"},
			[]any{"usage", "total_tokens"}, "relevance_score"},
		{"/v1/ranking", `{"model":"m","query":{"text":"rain?"},"passages":[{"text":"water"},{"text":"ice"},{"text":"light"}]}`, []any{"rankings"}, []any{"usage", "prompt_tokens"}, "logit"},
	} {
		a := s.post(c.path, c.body)
		list, _ := value(t, a.body, c.list...).([]any)
		var indices []int
		last := 1.0
		for i := range list {
			score, _ := value(t, a.body, append(slices.Clone(c.list), i, c.score)...).(float64)
			index, _ := value(t, a.body, append(slices.Clone(c.list), i, "index")...).(float64)
			if score > last {
				t.Errorf("%s: not in order: %s", c.path, a.body)
			}
			last, indices = score, append(indices, int(index))
		}
		slices.Sort(indices)
		if !slices.Equal(indices, []int{0, 1, 2}) || c.usage != nil && value(t, a.body, c.usage...) != tokens {
			t.Errorf("%s: %s", c.path, a.body)
		}
	}
}

// form returns a multipart body: pairs of name and value, files as name@filename.
func form(pairs ...string) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		name, file, isFile := strings.Cut(pairs[i], "@")
		part, _ := w.CreateFormField(name) // a buffer does not fail
		if isFile {
			part, _ = w.CreateFormFile(name, file)
		}
		part.Write([]byte(pairs[i+1]))
	}
	w.Close()
	return b.String(), w.FormDataContentType()
}

func TestForms(t *testing.T) {
	s := serve(t, Options{Fast: true})
	wav := "RIFF\x00\x00\x00\x00WAVEfmt " + strings.Repeat("\x00", 12) + "\x80\x3e\x00\x00" +
		strings.Repeat("\x00", 12) + strings.Repeat("\x00", 10*16000)
	body, kind := form("model", "m", "file@a.wav", wav)
	if got, _ := value(t, s.post("/v1/audio/transcriptions", body, "Content-Type", kind).body,
		"text").(string); o200k.Count(got) != 20 {
		t.Errorf("a transcript of ten seconds: %q", got)
	}
	body, kind = form("file@a.mp3", "x", "response_format", "text")
	if a := s.post("/v1/audio/transcriptions", body, "Content-Type",
		kind); a.contentType != "text/plain; charset=utf-8" || o200k.Count(strings.TrimRight(a.body, "\n")) != 8 {
		t.Errorf("%s %q", a.contentType, a.body)
	}
	body, kind = form("prompt", "a hat", "n", "2", "image@i.png", "x")
	if list, _ := value(t, s.post("/v1/images/edits", body, "Content-Type", kind).body,
		"data").([]any); len(list) != 2 {
		t.Errorf("%d edited images", len(list))
	}
	for path, pairs := range map[string][]string{
		"/v1/audio/transcriptions": {"model", "m"}, "/v1/images/edits": {"prompt", "x"}, "/v1/videos": {"model", "m"},
		"/v1/embeddings": {"input", "x"},
	} {
		body, kind := form(pairs...)
		if a := s.post(path, body, "Content-Type", kind); a.status != 400 {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	for _, path := range []string{"/v1/audio/transcriptions", "/v1/images/edits"} {
		if a := s.post(path, `{"prompt":"x"}`); a.status != 415 {
			t.Errorf("%s as JSON: %d", path, a.status)
		}
	}
	if a := s.post("/v1/videos", "no form", "Content-Type", "multipart/form-data; boundary=x"); a.status != 400 {
		t.Errorf("a broken form: %d", a.status)
	}
}

func TestBodiesThatAreRefused(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for _, c := range [][2]string{
		{"/v1/messages", `{"messages":[{"role":"user","content":"x"}]}`}, {"/v1/messages", `{"max_tokens":5}`},
		{"/v1/responses", `{}`}, {"/v1/embeddings", `{}`},
		{"/v2/rerank", `{"documents":[]}`}, {"/v2/rerank", `{"query":"q"}`}, {"/rerank", `{"query":"q","texts":[1]}`},
		{"/generate", `{}`}, {"/v1/images/generations", `{}`},
		{"/v1/infer", `{"input":"x"}`}, {"/v1/responses", `[]`}, {"/v1/responses", `{"input":"x",`},
		{"/v1/images/generations", `{"prompt":"x","n":-1}`},
	} {
		if a := s.post(c[0], c[1]); a.status != 400 || value(t, a.body, "error", "message") == nil {
			t.Errorf("%s %s: %d %s", c[0], c[1], a.status, a.body)
		}
	}
	if a := s.post("/v1/chat/completions", chat("x", false), "X-Api-Key", "k"); a.status != 200 {
		t.Errorf("a key that nobody asked for: %d", a.status)
	}
	locked := serve(t, Options{Fast: true, APIKey: "k"})
	for header, want := range map[string]int{"X-Api-Key": 200, "X-Other": 401} {
		if a := locked.post("/v1/messages", `{"max_tokens":2,"messages":[{"role":"user","content":"x"}]}`, header,
			"k"); a.status != want {
			t.Errorf("%s: %d, want %d", header, a.status, want)
		}
	}
}

// Replies without tokens take the time that their options say.
func TestWorkTakesItsTime(t *testing.T) {
	o := Options{EmbeddingBase: 10 * time.Millisecond, EmbeddingPerInput: 2 * time.Millisecond,
		RankingBase: 10 * time.Millisecond, RankingPerPassage: time.Millisecond,
		ImageInferBase: 10 * time.Millisecond, ImageInferPer: 5 * time.Millisecond,
		ImageLatency: 50 * time.Millisecond, VideoLatency: 200 * time.Millisecond, MaxQueue: -1}
	for _, c := range []struct {
		path, body string
		want       time.Duration
	}{
		{"/v1/embeddings", `{"input":["a","b","c"]}`, 16 * time.Millisecond},
		{"/rerank", `{"query":"q","texts":["a","b","c"]}`, 13 * time.Millisecond},
		{"/v1/infer", `{"input":[{"type":"image_url","url":"x"},{"type":"image_url","url":"y"}]}`,
			20 * time.Millisecond},
		{"/v1/images/generations", `{"prompt":"x"}`, 50 * time.Millisecond},
		{"/v1/images/generations", `{"prompt":"x","stream":true}`, 50 * time.Millisecond},
		{"/v1/videos", `{"prompt":"x"}`, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := servePipe(t, o)
			start := time.Now()
			if a := s.post(c.path, c.body); a.status != 200 || time.Since(start) != c.want {
				t.Errorf("%s: %d after %v, want %v", c.path, a.status, time.Since(start), c.want)
			}
			s.stop()
		})
	}
}

func TestVideoJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{VideoLatency: 100 * time.Millisecond})
		id, _ := value(t, s.post("/v1/videos", `{"prompt":"x"}`).body, "id").(string)
		var states []string
		for range 4 {
			a := s.get("/v1/videos/" + id)
			state, _ := value(t, a.body, "status").(string)
			states = append(states, state)
			if content := s.get("/v1/videos/" + id + "/content"); (content.status == 200) != (state == "completed") {
				t.Errorf("content of a %s video: %d", state, content.status)
			}
			if seconds := value(t, a.body, "inference_time_s"); (seconds == 0.1) != (state == "completed") {
				t.Errorf("inference time of a %s video: %v", state, seconds)
			}
			time.Sleep(40 * time.Millisecond)
		}
		if want := []string{"queued", "in_progress", "in_progress", "completed"}; !slices.Equal(states, want) {
			t.Errorf("states %v, want %v", states, want)
		}
		for _, id := range []string{"x", "video_1_2", `video_1_2_"`, "video_2_1_1",
			"video_" + strconv.Itoa(1) + "_z_1"} {
			if a := s.get("/v1/videos/" + strings.ReplaceAll(id, `"`, "%22")); a.status != 404 {
				t.Errorf("job %s: %d", id, a.status)
			}
		}
		s.stop()
	})
}

// Every API's streams have the faults.
func TestFaultsOfEveryStream(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for path, body := range map[string]string{
		"/v1/responses":    `{"input":"x y z","stream":true}`,
		"/v1/messages":     `{"messages":[{"role":"user","content":"x y z"}],"max_tokens":9,"stream":true}`,
		"/generate_stream": `{"inputs":"x y z"}`, "/rag/api/prompt": `{"query":["x y z"],"stream":true}`,
		"/generate":              `{"input_ids":[1,2,3],"stream":true}`,
		"/v1/images/generations": `{"prompt":"x","stream":true}`,
	} {
		if a := s.post(path, body, "X-Mock-Fault", "error_200"); a.status != 200 ||
			!strings.Contains(a.body, "injected fault") {
			t.Errorf("%s: error_200 gives %s", path, a.body)
		}
		if a := s.post(path, body, "X-Mock-Fault", "cut_after_events=1;cut_mid_event"); a.err == nil {
			t.Errorf("%s: the cut is no error: %s", path, a.body)
		}
		a := s.post(path, body, "X-Mock-Fault", "malformed_json")
		broken := 0
		for _, e := range a.events {
			if e.data != "[DONE]" && !json.Valid([]byte(e.data)) {
				broken++
			}
		}
		if broken != 1 {
			t.Errorf("%s: %d malformed events in %s", path, broken, a.body)
		}
	}
}

// Requests to any API are counted, and the pages name those that came.
func TestEveryAPIIsCounted(t *testing.T) {
	s := serve(t, Options{Fast: true})
	s.post("/v1/embeddings", `{"input":"x"}`)
	s.post("/v1/messages", `{"messages":[{"role":"user","content":"x"}],"max_tokens":9,"stream":true}`)
	page := s.get("/metrics").body
	for _, want := range []string{`endpoint="/v1/embeddings"`, `endpoint="/v1/messages"`,
		`endpoint="/v1/chat/completions"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if strings.Contains(page, "/v1/videos") {
		t.Error("the page names an API that nobody asked")
	}
}
