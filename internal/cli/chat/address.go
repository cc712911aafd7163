package chat

import (
	"errors"
	"net/url"
	"strings"
)

// Arguments configure a conversation.
type Arguments struct {
	Model, URL   string
	SystemPrompt *string
	// Quick is the only message; nil: messages are read from the input.
	Quick *string
	// History sends the turns so far with each message.
	History   bool
	APIKey    string
	Tokenizer string
}

// DefaultURL is the address unless one is given.
const DefaultURL = "http://localhost:8000"

const apiPath = "/v1/chat/completions"

// Complete makes the URL the whole address of the API and returns an error that names what is missing.
func (a *Arguments) Complete() (err error) {
	switch {
	case strings.TrimSpace(a.Model) == "":
		return errors.New("--model is required: give the name of the model to talk to, for example --model my-model")
	case a.Quick != nil && strings.TrimSpace(*a.Quick) == "":
		return errors.New("--quick needs a message")
	}
	a.URL, err = address(a.URL)
	return err
}

// address is the whole address of the API below a URL as it was typed.
func address(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	text = strings.TrimRight(text, "/")
	switch {
	case strings.HasSuffix(text, "/chat/completions"):
	case strings.HasSuffix(text, "/v1"):
		text += strings.TrimPrefix(apiPath, "/v1")
	default:
		text += apiPath
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("--url is not the address of a server; write http://host:port")
	}
	return text, nil
}
