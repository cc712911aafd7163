package mockserver

import (
	"aiperf/internal/workload/tokenizer"
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestReplyReencodesToItsUsage(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for _, path := range []string{chatPath, completionPath} {
		for _, stream := range []bool{false, true} {
			for _, n := range []int{1, 2, 7, 300, 5000} {
				t.Run(fmt.Sprint(path, stream, n), func(t *testing.T) {
					extra := fmt.Sprintf(`"max_tokens":%d,"ignore_eos":true,"stream_options":{"include_usage":true}`, n)
					body := chat(text(16), stream, extra)
					if path == completionPath {
						body = fmt.Sprintf(`{"prompt":%q,"model":"m","stream":%v,%s}`, text(16), stream, extra)
					}
					r := assemble(t, s.post(path, body))
					if got := o200k.Count(r.content); got != n || r.usage.Completion != n || r.finish != "length" {
						t.Errorf("text of %d tokens, usage %+v, finish %q, want %d and length", got, r.usage, r.finish,
							n)
					}
					if r.usage.Prompt != 16 || r.usage.Total != 16+n || r.usage.Details != nil {
						t.Errorf("usage %+v", r.usage)
					}
					if stream && (r.tokens != n || !r.done) {
						t.Errorf("%d token events, done %v", r.tokens, r.done)
					}
				})
			}
		}
	}
}

func TestReasoningModelSpendsItsEffortFirst(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for _, stream := range []bool{false, true} {
		body := strings.Replace(chat(text(5), stream, `"max_tokens":130`, `"ignore_eos":true`,
			`"reasoning_effort":"low"`,
			`"stream_options":{"include_usage":true}`), `"m"`, `"openai/GPT-OSS-20b"`, 1)
		r := assemble(t, s.post(chatPath, body))
		if o200k.Count(r.reasoning) != 100 || o200k.Count(r.content) != 30 || r.finish != "length" {
			t.Errorf("reasoning %d, content %d, finish %q", o200k.Count(r.reasoning), o200k.Count(r.content), r.finish)
		}
		if r.usage.Completion != 130 || r.usage.Details == nil || r.usage.Details.Reasoning != 100 {
			t.Errorf("usage %+v", r.usage)
		}
	}
}

func TestTrapReasoningTakesTheWholeBudget(t *testing.T) {
	s := serve(t, Options{Fast: true})
	body := strings.Replace(chat(text(5), true, `"max_tokens":100`, `"stream_options":{"include_usage":true}`), `"m"`,
		`"qwen3"`, 1)
	r := assemble(t, s.post(chatPath, body))
	if o200k.Count(r.reasoning) != 100 || r.content != "" || r.finish != "" || r.usage.Completion != 100 {
		t.Errorf("reasoning %d, content %q, finish %q, usage %+v", o200k.Count(r.reasoning), r.content, r.finish,
			r.usage)
	}
}

func TestEqualPromptsGetEqualRepliesAcrossServers(t *testing.T) {
	replies := map[string]int{}
	for range 2 {
		s := serve(t, Options{Fast: true, Seed: 7})
		for _, stream := range []bool{false, true} {
			replies[assemble(t, s.post(chatPath, chat("a stable prompt", stream))).content]++
		}
	}
	if len(replies) != 1 {
		t.Errorf("replies differ: %v", replies)
	}
	other := serve(t, Options{Fast: true, Seed: 8})
	if r := assemble(t, other.post(chatPath, chat("a stable prompt", false))); replies[r.content] != 0 {
		t.Errorf("another seed gives the same reply %q", r.content)
	}
}

func TestEmptyPromptHasNoOutput(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for _, stream := range []bool{false, true} {
		r := assemble(t, s.post(chatPath, chat("", stream, `"max_tokens":9,"stream_options":{"include_usage":true}`)))
		if r.content != "" || r.usage.Completion != 0 || r.usage.Prompt != 0 {
			t.Errorf("content %q, usage %+v", r.content, r.usage)
		}
	}
}

// A picture or a sound is a prompt although it has no text.
func TestMediaAloneAreAnswered(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for _, part := range []string{
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}}`,
		`{"type":"input_audio","input_audio":{"data":"QQ==","format":"wav"}}`,
		`{"type":"video_url","video_url":{"url":"http://h/v.mp4"}}`,
	} {
		r := assemble(t, s.post(chatPath,
			`{"messages":[{"role":"user","content":[`+part+`]}],"max_tokens":7,"ignore_eos":true}`))
		if r.usage.Completion != 7 || r.usage.Prompt != 0 {
			t.Errorf("%s: usage %+v", part, r.usage)
		}
	}
}

func TestUsageOnEveryChunk(t *testing.T) {
	s := serve(t, Options{Fast: true})
	a := s.post(chatPath, chat(text(4), true, `"max_tokens":3,"ignore_eos":true`,
		`"stream_options":{"include_usage":true,"continuous_usage_stats":true}`))
	var got []int
	for _, e := range a.events[:len(a.events)-1] {
		got = append(got, decode(t, e.data).Usage.Completion)
	}
	if fmt.Sprint(got) != "[1 2 3 3]" {
		t.Errorf("completion tokens by chunk %v", got)
	}
	if last := decode(t, a.events[3].data); last.Choices == nil || len(last.Choices) != 0 {
		t.Errorf("the usage chunk has choices %v", last.Choices)
	}
	if a := s.post(chatPath, chat(text(4), true)); strings.Contains(a.body, "usage") {
		t.Errorf("usage without being asked for: %s", a.body)
	}
}

func TestFirstDeltaHasTheRole(t *testing.T) {
	s := serve(t, Options{Fast: true})
	a := s.post(chatPath, chat(text(4), true, `"max_tokens":2,"ignore_eos":true`))
	first, second := decode(t, a.events[0].data), decode(t, a.events[1].data)
	if first.Object != "chat.completion.chunk" || first.Choices[0].Delta.Role != "assistant" ||
		second.Choices[0].Delta.Role != "" {
		t.Errorf("events %v", a.events)
	}
	if first.ID != second.ID || !strings.HasPrefix(first.ID, "chatcmpl-") || first.Model != "m" || first.Created == 0 {
		t.Errorf("event %+v", first)
	}
}

func TestDefaultLengthOption(t *testing.T) {
	s := serve(t, Options{Fast: true, OutputTokens: 11})
	if r := assemble(t, s.post(chatPath, chat(text(100), false))); r.usage.Completion != 11 {
		t.Errorf("usage %+v, want 11 tokens", r.usage)
	}
}

func TestRoutes(t *testing.T) {
	s := serve(t, Options{Fast: true, Models: []string{"a", `b"c`}})
	for path, want := range map[string]string{
		"/health": `"healthy"`, "/": "mock-server", "/v1/models": `"id":"b\"c"`, "/health?x=1": `"healthy"`,
	} {
		if a := s.get(path); a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("GET %s: %d %s", path, a.status, a.body)
		}
	}
	for _, path := range hookPaths {
		s.post(path, "")
		if a := s.post(path, "{}"); a.status != 200 || !strings.Contains(a.body, `"count":2`) {
			t.Errorf("POST %s: %d %s", path, a.status, a.body)
		}
	}
	for _, path := range []string{"/v1/images/variations", "/nope"} {
		if a := s.post(path, "{}"); a.status != 404 || decode(t, a.body).Error == nil {
			t.Errorf("POST %s: %d %s", path, a.status, a.body)
		}
	}
	if a := s.get(chatPath); a.status != 405 || a.header.Get("Allow") != "POST" {
		t.Errorf("GET %s: %d, Allow %q", chatPath, a.status, a.header.Get("Allow"))
	}
}

func TestBadBodiesAreRefusedAndTheConnectionStays(t *testing.T) {
	s := serve(t, Options{Fast: true})
	for body, want := range map[string]string{
		``:                                     "must be a JSON object",
		`[]`:                                   "must be a JSON object",
		`{}`:                                   "messages must be an array",
		`{"`:                                   "not valid JSON",
		`{}x`:                                  "not valid JSON",
		`{"messages":[{"content":"x"}]}`:       "must have a role",
		`{"messages":[3]}`:                     "must hold objects",
		`{"messages":[],"stream":"yes"}`:       "stream must be true or false",
		`{"messages":[],"max_tokens":-1}`:      "max_tokens must be a whole number",
		`{"messages":[],"max_tokens":1.5}`:     "max_tokens must be a whole number",
		`{"messages":[],"model":4}`:            "model must be a string",
		"{\"messages\":[],\"model\":\"\xff\"}": "not valid UTF-8",
		`{"messages":[],"min_tokens":1000000000000}`: "min_tokens must be a whole number",
	} {
		a := s.post(chatPath, body)
		if a.status != 400 || !strings.Contains(a.body, want) || decode(t, a.body).Error == nil {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
		if a.header.Get("Connection") == "close" {
			t.Errorf("%s: the connection is closed", body)
		}
	}
}

func TestAPIKey(t *testing.T) {
	s := serve(t, Options{Fast: true, APIKey: "secret"})
	for value, want := range map[string]int{"": 401, "Bearer wrong": 401, "Bearer secret": 200, "bearer secret": 200} {
		if a := s.post(chatPath, chat("x", false), "Authorization", value); a.status != want {
			t.Errorf("%q: %d, want %d", value, a.status, want)
		}
	}
	s = serve(t, Options{Fast: true, APIKey: "secret", AuthHeader: "X-Key"})
	if a := s.post(chatPath, chat("x", false), "x-key", "secret"); a.status != 200 {
		t.Errorf("own header: %d", a.status)
	}
	if a := s.get("/v1/models"); a.status != 401 {
		t.Errorf("models without the key: %d", a.status)
	}
}

func TestDisabledModels(t *testing.T) {
	s := serve(t, Options{DisableModels: true})
	if a := s.get("/v1/models"); a.status != 404 {
		t.Errorf("status %d", a.status)
	}
}

func TestErrorRate(t *testing.T) {
	s := serve(t, Options{Fast: true, ErrorRate: 30})
	failed := 0
	for range 200 {
		if a := s.post(chatPath, chat("x", false)); a.status == 500 {
			failed++
			if a.body != `{"detail":"Simulated error"}` {
				t.Fatalf("body %s", a.body)
			}
		}
	}
	if failed < 35 || failed > 85 { // 60 ± 25
		t.Errorf("%d of 200 failed", failed)
	}
}

func TestStreamFollowsAnAbsoluteSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 200 * time.Millisecond, ITL: 30 * time.Millisecond,
			TTFTPerInputToken: time.Millisecond})
		a := s.post(chatPath, chat(text(10), true, `"max_tokens":50,"ignore_eos":true`))
		for k, e := range a.events[:50] {
			if want := time.Duration(210+30*k) * time.Millisecond; e.at != want {
				t.Fatalf("event %d at %v, want %v", k, e.at, want)
			}
		}
		start := time.Now()
		s.post(chatPath, chat(text(10), false, `"max_tokens":50,"ignore_eos":true`))
		if got, want := time.Since(start), (210+30*50)*time.Millisecond; got != want {
			t.Errorf("whole reply after %v, want %v", got, want)
		}
		s.stop()
	})
}

func TestLateTokenDoesNotShiftTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 10 * time.Millisecond, ITL: 10 * time.Millisecond})
		nc, err := s.dial()
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		body := chat(text(4), true, `"max_tokens":20,"ignore_eos":true`)
		fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
		resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(95 * time.Millisecond) // the server's writes wait for the reader until here
		lines := bufio.NewScanner(resp.Body)
		k := 0
		for lines.Scan() && k < 20 {
			if !strings.HasPrefix(lines.Text(), "data: ") {
				continue
			}
			k++
			if due := time.Duration(10*k) * time.Millisecond; k >= 12 && time.Since(start) != due {
				t.Fatalf("token %d at %v, want %v", k, time.Since(start), due)
			}
		}
		nc.Close()
		s.stop()
	})
}

func TestReadyDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{Fast: true, ModelsReadyDelay: time.Second, InferReadyDelay: 2 * time.Second})
		steps := []struct{ models, infer int }{{503, 503}, {200, 503}, {200, 200}}
		time.Sleep(time.Millisecond)
		for i, want := range steps {
			if m, p := s.get("/v1/models").status, s.post(chatPath, chat("x", false)).status; m != want.models ||
				p != want.infer {
				t.Errorf("after %d s: models %d, inference %d", i, m, p)
			}
			time.Sleep(time.Second)
		}
		s.stop()
	})
}

func TestBatchServesInOrderAndRefusesBeyondTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 100 * time.Millisecond, MaxBatch: 2, MaxQueue: 2})
		type result struct {
			status int
			took   time.Duration
		}
		results := make([]result, 5)
		start := time.Now()
		for i := range results {
			go func() {
				a, _ := s.try(chatPath, chat("x", i%2 == 0))
				results[i] = result{a.status, time.Since(start)}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		ms := time.Millisecond
		want := []result{{200, 100 * ms}, {200, 100 * ms}, {200, 200 * ms}, {200, 200 * ms}, {429, 0}}
		if fmt.Sprint(results) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", results, want)
		}
		s.stop()
	})
}

func TestLeavingClientFreesItsPlace(t *testing.T) {
	for _, stream := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := servePipe(t, Options{TTFT: time.Hour, MaxBatch: 1, MaxQueue: -1})
			body := chat("x", stream)
			request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body),
				body)
			running, _ := s.dial()
			io.WriteString(running, request)
			go io.Copy(io.Discard, running)
			synctest.Wait()
			queued, _ := s.dial()
			io.WriteString(queued, request)
			go io.Copy(io.Discard, queued)
			synctest.Wait()
			if running, queued, inFlight, conns := s.load(); running != 1 || queued != 1 || inFlight != 2 ||
				conns != 2 {
				t.Fatalf("running %d, queued %d, in flight %d, connections %d", running, queued, inFlight, conns)
			}
			running.Close()
			synctest.Wait()
			if running, queued, inFlight, conns := s.load(); running != 1 || queued != 0 || inFlight != 1 ||
				conns != 1 {
				t.Errorf("after one left: running %d, queued %d, in flight %d, connections %d", running, queued,
					inFlight, conns)
			}
			queued.Close()
			synctest.Wait()
			if running, queued, inFlight, conns := s.load(); running+queued+inFlight+conns != 0 {
				t.Errorf("after both left: running %d, queued %d, in flight %d, connections %d", running, queued,
					inFlight, conns)
			}
			s.stop()
		})
	}
}

func TestLeavingTheQueueFreesNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: time.Second, MaxBatch: 1, MaxQueue: -1})
		first := make(chan int)
		go func() { first <- s.post(chatPath, chat("x", false)).status }()
		synctest.Wait()
		body := chat("x", false)
		queued, _ := s.dial()
		fmt.Fprintf(queued, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
		synctest.Wait()
		queued.Close()
		synctest.Wait()
		if running, queued, _, _ := s.load(); running != 1 || queued != 0 {
			t.Errorf("running %d, queued %d", running, queued)
		}
		if status := <-first; status != 200 {
			t.Errorf("status %d", status)
		}
		s.stop()
	})
}

func TestStopLetsRunningRequestsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: time.Second, ITL: 100 * time.Millisecond})
		idle, _ := s.dial()
		got := make(chan answer)
		go func() { got <- s.post(chatPath, chat(text(5), true, `"max_tokens":10,"ignore_eos":true`)) }()
		time.Sleep(500 * time.Millisecond)
		start := time.Now()
		go s.stop()
		a := <-got
		if r := assemble(t, a); r.tokens != 10 || !r.done {
			t.Errorf("%d tokens, done %v", r.tokens, r.done)
		}
		s.stop()
		if took := time.Since(start); took != 1400*time.Millisecond {
			t.Errorf("the stop took %v", took)
		}
		if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("idle connection: %v", err)
		}
	})
}

func TestStopCutsWhatDoesNotFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servePipe(t, Options{TTFT: 100 * time.Millisecond, ITL: 100 * time.Millisecond,
			ShutdownGrace: 2 * time.Second})
		got := make(chan answer)
		go func() { got <- s.post(chatPath, chat(text(5), true, `"max_tokens":1000,"ignore_eos":true`)) }()
		time.Sleep(time.Second)
		start := time.Now()
		go s.stop()
		if a := <-got; a.err == nil || len(a.events) < 25 {
			t.Errorf("%d events, error %v", len(a.events), a.err)
		}
		s.stop()
		if took := time.Since(start); took < 2*time.Second || took > 2200*time.Millisecond {
			t.Errorf("the stop took %v", took)
		}
	})
}

func TestServeReportsABrokenListener(t *testing.T) {
	srv, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := srv.Serve(context.Background(), ln); err == nil {
		t.Error("no error")
	}
}

func TestRunPrintsItsAddress(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	done := make(chan error)
	go func() { done <- Run(ctx, Options{Host: "127.0.0.1", Fast: true}, writer) }()
	line, _ := bufio.NewReader(reader).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok || !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Fatalf("line %q", line)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url + "/health")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// letters counts every byte as a token.
type letters struct{ tokenizer.Tokenizer }

func (letters) Name() string          { return "letters" }
func (letters) Count(text string) int { return len(text) }

func TestNewRefusesAVocabularyWithoutTheWords(t *testing.T) {
	if _, err := New(Options{Tokenizer: letters{o200k}}); err == nil ||
		!strings.Contains(err.Error(), "single tokens") {
		t.Errorf("error %v", err)
	}
}

func TestNoTokenizerCountsItsOwnWay(t *testing.T) {
	s := serve(t, Options{Fast: true, NoTokenizer: true})
	for _, stream := range []bool{false, true} {
		r := assemble(t, s.post(chatPath, chat("abcd abcd", stream, `"max_tokens":25`, `"ignore_eos":true`,
			`"stream_options":{"include_usage":true}`)))
		if r.usage.Prompt != 2 || r.usage.Completion != 25 || len(r.content) != 4*25 {
			t.Errorf("usage %+v for %q", r.usage, r.content)
		}
	}
}
