//go:build ignore

// The chat endpoint on Go's net/http.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
)

var words = []string{"the", "of", "and", "to", "in", "is", "that", "for"}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

type request struct {
	Model    string
	Stream   bool
	Max      int `json:"max_completion_tokens"`
	Messages []struct{ Content string }
}

type server struct {
	mu       sync.Mutex
	requests int
	total    usage
	peers    map[string]bool
}

type object = map[string]any

func (s *server) count(asked *request, peer string) usage {
	u := usage{Completion: asked.Max}
	for _, m := range asked.Messages {
		u.Prompt += len(strings.Fields(m.Content))
	}
	u.Total = u.Prompt + u.Completion
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[peer] = true
	s.requests++
	s.total.Prompt += u.Prompt
	s.total.Completion += u.Completion
	return u
}

func (s *server) complete(w http.ResponseWriter, r *http.Request) {
	var asked request
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u := s.count(&asked, r.RemoteAddr)
	text := make([]string, asked.Max)
	for i := range text {
		text[i] = " " + words[i%len(words)]
	}
	if !asked.Stream {
		message := object{"role": "assistant", "content": strings.Join(text, "")}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object{"id": "1", "object": "chat.completion", "model": asked.Model, "usage": u,
			"choices": []object{{"index": 0, "message": message, "finish_reason": "stop"}}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(choices []object, u *usage) {
		data, _ := json.Marshal(object{"id": "1", "object": "chat.completion.chunk", "model": asked.Model,
			"choices": choices, "usage": u})
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	for _, word := range text {
		event([]object{{"index": 0, "delta": object{"content": word}}}, nil)
	}
	event([]object{{"index": 0, "delta": object{}, "finish_reason": "stop"}}, nil)
	event([]object{}, &u)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (s *server) tally(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(object{"requests": s.requests, "prompt_tokens": s.total.Prompt,
		"completion_tokens": s.total.Completion, "connections": len(s.peers)})
}

func main() {
	s := &server{peers: map[string]bool{}}
	http.HandleFunc("POST /v1/chat/completions", s.complete)
	http.HandleFunc("/tally", s.tally)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
