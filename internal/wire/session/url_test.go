package session

import (
	"testing"

	"aiperf/internal/wire/api"
)

func TestTrapURLJoins(t *testing.T) {
	empty, custom, query := "", "/my/chat", "/v1/x?api-version=2"
	for _, c := range []struct {
		base, name string
		streaming  bool
		custom     *string
		want       string
	}{
		{"localhost:8000", "chat", false, nil, "http://localhost:8000/v1/chat/completions"},
		{"http://h/v1/", "chat", false, nil, "http://h/v1/chat/completions"},
		{"http://h/v1/chat/completions", "chat", false, nil, "http://h/v1/chat/completions"},
		{"http://h/v1?api-version=2", "chat", false, nil, "http://h/v1/chat/completions?api-version=2"},
		{"HTTP://h:1/proxy", "embeddings", false, nil, "http://h:1/proxy/v1/embeddings"},
		{"http://h/v1", "cohere_rankings", false, nil, "http://h/v1/v2/rerank"},
		{"http://h/base", "chat", false, &empty, "http://h/base"},
		{"http://h", "huggingface_generate", true, nil, "http://h/generate_stream"},
		{"http://h", "huggingface_generate", true, &custom, "http://h/my/chat"},
		{"http://h", "chat", true, &query, "http://h/v1/x?api-version=2"},
		{"http://h", "template", false, nil, "http://h"},
	} {
		d, _ := api.Lookup(c.name)
		got, err := URLs(d, []string{c.base}, c.streaming, c.custom)
		if err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s + %s: got %q, %v; want %q", c.base, c.name, got, err, c.want)
		}
	}
	d, _ := api.Lookup("chat")
	if got, err := URLs(d, []string{"h", "ftp://h"}, false, nil); err == nil {
		t.Errorf("a scheme without transport was taken: %v", got)
	}
}
