package benchmark

import (
	"errors"
	"net/url"
	"strings"
)

// chatArguments configure a conversation.
type chatArguments struct {
	Model, URL   string
	SystemPrompt *string
	// Quick is the only message; nil: messages are read from the input.
	Quick *string
	// History sends the turns so far with each message.
	History   bool
	APIKey    string
	Tokenizer string
}

// chatDefaultURL is the address unless one is given.
const chatDefaultURL = "http://localhost:8000"

const chatPath = "/v1/chat/completions"

// Complete makes the URL the whole address of the API and returns an error that names what is missing.
func (a *chatArguments) Complete() (err error) {
	switch {
	case strings.TrimSpace(a.Model) == "":
		return errors.New("--model is required: give the name of the model to talk to, for example --model my-model")
	case a.Quick != nil && strings.TrimSpace(*a.Quick) == "":
		return errors.New("--quick needs a message")
	}
	a.URL, err = chatAddress(a.URL)
	return err
}

// chatAddress is the whole address of the API below a URL as it was typed.
func chatAddress(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	text = strings.TrimRight(text, "/")
	switch {
	case strings.HasSuffix(text, "/chat/completions"):
	case strings.HasSuffix(text, "/v1"):
		text += strings.TrimPrefix(chatPath, "/v1")
	default:
		text += chatPath
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("--url is not the address of a server; write http://host:port")
	}
	return text, nil
}
