package endpoint

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jmespath-community/go-jmespath"

	"aiperf/internal/base/bounded"
	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/jinja"
)

// template makes bodies by a template of the user's.
type template struct {
	documents
	source string
	// file is the source's, empty for a text of the command line.
	file     string
	compiled *jinja.Template
	escaped  once
}

// The extra inputs that configure the template; they are not sent.
const (
	templateKey = "payload_template"
	fieldKey    = "response_field"
)

// namedTemplates are the built-in templates by name.
var namedTemplates = map[string]string{"nv-embedqa": `{"text": {{ texts|tojson }}}`}

// newTemplate returns an endpoint whose body is a template: a known one by name, the text of a file, or the text
// itself, in this order. A template that is a path of no file is an error, as it would be sent as it is.
func newTemplate(d Descriptor, o Options) (Endpoint, error) {
	e := &template{documents: documents{shared: shared{descriptor: d, options: o}}, escaped: once{warn: o.Warn}}
	var read autoReader
	for _, m := range newOverrides(o.Extra) {
		switch m.Name {
		case templateKey:
			e.source = jsonscan.Text(m.Value)
		case fieldKey:
			field, err := jmespath.Compile(jsonscan.Text(m.Value))
			if err != nil {
				if o.Warn != nil {
					o.Warn(fmt.Sprintf("--extra-inputs %s: %s is not a JMESPath expression (%v); answers are looked "+
						"for by their usual names.", fieldKey, m.Value, err))
				}
				continue
			}
			read.field = field
		default:
			e.over = append(e.over, m)
		}
	}
	if e.source == "" {
		return nil, fmt.Errorf("--endpoint-type template needs a template: give --extra-inputs %s:TEXT, the path of "+
			"a file or the name nv-embedqa", templateKey)
	}
	where := "--extra-inputs " + templateKey
	if named, ok := namedTemplates[e.source]; ok {
		e.source = named
	} else if text, err := bounded.ReadFile(e.source); err == nil {
		where, e.file, e.source = e.source, e.source, string(text)
	} else if !strings.Contains(e.source, "{") && !jsonscan.Valid([]byte(e.source)) {
		// No values make JSON of it: it is probably the name of a file.
		return nil, fmt.Errorf("%s: %s is neither a template nor a readable file: %w", where, clip(e.source, 200),
			err)
	}
	var err error
	if e.compiled, err = jinja.Compile(e.source, jinja.Options{Escape: true}); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	e.decoders = newDecoders(func() documentReader { return read })
	return e, nil
}

// PerRequest implements Individual.
func (e *template) PerRequest() bool { return strings.Contains(e.source, "request_info") }

func (e *template) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if turn == nil {
		return nil, valueError("The request has no current turn.")
	}
	text, err := e.compiled.Render(e.variables(c))
	if err != nil {
		name := "Template"
		if e.file != "" {
			name += " " + e.file
		}
		return nil, valueError(name + " could not be rendered: " + err.Error())
	}
	rendered := []byte(text)
	if !jsonscan.Valid(rendered) {
		return nil, valueError("Template did not render valid JSON: " + clip(text, 100))
	}
	e.lookForEntities(text, turn)
	over := e.over.with(turn.Extra)
	w := objectWriter{buf: make([]byte, 0, len(rendered)), over: over, authored: true}
	object := rendered[jsonscan.Space(rendered, 0)] == '{'
	switch {
	case object:
		for m := range jsonscan.Members(rendered) {
			if w.key(string(m.Key)) {
				w.buf = jsonscan.AppendCompact(w.buf, m.Value)
			}
		}
	case len(over) > 0:
		return nil, valueError("Template did not render a JSON object, into which the extra inputs could be merged: " +
			clip(text, 100))
	}
	body := newBody(nil, e.options.Streaming)
	if object {
		body = w.end(e.options.Streaming, false)
		if asked := jsonscan.Find(body.Bytes, "stream"); asked != nil {
			body.Stream = string(asked) == "true"
		}
	} else {
		body.Bytes = jsonscan.AppendCompact(nil, rendered)
	}
	body.fallback = strings.Join(filled(turn.Texts), " ")
	return body, nil
}

// lookForEntities warns of a text that was escaped for HTML, which no server undoes.
func (e *template) lookForEntities(text string, turn *dataset.Turn) {
	for _, entity := range [...]string{"&#34;", "&#39;", "&lt;", "&gt;", "&amp;"} {
		if !strings.Contains(text, entity) || strings.Contains(e.source, entity) {
			continue
		}
		inInput := false
		for content := range contents(turn.Texts) {
			inInput = inInput || strings.Contains(content, entity)
		}
		if !inInput {
			e.escaped.say("The template escapes texts for HTML: " + entity +
				" stands in a request but not in its input. Print texts with the filter tojson, as in {{ text|tojson }}.")
			return
		}
	}
}

// variables are what a template can name.
func (e *template) variables(c *Context) map[string]any {
	turn := c.current()
	v := map[string]any{
		"model": modelOf(turn.Model, e.options.Model), "max_tokens": optional(turn.MaxTokens),
		"role": roleOf(turn), "stream": e.options.Streaming, "turn": turnValue(turn),
	}
	for _, m := range [...]struct {
		singular, plural string
		list             []dataset.Media
	}{{"text", "texts", turn.Texts}, {"image", "images", turn.Images}, {"audio", "audios", turn.Audios},
		{"video", "videos", turn.Videos}} {
		all := []string{}
		byName := map[string]any{}
		for _, item := range m.list {
			all = append(all, item.Contents...)
			earlier, _ := byName[item.Name].([]string)
			byName[item.Name] = append(earlier, item.Contents...)
		}
		v[m.plural], v[m.singular], v[m.plural+"_by_name"] = all, first(all), byName
	}
	byName := v["texts_by_name"].(map[string]any)
	queries := named(byName, "query")
	passages := named(byName, "passages")
	if len(passages) == 0 {
		passages = named(byName, "passage")
	}
	v["queries"], v["query"], v["passages"], v["passage"] = queries, first(queries), passages, first(passages)
	turns := []any{}
	for _, t := range c.Turns {
		if t.Turn != nil {
			turns = append(turns, turnValue(t.Turn))
		} else if t.Assistant != nil {
			turns = append(turns, replyValue(t.Assistant))
		}
	}
	v["turns"] = turns
	v["request_info"] = map[string]any{
		"x_request_id": c.RequestID, "x_correlation_id": c.CorrelationID, "conversation_id": c.ConversationID,
		"turn_index": c.TurnIndex, "turns": turns, "system_message": optional(c.SystemMessage),
		"user_context_message": optional(c.UserContext),
	}
	return v
}

func named(byName map[string]any, name string) []string {
	list, _ := byName[name].([]string)
	if list == nil {
		list = []string{}
	}
	return list
}

func first(list []string) any {
	if len(list) == 0 {
		return jinja.None
	}
	return list[0]
}

// optional is what p points to, or None.
func optional[T any](p *T) any {
	if p == nil {
		return jinja.None
	}
	return *p
}

func roleOf(t *dataset.Turn) string {
	if t.Role == "" {
		return "user"
	}
	return t.Role
}

// turnValue is a turn as templates see it.
func turnValue(t *dataset.Turn) map[string]any {
	return map[string]any{
		"model": t.Model, "role": roleOf(t), "timestamp": optional(t.TimestampMS), "delay": optional(t.DelayMS),
		"max_tokens": optional(t.MaxTokens), "texts": mediaValue(t.Texts), "images": mediaValue(t.Images),
		"audios": mediaValue(t.Audios), "videos": mediaValue(t.Videos),
	}
}

func mediaValue(list []dataset.Media) []any {
	all := []any{}
	for _, m := range list {
		all = append(all, map[string]any{"name": m.Name, "contents": m.Contents})
	}
	return all
}

// replyValue is a captured reply as a turn.
func replyValue(message []byte) map[string]any {
	var m struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(message, &m) // a reply of tool calls alone has no text
	return turnValue(&dataset.Turn{Role: "assistant", Texts: []dataset.Media{{Contents: []string{m.Content}}}})
}
