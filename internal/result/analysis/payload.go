package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// promptText is a text of a request body with its role.
type promptText struct{ role, text string }

// promptMembers are the members of a body with a conversation or a prompt, in the order of the page, and the
// role of a text in them.
var promptMembers = []struct{ key, role string }{
	{"system", "system"}, {"systemInstruction", "system"}, {"instructions", "system"}, {"tools", "tools"},
	{"messages", "user"}, {"contents", "user"}, {"prompt", "user"}, {"input", "user"}, {"inputs", "user"},
	{"text", "user"}, {"texts", "user"},
	{"query", "query"}, {"passages", "passages"}, {"documents", "documents"},
}

// messages returns the messages of a request body. A body of unknown form is one message.
func messages(payload []byte) []promptText {
	var body map[string]json.RawMessage
	if json.Unmarshal(payload, &body) != nil {
		var text string
		if json.Unmarshal(payload, &text) != nil {
			text = string(payload)
		}
		if text == "" {
			return nil
		}
		return []promptText{{"body", text}}
	}
	var out []promptText
	for _, m := range promptMembers {
		if value, ok := body[m.key]; ok {
			out = append(out, memberTexts(m.key, m.role, value)...)
		}
	}
	if len(out) == 0 && len(body) > 0 {
		return []promptText{{"body", indented(payload)}}
	}
	return out
}

// memberTexts returns the messages of one member.
func memberTexts(key, role string, value json.RawMessage) []promptText {
	if key == "tools" {
		return []promptText{{role, indented(value)}}
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return []promptText{{role, content(value)}}
	}
	var id json.Number
	if len(items) > 0 && json.Unmarshal(items[0], &id) == nil && items[0][0] != '"' {
		return []promptText{{role, string(value)}} // a prompt as token ids
	}
	var out []promptText
	for _, item := range items {
		out = append(out, message(role, item))
	}
	return out
}

// message is one item of a list: an object with a role, or a text.
func message(role string, item json.RawMessage) promptText {
	var m map[string]json.RawMessage
	if json.Unmarshal(item, &m) != nil {
		return promptText{role, content(item)}
	}
	var named string
	if json.Unmarshal(m["role"], &named) == nil && named != "" {
		role = named
	}
	var parts []string
	for _, key := range [...]string{"reasoning_content", "content", "parts", "text"} {
		if value, ok := m[key]; ok {
			if text := content(value); text != "" {
				parts = append(parts, text)
			}
		}
	}
	if calls, ok := m["tool_calls"]; ok {
		parts = append(parts, indented(calls))
	}
	if len(parts) == 0 {
		parts = append(parts, indented(item))
	}
	return promptText{role, strings.Join(parts, "\n")}
}

// content returns the text of a value: a string itself, the parts of a list, or the JSON of anything else.
func content(value json.RawMessage) string {
	var text *string
	if json.Unmarshal(value, &text) == nil {
		if text == nil {
			return ""
		}
		return *text
	}
	var parts []json.RawMessage
	if json.Unmarshal(value, &parts) == nil {
		var out []string
		for _, p := range parts {
			out = append(out, part(p))
		}
		return strings.Join(out, "\n")
	}
	return part(value)
}

// part returns the text of a content part, or a description of an image or audio.
func part(value json.RawMessage) string {
	var p struct {
		Type, Text string
		ImageURL   json.RawMessage `json:"image_url"`
		VideoURL   json.RawMessage `json:"video_url"`
		InputAudio *struct {
			Data, Format string
		} `json:"input_audio"`
	}
	if json.Unmarshal(value, &p) != nil {
		return scalarText(value)
	}
	switch {
	case p.Text != "":
		return p.Text
	case p.ImageURL != nil:
		return "[image " + address(p.ImageURL) + "]"
	case p.VideoURL != nil:
		return "[video " + address(p.VideoURL) + "]"
	case p.InputAudio != nil:
		return fmt.Sprintf("[audio %s, %d characters of base64]", p.InputAudio.Format, len(p.InputAudio.Data))
	}
	return indented(value)
}

// scalarText returns the text of a value that is neither a list nor an object.
func scalarText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return indented(value)
}

// address returns a URL, or the size of a data URL.
func address(value json.RawMessage) string {
	var text string
	var object struct{ URL string }
	if json.Unmarshal(value, &text) != nil && json.Unmarshal(value, &object) == nil {
		text = object.URL
	}
	if head, data, ok := strings.Cut(text, ","); ok && strings.HasPrefix(text, "data:") {
		return fmt.Sprintf("%s, %d characters", head, len(data))
	}
	return text
}

func indented(value []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, value, "", "  ") != nil {
		return string(value)
	}
	return out.String()
}
