package compose

import (
	"encoding/json"
	"math"
)

// ChatCounter counts the tokens of a conversation (the JSON of "messages") as its chat template spells it, up to
// where the reply begins. ok is false if the template refuses it.
type ChatCounter interface {
	CountMessages(messages []byte) (n int, ok bool)
}

// templateSamples are texts around which the template is measured.
var templateSamples = []string{"Hello.", "What is the capital of France?",
	"Name three rivers, two lakes and one sea that you know."}

// measureTemplate finds what a chat template adds: fixed tokens once, and wrap tokens around each message. Nothing if
// there is no template, or none that adds evenly.
func (b *builder) measureTemplate() (fixed, wrap int) {
	if b.Template == nil || b.tok == nil {
		return 0, 0
	}
	var fixedSum, wrapSum float64
	for _, s := range templateSamples {
		one, ok := b.Template.CountMessages(messagesOf(s, 1))
		three, ok3 := b.Template.CountMessages(messagesOf(s, 3))
		if !ok || !ok3 {
			return 0, 0
		}
		bare := float64(b.tok.Count(s))
		around := (float64(three-one) - 2*bare) / 2
		wrapSum += around
		fixedSum += float64(one) - bare - around
	}
	n := float64(len(templateSamples))
	fixed, wrap = int(math.RoundToEven(fixedSum/n)), int(math.RoundToEven(wrapSum/n))
	if fixed < 0 || wrap < 0 {
		return 0, 0
	}
	return fixed, wrap
}

// messagesOf returns a conversation of n messages that all say text, the user first.
func messagesOf(text string, n int) []byte {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var list []message
	for i := range n {
		list = append(list, message{[]string{"user", "assistant"}[i%2], text})
	}
	data, err := json.Marshal(list)
	if err != nil {
		panic(err) // two strings have a form in JSON
	}
	return data
}

// contentTokens returns the length of the first text of a turn without what its mark and the chat template add to it.
func (b *builder) contentTokens(n, turn int, prefix string) int {
	cost := b.wrapCost
	if turn == 0 {
		cost += b.fixedCost + b.markCost
	}
	floor := 1
	if prefix != "" {
		floor = 0
	}
	return max(min(n, floor), n-cost)
}
