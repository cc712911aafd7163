package chat_test

import (
	"testing"

	"aiperf/internal/cli/chat"
)

func parseChat(args ...string) (*chat.Arguments, error) {
	o := chat.Options{Arguments: chat.Arguments{URL: chat.DefaultURL}}
	words, err := o.Table().Parse(args)
	if err == nil {
		err = o.Complete(words)
	}
	return &o.Arguments, err
}

func TestChatFlags(t *testing.T) {
	a, err := parseChat("-m", "x", "--no_history", "-q", "hi", "--system-prompt", "")
	if err != nil || a.History || *a.Quick != "hi" || a.APIKey != "" || a.SystemPrompt == nil ||
		a.URL != "http://localhost:8000/v1/chat/completions" {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := parseChat("--model=x", "--api-key",
		"mine"); err != nil || !a.History || a.Quick != nil || a.APIKey != "mine" {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := parseChat("-mx", "--history", "--no-history=false"); err != nil || !a.History || a.Model != "x" {
		t.Errorf("%+v %v", a, err)
	}
	for _, args := range [][]string{
		{}, {"-m", "x", "hello"}, {"-m", "x", "--history", "--no-history"}, {"-m", "x", "-q", " "}, {"-m", "x",
			"--nothing"},
		{"-m", "x", "-u", "ftp://h"},
	} {
		if _, err := parseChat(args...); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
