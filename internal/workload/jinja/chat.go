package jinja

import (
	"errors"
	"strings"
	"time"
)

// ChatTemplate is a chat template made ready. It is safe for concurrent use.
type ChatTemplate struct {
	template *Template
	bos, eos string
	// parts reports whether the template reads the parts of a content; else their texts are joined for it.
	parts bool
}

// ParseChat reads a template.
func ParseChat(text, bos, eos string) (*ChatTemplate, error) {
	template, err := Compile(plainBlocks(text), Options{Chat: true})
	if err != nil {
		return nil, err
	}
	return &ChatTemplate{template, bos, eos, typesParts(text)}, nil
}

// plainBlocks removes the generation tags, which only training uses.
func plainBlocks(text string) string {
	return strings.NewReplacer(
		"{% generation %}", "", "{% endgeneration %}", "", "{%- generation %}", "{%- if true %}{%- endif %}",
		"{%- endgeneration %}", "{%- if true %}{%- endif %}",
		"{%- generation -%}", "{%- if true %}{%- endif -%}", "{%- endgeneration -%}", "{%- if true %}{%- endif -%}",
	).Replace(text)
}

// Render returns the text of messages (the JSON of a request's "messages") up to where the reply begins.
func (t *ChatTemplate) Render(messages []byte) (text string, err error) {
	list, err := decode(messages)
	if err != nil {
		return "", err
	}
	if !t.parts {
		joinParts(list)
	}
	return t.template.Render(map[string]any{
		"messages": python(list), "add_generation_prompt": true, "bos_token": t.bos, "eos_token": t.eos,
		"tools": None, "documents": None,
		"raise_exception": func(message string) (string, error) { return "", errors.New(message) },
		"strftime_now":    func(format string) string { return strftime(time.Now(), format) },
	})
}

// typesParts reports whether a template reads the types of content parts.
func typesParts(text string) bool {
	for _, s := range []string{"['type']", `["type"]`, ".type "} {
		if strings.Contains(text, s) && strings.Contains(text, "'text'") || strings.Contains(text, s) &&
			strings.Contains(text, `"text"`) {
			return true
		}
	}
	return false
}

// joinParts makes one text of the text parts of each content, as servers do for templates that know no parts.
func joinParts(messages []any) {
	for _, m := range messages {
		message, ok := m.(*object)
		if !ok {
			continue
		}
		parts, ok := message.members["content"].([]any)
		if !ok {
			continue
		}
		var texts []string
		for _, p := range parts {
			switch part := p.(type) {
			case string:
				texts = append(texts, part)
			case *object:
				if text, ok := part.members["text"].(string); ok {
					texts = append(texts, text)
				}
			}
		}
		message.members["content"] = strings.Join(texts, "\n")
	}
}

// strftime knows the directives that templates use.
func strftime(t time.Time, format string) string {
	return strings.NewReplacer(
		"%Y", t.Format("2006"), "%m", t.Format("01"), "%d", t.Format("02"), "%b", t.Format("Jan"), "%B",
		t.Format("January"),
		"%a", t.Format("Mon"), "%A", t.Format("Monday"), "%H", t.Format("15"), "%M", t.Format("04"), "%S",
		t.Format("05"), "%y", t.Format("06"), "%%", "%",
	).Replace(format)
}
