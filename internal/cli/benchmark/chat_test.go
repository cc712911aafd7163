package benchmark_test

import (
	"testing"

	"aiperf/internal/cli/benchmark"
)

func TestChatFlags(t *testing.T) {
	a, err := benchmark.ParseChat("-m", "x", "--no_history", "-q", "hi", "--system-prompt", "")
	if err != nil || a.History || *a.Quick != "hi" || a.APIKey != "" || a.SystemPrompt == nil ||
		a.URL != "http://localhost:8000/v1/chat/completions" {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := benchmark.ParseChat("--model=x", "--api-key",
		"mine"); err != nil || !a.History || a.Quick != nil || a.APIKey != "mine" {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := benchmark.ParseChat("-mx", "--history", "--no-history=false"); err != nil || !a.History || a.Model != "x" {
		t.Errorf("%+v %v", a, err)
	}
	for _, args := range [][]string{
		{}, {"-m", "x", "hello"}, {"-m", "x", "--history", "--no-history"}, {"-m", "x", "-q", " "}, {"-m", "x",
			"--nothing"},
		{"-m", "x", "-u", "ftp://h"},
	} {
		if _, err := benchmark.ParseChat(args...); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
