package client

import (
	"strings"
	"testing"
)

func TestTrapURLJoins(t *testing.T) {
	tests := []struct{ base, path, want string }{
		{"localhost:8000", "/v1/chat/completions", "http://localhost:8000/v1/chat/completions"},
		{"http://h/v1/", "/v1/chat/completions", "http://h/v1/chat/completions"},
		{"http://h/v1/chat/completions", "/v1/chat/completions", "http://h/v1/chat/completions"},
		{"http://h/v1?api-version=2", "/v1/chat/completions", "http://h/v1/chat/completions?api-version=2"},
		{"HTTP://h:1/proxy", "/v1/embeddings", "http://h:1/proxy/v1/embeddings"},
		{"http://h/v1", "v2/rerank", "http://h/v1/v2/rerank"},
		{"http://h/base", "", "http://h/base"},
		{"http://h/", "", "http://h"},
		{"https://h", "/v1/models", "https://h/v1/models"},
		{"h/v1", "v1/models", "http://h/v1/models"},
		{"http://h/xv1", "v1/models", "http://h/xv1/v1/models"},
		{"http://h/?a=1&b=2&a=3", "x", "http://h/x?a=1&b=2"},
		{"http://h?q=a%20b%2Fc", "x", "http://h/x?q=a+b%2Fc"},
		{"http://h?a=1", "x?b=2", "http://h/x?b=2&a=1"},
		{"http://u:p@h/v1", "v1/x", "http://u:p@h/v1/x"},
		{"[::1]:8000", "/x", "http://[::1]:8000/x"},
		{"http://h/a%20b", "/x", "http://h/a%20b/x"},
	}
	for _, tt := range tests {
		got, err := JoinURL(tt.base, tt.path)
		if err != nil || got != tt.want {
			t.Errorf("JoinURL(%q, %q) = %q, %v; want %q", tt.base, tt.path, got, err, tt.want)
		}
	}
}

func TestURLErrorsNameTheURLWithoutItsSecrets(t *testing.T) {
	tests := []struct{ base, want string }{
		{"ftp://user:secret@h/x", "No transport found for URL scheme 'ftp' in: ftp://<redacted>@h/x"},
		{"http://", "has no host"},
		{"http:///path", "has no host"},
		{":8000", "has no host"},
		{"http://user:secret@h:port/", `URL "http://<redacted>@h:port/" cannot be read`},
	}
	for _, tt := range tests {
		_, err := JoinURL(tt.base, "/x")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("JoinURL(%q): error %v, want %q", tt.base, err, tt.want)
		}
	}
}
