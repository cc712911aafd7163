package run

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testkit"
	"aiperf/internal/mockserver"
	"aiperf/internal/view/runlog"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/tokenizer"
)

// executeOn runs a benchmark over content that no file format can hold yet.
func executeOn(t *testing.T, data *dataset.Dataset, dir, url string, args ...string) (*Outcome, string, error) {
	t.Helper()
	var lines bytes.Buffer
	o := Options{Version: "test", Log: runlog.New(runlog.Options{Console: &lines})}
	defer o.Log.Close()
	e := newExecution(newBase(resolveBare(t, dir, url, args...), o, clock.New()))
	e.content.data, e.content.tokenizer = data, tokenizer.Builtin()
	defer e.close()
	if err := untilStopped(context.Background(), e.options.Stop, e.prepare); err != nil {
		return nil, lines.String(), err
	}
	phases, err := e.generate(context.Background())
	if err != nil {
		return nil, lines.String(), err
	}
	outcome, err := e.finish(phases)
	return outcome, lines.String(), err
}

func one(turn dataset.Turn) *dataset.Dataset {
	return &dataset.Dataset{Sampling: "sequential",
		Conversations: dataset.Memory{{SessionID: "s", Turns: []dataset.Turn{turn}}}}
}

func texts(pairs ...string) []dataset.Media {
	var list []dataset.Media
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, dataset.Media{Name: pairs[i], Contents: strings.Split(pairs[i+1], "|")})
	}
	return list
}

const tinyPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// wav is a WAV file of silence: 16-bit mono at 8 kHz.
func wav(seconds float64) string {
	samples := int(seconds * 8000)
	b := []byte("RIFF....WAVEfmt ")
	b = binary.LittleEndian.AppendUint32(b, 16)
	for _, v := range []uint16{1, 1} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, 16000)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(2*samples))
	b = append(b, make([]byte, 2*samples)...)
	return "wav," + base64.StdEncoding.EncodeToString(b)
}

// apiCase is an endpoint type with a request whose figures are known.
type apiCase struct {
	name string
	args []string
	turn dataset.Turn
	// osl is the length of the reply, 0 for types without tokens; usage tells that the server reports it.
	osl, isl int
	usage    bool
	// otherUsage: the server counts otherwise than the client.
	otherUsage bool
	// streamedUsage: it reports it in streams only.
	streamedUsage bool
	// completion is the server's count of what it made, where the client has none; 0: that is osl.
	completion int
	streams    bool
	grpc       bool     // gRPC carries it as well, and it streams there only
	metrics    []string // further metrics that must be there
}

const sixTokens = "ignore_eos:true"

func apiCases() []apiCase {
	limit := 6
	prompt := dataset.Turn{Texts: texts("", "Say something about the weather in five words."), MaxTokens: &limit}
	isl := tokenizer.Builtin().Count("Say something about the weather in five words.")
	ranking := dataset.Turn{Texts: texts("query", "What is rain?", "passages",
		"Rain is water.|Snow is ice.|Sun is light.")}
	ranked := tokenizer.Builtin().Count("What is rain? Rain is water. Snow is ice. Sun is light.")
	with := func(t dataset.Turn, f func(*dataset.Turn)) dataset.Turn { f(&t); return t }
	image := []dataset.Media{{Contents: []string{"data:image/png;base64," + tinyPNG}}}
	raw := `{"model":"m","messages":[{"role":"user","content":"Say something about the weather in five words."}],"max_tokens":6,"ignore_eos":true`
	return []apiCase{
		{name: "chat", args: []string{"--extra-inputs", sixTokens}, turn: prompt, osl: 6, isl: isl, usage: true,
			streams: true},
		{name: "completions", args: []string{"--extra-inputs", sixTokens}, turn: prompt, osl: 6, isl: isl, usage: true,
			streams: true},
		{name: "responses", args: []string{"--extra-inputs", sixTokens}, turn: prompt, osl: 6, isl: isl, usage: true,
			streams: true},
		{name: "messages", args: []string{"--extra-inputs", sixTokens}, turn: prompt, osl: 6, isl: isl, usage: true,
			streams: true},
		{name: "huggingface_generate", args: []string{"--extra-inputs", sixTokens}, turn: prompt, osl: 6, isl: isl,
			streams: true},
		{name: "sglang_generate", args: []string{"--extra-inputs", `{"sampling_params":{"ignore_eos":true}}`},
			turn: prompt, osl: 6, isl: isl, usage: true, streams: true},
		{name: "template", args: []string{"--custom-endpoint", "/v1/custom-multimodal", "--extra-inputs",
			`{"payload_template":"{\"prompt\": {{ text|tojson }}, \"max_tokens\": {{ max_tokens }}, \"stream\": {{ stream|lower }}}","ignore_eos":true}`},
			turn: prompt, osl: 6, isl: isl, streams: true},
		{name: "raw", args: []string{"--custom-endpoint", "/v1/chat/completions"},
			turn: dataset.Turn{RawPayload: json.RawMessage(raw + `}`)}, osl: 6, isl: isl, usage: true},
		{name: "solido_rag", args: []string{"--extra-inputs", sixTokens, "--extra-inputs", "max_tokens:6"},
			turn: prompt, osl: 6, isl: isl},
		{name: "embeddings", turn: with(prompt, func(t *dataset.Turn) { t.MaxTokens = nil }), isl: isl, usage: true},
		{name: "chat_embeddings", turn: with(prompt, func(t *dataset.Turn) { t.Images = image }), isl: isl, usage: true,
			metrics: []string{"num_images", "image_latency"}},
		{name: "nim_embeddings", turn: with(prompt, func(t *dataset.Turn) { t.Images = image }), isl: isl,
			metrics: []string{"num_images"}, otherUsage: true},
		{name: "cohere_rankings", turn: ranking, isl: ranked, usage: true},
		{name: "hf_tei_rankings", turn: ranking, isl: ranked},
		{name: "nim_rankings", turn: ranking, isl: ranked, usage: true},
		{name: "voyage_rankings", turn: ranking, isl: ranked},
		{name: "vllm_score", turn: ranking, isl: ranked, usage: true},
		{name: "vllm_score", args: []string{"--extra-inputs", "score_query_field:queries", "--extra-inputs",
			"score_documents_field:documents"}, turn: ranking, isl: ranked, usage: true},
		{name: "vllm_pooling", turn: with(prompt, func(t *dataset.Turn) { t.MaxTokens = nil }), isl: isl, usage: true},
		{name: "vllm_classify", turn: with(prompt, func(t *dataset.Turn) { t.MaxTokens = nil }), isl: isl, usage: true},
		{name: "audio_speech", turn: prompt, isl: isl, streamedUsage: true, completion: isl, streams: true,
			metrics: []string{"time_to_first_audio", "real_time_factor", "output_audio_duration", "output_audio_bytes"}},
		{name: "audio_speech", args: []string{"--extra-inputs", "response_format:mp3"}, turn: prompt, isl: isl, streamedUsage: true,
			completion: isl, streams: true, metrics: []string{"time_to_first_audio", "output_audio_bytes"}},
		{name: "image_generation", turn: prompt, isl: isl, usage: true, completion: 256,
			metrics: []string{"num_images", "image_throughput", "image_latency"}},
		{name: "image_edit", turn: with(prompt, func(t *dataset.Turn) { t.Images = image }), isl: isl, usage: true,
			completion: 256, metrics: []string{"num_images"}},
		{name: "image_retrieval", turn: dataset.Turn{Images: image},
			metrics: []string{"num_images", "image_throughput"}},
		{name: "audio_transcription", turn: dataset.Turn{Audios: []dataset.Media{{Contents: []string{wav(2.5)}}}},
			metrics: []string{"audio_duration", "rtfx"}},
		{name: "kserve_v2_infer", args: []string{"--extra-inputs", sixTokens}, turn: prompt, osl: 6, isl: isl,
			grpc: true, streams: true},
		{name: "kserve_v2_vlm", args: []string{"--extra-inputs", sixTokens},
			turn: with(prompt, func(t *dataset.Turn) { t.Images = image }), osl: 6, isl: isl,
			grpc: true, streams: true, metrics: []string{"num_images"}},
		{name: "kserve_v2_embeddings", args: []string{"--extra-inputs", "v2_output_name:embedding"}, turn: prompt,
			isl: isl, grpc: true},
		{name: "kserve_v2_rankings", turn: ranking, isl: ranked, grpc: true},
		{name: "kserve_v2_images", args: []string{"--extra-inputs", "v2_output_name:image"}, turn: prompt, isl: isl,
			grpc:    true,
			metrics: []string{"num_images"}},
		{name: "video_generation", turn: prompt, isl: isl,
			metrics: []string{"video_inference_time", "video_peak_memory"}},
	}
}

// metric is the value of a metric of a record; false if it has none.
func metric(r map[string]any, tag string) (float64, bool) {
	v, ok := at(r, "metrics", tag, "value").(float64)
	return v, ok
}

func (c *apiCase) run(t *testing.T, url string, more ...string) (*Outcome, []map[string]any) {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"--endpoint-type", c.name}, c.args...)
	if overGRPC := func(arg string) bool { return arg == grpcMode }; slices.ContainsFunc(more, overGRPC) {
		more = slices.DeleteFunc(slices.Clone(more), overGRPC)
		url = strings.Replace(url, "http://", "grpc://", 1)
	}
	if !slices.Contains(more, "--request-count") {
		args = append(args, "--request-count", "2")
	}
	outcome, log, err := executeOn(t, one(c.turn), dir, url, append(args, more...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	return outcome, records(t, dir)
}

// grpcMode stands among the arguments of a mode and asks for gRPC.
const grpcMode = "grpc"

// modes are the ways in which a type is asked.
func (c *apiCase) modes() []string {
	switch {
	case c.name == "sglang_generate":
		return []string{"--streaming"}
	case c.grpc && c.streams:
		return []string{"", grpcMode, grpcMode + " --streaming"}
	case c.grpc:
		return []string{"", grpcMode}
	case c.streams:
		return []string{"", "--streaming"}
	}
	return []string{""}
}

func arguments(s string) []string { return strings.Fields(s) }

func TestEveryEndpointTypeMeasuresWhatTheServerCounts(t *testing.T) {
	t.Parallel()
	// Every reply takes a while: a rate over less than the error of an instant is left out.
	url := serve(t, mockserver.Options{TTFT: 2 * time.Millisecond, ITL: time.Millisecond,
		VideoLatency: 20 * time.Millisecond, Fault: "delay_ms=5"})
	for _, c := range apiCases() {
		for _, mode := range c.modes() {
			t.Run(c.name+mode, func(t *testing.T) {
				t.Parallel()
				outcome, list := c.run(t, url, arguments(mode)...)
				if n := outcome.Result.Counts; n.Successes != 2 || n.Errors != 0 {
					t.Fatalf("counts %+v: %v", n, at(list[0], "error"))
				}
				for _, r := range list {
					c.check(t, r, strings.Contains(mode, "--streaming"))
				}
			})
		}
	}
}

// check compares a record with what the server must have counted.
func (c *apiCase) check(t *testing.T, r map[string]any, streaming bool) {
	t.Helper()
	want := func(tag string, value int, applies bool) {
		t.Helper()
		got, ok := metric(r, tag)
		if ok != applies || applies && got != float64(value) {
			t.Errorf("%s: %v, %v; want %d, %v", tag, got, ok, value, applies)
		}
	}
	want("output_sequence_length", c.osl, c.osl > 0)
	want("input_sequence_length", c.isl, c.isl > 0)
	usage := c.usage || c.streamedUsage && streaming
	if !c.otherUsage {
		want("usage_prompt_tokens", c.isl, usage)
	}
	made := max(c.osl, c.completion)
	want("usage_completion_tokens", made, usage && made > 0)
	for _, tag := range append([]string{"request_latency"}, c.metrics...) {
		if v, ok := metric(r, tag); !ok || v <= 0 {
			t.Errorf("%s: %v, %v", tag, v, ok)
		}
	}
	for _, tag := range []string{"time_to_first_token", "inter_token_latency"} {
		if _, ok := metric(r, tag); ok != (streaming && c.osl > 0) {
			t.Errorf("%s: %v", tag, ok)
		}
	}
	for _, tag := range []string{"num_images", "audio_duration", "video_inference_time", "output_audio_bytes",
		"output_audio_duration", "time_to_first_audio"} {
		if _, ok := metric(r, tag); ok && !slices.Contains(c.metrics, tag) {
			t.Errorf("%s is made up", tag)
		}
	}
}

// What goes wrong is an error of that request, whatever the API, and measures nothing.
func TestEveryEndpointTypeFails(t *testing.T) {
	t.Parallel()
	for i, f := range []struct {
		name, fault string
		args        string
		types       []string // the types of error that it may be; empty: whatever the API calls it
		grpc        []string // over gRPC
	}{
		{name: "status", fault: "status=503", types: []string{"Service Unavailable"}, grpc: []string{"UNAVAILABLE"}},
		{name: "error inside", fault: "error_200"},
		{name: "cut inside the reply", fault: "cut_after_events=1;cut_mid_event", types: []string{"ClientPayloadError"},
			grpc: []string{"ClientPayloadError", "ClientResponseError"}},
		{name: "malformed", fault: "malformed_json;cut_after_events=1"},
		{name: "cancelled", fault: "delay_ms=5000",
			args:  "--request-cancellation-rate 100 --request-cancellation-delay 0.02",
			types: []string{"RequestCancellationError"}},
		{name: "too slow", fault: "delay_ms=5000", args: "--request-timeout-seconds 0.05",
			types: []string{"TimeoutError"}},
	} {
		url := serve(t, mockserver.Options{Fault: f.fault, TTFT: time.Millisecond, ITL: time.Millisecond})
		for _, c := range apiCases() {
			if f.name == "malformed" && slices.Contains([]string{"audio_transcription", "audio_speech", "raw", "template"}, c.name) {
				continue // their replies may be any text
			}
			modes := c.modes()
			if !testkit.Full() { // each mode has one of the faults
				modes = modes[i%len(modes):][:1]
			}
			for _, mode := range modes {
				t.Run(fmt.Sprint(f.name, "/", c.name, mode), func(t *testing.T) {
					t.Parallel()
					outcome, list := c.run(t, url, append(arguments(mode),
						arguments("--request-count 1 "+f.args)...)...)
					if n := outcome.Result.Counts; n.Errors != 1 || n.Successes != 0 {
						t.Fatalf("counts %+v: %v", n, list[0])
					}
					for _, r := range list {
						kind, _ := at(r, "error", "type").(string)
						types := f.types
						if strings.HasPrefix(mode, grpcMode) && f.grpc != nil {
							types = f.grpc
						}
						if len(types) > 0 && !slices.Contains(types, kind) {
							t.Errorf("error %v", at(r, "error"))
						}
						for _, tag := range []string{"request_latency", "output_sequence_length", "usage_prompt_tokens",
							"num_images", "output_audio_bytes", "time_to_first_audio"} {
							if v, ok := metric(r, tag); ok {
								t.Errorf("%s of a failed request: %v", tag, v)
							}
						}
					}
				})
			}
		}
	}
}
