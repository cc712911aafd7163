package public

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/rows"
)

// errOutOfLimits is the error of a row outside of the data set's limits.
var errOutOfLimits = errors.New("the row does not fit")

// converter makes turns of a row.
type converter struct {
	row     rows.Row
	reading *reading
}

// value returns a column that every row has.
func (c *converter) value(name string) (any, error) {
	v, ok := c.row[name]
	if !ok {
		return nil, fmt.Errorf("there is no column %q; there are %s", name, columns(c.row))
	}
	return v, nil
}

// text returns a column of texts; a null is an empty one.
func (c *converter) text(name string) (string, error) {
	v, err := c.value(name)
	if err != nil {
		return "", err
	}
	return asText(name, v)
}

func asText(name string, v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	return "", fmt.Errorf("the column %q does not hold text", name)
}

// list returns a column of lists; a null is an empty one.
func (c *converter) list(name string) ([]any, error) {
	v, err := c.value(name)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, fmt.Errorf("the column %q does not hold a list", name)
	}
	return list, nil
}

// object returns a value with members, or the first of a list of such.
func object(v any) map[string]any {
	for {
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			break
		}
		v = list[0]
	}
	m, _ := v.(map[string]any)
	return m
}

// textTurn returns a turn with a text, none if that is blank.
func textTurn(text string) []dataset.Turn {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []dataset.Turn{{Texts: []dataset.Media{{Name: "text", Contents: []string{text}}}}}
}

func column(name string) func(*converter) ([]dataset.Turn, error) {
	return func(c *converter) ([]dataset.Turn, error) {
		text, err := c.text(name)
		return textTurn(text), err
	}
}

// Limits of the tokens of sharegpt's rows.
const (
	leastTokens     = 4
	mostPrompt      = 1024
	mostPromptReply = 2048
)

// shareGPT takes the first question and the length of its answer.
func (c *converter) shareGPT() ([]dataset.Turn, error) {
	list, err := c.list("conversations")
	if err != nil || len(list) < 2 {
		return nil, err
	}
	prompt, err := asText("conversations", object(list[0])["value"])
	if err != nil {
		return nil, err
	}
	reply, err := asText("conversations", object(list[1])["value"])
	if err != nil {
		return nil, err
	}
	turns := textTurn(prompt)
	if turns == nil {
		return nil, nil
	}
	o := c.reading.options
	const bytesPerToken = 64 // more than any vocabulary's longest common token: spares counting whole books
	if len(prompt) > mostPrompt*bytesPerToken || len(reply) > mostPromptReply*bytesPerToken {
		return nil, errOutOfLimits
	}
	in, out := o.Count(prompt), o.Count(reply)
	if in < leastTokens || in > mostPrompt || in+out > mostPromptReply || out < leastTokens && !o.OwnLimits {
		return nil, errOutOfLimits
	}
	if !o.OwnLimits {
		turns[0].MaxTokens = &out
	}
	return turns, nil
}

func (c *converter) mmStar() ([]dataset.Turn, error) {
	question, err := c.text("question")
	if err != nil {
		return nil, err
	}
	return c.withImage(textTurn(question), "image")
}

// mmvu makes a question about a video, with its choices in the order of their letters.
func (c *converter) mmvu() ([]dataset.Turn, error) {
	question, err := c.text("question")
	if err != nil {
		return nil, err
	}
	video, err := c.value("video")
	if err != nil {
		return nil, err
	}
	content, err := c.video(video)
	if err != nil || content == "" {
		return nil, err
	}
	var choices []string
	options := object(c.row["choices"])
	var names []string
	for name := range options {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if text, ok := options[name].(string); ok && text != "" {
			choices = append(choices, name+"."+text)
		}
	}
	turns := textTurn(strings.Join(append([]string{question}, choices...), " "))
	if turns != nil {
		turns[0].Videos = []dataset.Media{{Name: "video_url", Contents: []string{content}}}
	}
	return turns, nil
}

func (c *converter) visionArena() ([]dataset.Turn, error) {
	conversation, err := c.list("conversation")
	if err != nil || len(conversation) == 0 {
		return nil, err
	}
	text, err := asText("conversation", object(conversation)["content"])
	if err != nil {
		return nil, err
	}
	return c.withImage(textTurn(text), "images")
}

func (c *converter) llava() ([]dataset.Turn, error) {
	conversations, err := c.list("conversations")
	if err != nil || len(conversations) == 0 {
		return nil, err
	}
	text, err := asText("conversations", object(conversations)["value"])
	if err != nil {
		return nil, err
	}
	return c.withImage(textTurn(strings.TrimSpace(strings.ReplaceAll(text, "<image>", ""))), "image")
}

func (c *converter) firstTurn() ([]dataset.Turn, error) {
	turns, err := c.list("turns")
	if err != nil || len(turns) == 0 {
		return nil, err
	}
	text, err := asText("turns", turns[0])
	return textTurn(text), err
}

// speedCategory returns the first turn of a row of one category; empty: of any.
func speedCategory(category string) func(*converter) ([]dataset.Turn, error) {
	return func(c *converter) ([]dataset.Turn, error) {
		if category != "" {
			own, err := c.text("category")
			if err != nil {
				return nil, err
			}
			if own != category {
				return nil, errOutOfLimits
			}
		}
		turns, err := c.firstTurn()
		if len(turns) > 0 {
			text := &turns[0].Texts[0].Contents[0]
			*text = strings.TrimSpace(*text)
		}
		return turns, err
	}
}

// allTurns returns one turn for each text of the prompt.
func (c *converter) allTurns() ([]dataset.Turn, error) {
	list, err := c.list("prompt")
	if err != nil {
		return nil, err
	}
	var turns []dataset.Turn
	for _, v := range list {
		text, err := asText("prompt", v)
		if err != nil {
			return nil, err
		}
		turns = append(turns, textTurn(text)...)
	}
	return turns, nil
}

func (c *converter) edit() ([]dataset.Turn, error) {
	code, err := c.text("code")
	if err != nil {
		return nil, err
	}
	change, err := c.text("change_request")
	if err != nil || strings.TrimSpace(code) == "" || strings.TrimSpace(change) == "" {
		return nil, err
	}
	return textTurn("Make the change that is described below the following file.\n\n```python\n" + code +
		"\n```\n\nThe change: " + change + "\n\nAnswer with the whole new file."), nil
}

// withImage puts the picture of a column into a turn.
func (c *converter) withImage(turns []dataset.Turn, name string) ([]dataset.Turn, error) {
	v, err := c.value(name)
	if err != nil || turns == nil {
		return nil, err
	}
	picture, err := c.image(v)
	if err != nil {
		return nil, fmt.Errorf("the column %q: %w", name, err)
	}
	if picture != "" {
		turns[0].Images = []dataset.Media{{Name: "image_url", Contents: []string{picture}}}
	}
	return turns, nil
}

func (c *converter) speech() ([]dataset.Turn, error) {
	v, err := c.value("audio")
	if err != nil {
		return nil, err
	}
	sound, seconds, err := c.audio(v)
	if err != nil || sound == "" {
		return nil, err
	}
	return []dataset.Turn{{
		Audios:       []dataset.Media{{Name: "input_audio", Contents: []string{sound}}},
		AudioSeconds: seconds,
	}}, nil
}
