// Package chat spells conversations as a model's chat template does, to count what the server adds to the
// texts: roles, turn markers, the start of the reply.
package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
)

// Template is a chat template made ready. It is safe for concurrent use.
type Template struct {
	template *exec.Template
	bos, eos string
	// parts tells that the template looks at the parts of a content; else their texts are joined for it.
	parts bool
}

// maxRendered bounds a rendered conversation: a template may loop.
const maxRendered = 64 << 20

const root = "/chat_template"

// Parse reads a template. It can reach no file: a template is text from a stranger.
func Parse(text, bos, eos string) (*Template, error) {
	loader, err := loaders.NewMemoryLoader(map[string]string{root: rewrite(plainBlocks(text))})
	if err != nil {
		return nil, err
	}
	filters := exec.NewFilterSet(map[string]exec.FilterFunction{}).Update(builtins.Filters).
		Update(exec.NewFilterSet(map[string]exec.FilterFunction{"tojson": toJSON}))
	template, err := exec.NewTemplate(root, config.New(), loader, &exec.Environment{
		Context: exec.EmptyContext().Update(builtins.GlobalFunctions), Filters: filters, Tests: builtins.Tests,
		ControlStructures: builtins.ControlStructures, Methods: builtins.Methods,
	})
	if err != nil {
		return nil, err
	}
	return &Template{template, bos, eos, typesParts(text)}, nil
}

// plainBlocks takes the generation marks out, which only training looks at.
func plainBlocks(text string) string {
	return strings.NewReplacer(
		"{% generation %}", "", "{% endgeneration %}", "", "{%- generation %}", "{%- if true %}{%- endif %}", "{%- endgeneration %}", "{%- if true %}{%- endif %}",
		"{%- generation -%}", "{%- if true %}{%- endif -%}", "{%- endgeneration -%}", "{%- if true %}{%- endif -%}",
	).Replace(text)
}

// Render is the text of messages (the JSON of a request's "messages") up to where the reply begins.
func (t *Template) Render(messages []byte) (text string, err error) {
	var list []any
	if err := json.Unmarshal(messages, &list); err != nil {
		return "", err
	}
	if !t.parts {
		joinParts(list)
	}
	// The library may panic on what it does not expect.
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("the template fails: %v", p)
		}
	}()
	out := &limited{}
	data := map[string]any{
		"messages": list, "add_generation_prompt": true, "bos_token": t.bos, "eos_token": t.eos, "tools": nil, "documents": nil,
		"raise_exception": func(message string) (string, error) { return "", errors.New(message) },
		"pick": func(condition, a, b *exec.Value) *exec.Value {
			if condition.IsTrue() {
				return a
			}
			return b
		},
		"strftime_now": func(format string) string { return strftime(time.Now(), format) },
	}
	if err := t.template.Execute(out, exec.NewContext(maps.Clone(data))); err != nil {
		return "", err
	}
	return out.String(), nil
}

// typesParts tells whether a template looks at the types of content parts.
func typesParts(text string) bool {
	for _, s := range []string{"['type']", `["type"]`, ".type "} {
		if strings.Contains(text, s) && strings.Contains(text, "'text'") || strings.Contains(text, s) && strings.Contains(text, `"text"`) {
			return true
		}
	}
	return false
}

// joinParts makes one text of the text parts of each content, as servers do for templates that know no parts.
func joinParts(messages []any) {
	for _, m := range messages {
		message, ok := m.(map[string]any)
		if !ok {
			continue
		}
		parts, ok := message["content"].([]any)
		if !ok {
			continue
		}
		var texts []string
		for _, p := range parts {
			switch part := p.(type) {
			case string:
				texts = append(texts, part)
			case map[string]any:
				if text, ok := part["text"].(string); ok {
					texts = append(texts, text)
				}
			}
		}
		message["content"] = strings.Join(texts, "\n")
	}
}

// limited is a text of at most maxRendered bytes.
type limited struct{ strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxRendered {
		return 0, io.ErrShortWrite
	}
	return l.Builder.Write(p)
}

func (l *limited) WriteString(s string) (int, error) { return l.Write([]byte(s)) }

// strftime knows the directives that templates use.
func strftime(t time.Time, format string) string {
	return strings.NewReplacer(
		"%Y", t.Format("2006"), "%m", t.Format("01"), "%d", t.Format("02"), "%b", t.Format("Jan"), "%B", t.Format("January"),
		"%a", t.Format("Mon"), "%A", t.Format("Monday"), "%H", t.Format("15"), "%M", t.Format("04"), "%S", t.Format("05"), "%y", t.Format("06"), "%%", "%",
	).Replace(format)
}
