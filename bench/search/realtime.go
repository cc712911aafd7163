package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// handler serves a [Server] over HTTP in real time, for searches of other programs: with its speed, its batch and its
// prompts.
type handler struct {
	server Server
	mu     sync.Mutex
	random *rand.Rand
	queue  []*streamed
	batch  []*streamed
	wake   chan struct{}
}

type streamed struct {
	prompt float64 // seconds of work on it that are left
	tokens int     // still to be made
	events chan int
}

// newHandler returns a handler whose engine runs as long as the program.
func newHandler(s Server) *handler {
	h := &handler{server: s, random: rand.New(rand.NewPCG(1, 1)), wake: make(chan struct{}, 1)}
	go h.run()
	return h
}

// run takes steps: each reply of the batch gets a token, and the prompts the time of the step.
func (h *handler) run() {
	due := time.Now()
	for {
		h.mu.Lock()
		idle := len(h.queue)+len(h.batch) == 0
		seconds := h.stepTime()
		h.mu.Unlock()
		if idle {
			<-h.wake
			due = time.Now()
			continue
		}
		due = due.Add(time.Duration(seconds * float64(time.Second)))
		time.Sleep(time.Until(due))
		h.step(seconds)
	}
}

// stepTime is the time of the next step.
func (h *handler) stepTime() float64 {
	s, n := &h.server, len(h.batch)
	t := s.Step + s.Each*float64(n) + s.Beyond*float64(max(0, n-s.Knee))
	if s.Cliff > 0 && n >= s.Cliff {
		t /= s.CliffSpeed
	}
	if len(h.queue) > 0 && len(h.batch) < s.Batch {
		t /= 1 - s.Stall
	}
	return t
}

func (h *handler) step(seconds float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.batch {
		r.tokens--
		r.events <- r.tokens
	}
	h.batch = slices.DeleteFunc(h.batch, func(r *streamed) bool { return r.tokens == 0 })
	for len(h.queue) > 0 && len(h.batch) < h.server.Batch && seconds > 0 {
		r := h.queue[0]
		done := min(seconds, r.prompt)
		seconds -= done
		if r.prompt -= done; r.prompt > 0 {
			return
		}
		h.queue = h.queue[1:]
		r.tokens--
		r.events <- r.tokens
		if r.tokens > 0 {
			h.batch = append(h.batch, r)
		}
	}
}

func (h *handler) add(tokens int) *streamed {
	r := &streamed{tokens: tokens, events: make(chan int, tokens)}
	h.mu.Lock()
	defer h.mu.Unlock()
	v := math.Log1p(h.server.PrefillCV * h.server.PrefillCV)
	r.prompt = h.server.Prefill * math.Exp(math.Sqrt(v)*h.random.NormFloat64()-v/2)
	h.queue = append(h.queue, r)
	select {
	case h.wake <- struct{}{}:
	default:
	}
	return r
}

// ServeHTTP answers a request.
func (h *handler) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	switch {
	case strings.HasSuffix(q.URL.Path, "/models"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"mock-model","object":"model","created":0,"owned_by":"bench"}]}`)
		return
	case q.URL.Path == "/health":
		return
	case q.Method != http.MethodPost || !strings.HasSuffix(q.URL.Path, "/completions"):
		http.NotFound(w, q)
		return
	}
	var body struct {
		MaxTokens           int  `json:"max_tokens"`
		MaxCompletionTokens int  `json:"max_completion_tokens"`
		Stream              bool `json:"stream"`
	}
	if err := json.NewDecoder(q.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	tokens := max(body.MaxTokens, body.MaxCompletionTokens)
	if tokens == 0 {
		tokens = int(h.server.Tokens)
	}
	h.reply(w, h.add(tokens), tokens, body.Stream, strings.HasSuffix(q.URL.Path, "/chat/completions"))
}

func (h *handler) reply(w http.ResponseWriter, r *streamed, tokens int, stream, chat bool) {
	usage := fmt.Sprintf(`"usage":{"prompt_tokens":16,"completion_tokens":%d,"total_tokens":%d}`, tokens, tokens+16)
	object, choice := "text_completion", `{"index":0,"text":" a"`
	if chat {
		object, choice = "chat.completion.chunk", `{"index":0,"delta":{"content":" a"}`
	}
	head := `{"id":"bench","object":"` + object + `","created":0,"model":"mock-model","choices":[`
	if !stream {
		for left := range r.events {
			if left == 0 {
				break
			}
		}
		text := strings.Repeat(" a", tokens)
		choice = `{"index":0,"text":"` + text + `","finish_reason":"length"}`
		if chat {
			choice = `{"index":0,"message":{"role":"assistant","content":"` + text + `"},"finish_reason":"length"}`
			head = strings.Replace(head, ".chunk", "", 1)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, head+choice+"],"+usage+"}")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for left := range r.events {
		finish := `null`
		if left == 0 {
			finish = `"length"`
		}
		fmt.Fprintf(w, "data: %s%s,\"finish_reason\":%s}]}\n\n", head, choice, finish)
		w.(http.Flusher).Flush()
		if left == 0 {
			break
		}
	}
	fmt.Fprintf(w, "data: %s],%s}\n\ndata: [DONE]\n\n", head, usage)
}
