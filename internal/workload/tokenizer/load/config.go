package load

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"aiperf/internal/workload/tokenizer"
)

// tokenizerConfig is what is used of tokenizer_config.json and special_tokens_map.json.
type tokenizerConfig struct {
	BOS, EOS       string
	AddBOS, AddEOS *bool
	DoLowerCase    *bool
	Class          string
	// Template is the chat template; Custom reports whether the class is code of the repository.
	Template string
	Custom   bool
	Found    bool
	// Code names the code of the repository.
	Code string
	// pattern says how text is split, tokens are the special ones by id: rank files need them.
	pattern, tokens json.RawMessage
}

// rankConfig returns what a rank file needs of the configuration.
func (c *tokenizerConfig) rankConfig() (TiktokenConfig, error) {
	b := TiktokenConfig{Code: c.Code, BOS: c.BOS, EOS: c.EOS, AddBOS: c.AddBOS, AddEOS: c.AddEOS}
	if len(c.pattern) > 0 {
		if err := json.Unmarshal(c.pattern, &b.Pattern); err != nil {
			return b, fmt.Errorf("%s: pat_str: %w", configJSON, err)
		}
	}
	if len(c.tokens) > 0 {
		var tokens map[int]token
		if err := json.Unmarshal(c.tokens, &tokens); err != nil {
			return b, fmt.Errorf("%s: added_tokens_decoder: %w", configJSON, err)
		}
		for id, text := range tokens {
			b.Specials = append(b.Specials, tokenizer.Special{Text: string(text), ID: id})
		}
	}
	return b, nil
}

// added returns the number of tokens that a SentencePiece model's class puts around a text; -1 is the usual.
func (c *tokenizerConfig) added() int {
	if c.AddBOS == nil && c.AddEOS == nil {
		return -1
	}
	n := 0
	if c.AddBOS == nil || *c.AddBOS {
		n++
	}
	if c.AddEOS != nil && *c.AddEOS {
		n++
	}
	return n
}

// config reads the settings of a tokenizer out of its files; what they do not have keeps its zero value. The file of
// special tokens only fills in what the configuration lacks. A file that is not valid counts as absent: the tokenizer
// itself may be.
func (b *Bundle) config() *tokenizerConfig {
	if b.packed != nil {
		return b.label.Config
	}
	c := &tokenizerConfig{}
	for _, name := range []string{configJSON, specialsJSON} {
		data, err := fs.ReadFile(b.files, name)
		if err != nil {
			continue
		}
		var raw struct {
			BOS          token           `json:"bos_token"`
			EOS          token           `json:"eos_token"`
			AddBOS       *bool           `json:"add_bos_token"`
			AddEOS       *bool           `json:"add_eos_token"`
			DoLowerCase  *bool           `json:"do_lower_case"`
			Class        string          `json:"tokenizer_class"`
			ChatTemplate json.RawMessage `json:"chat_template"`
			AutoMap      json.RawMessage `json:"auto_map"`
			Pattern      json.RawMessage `json:"pat_str"`
			Tokens       json.RawMessage `json:"added_tokens_decoder"`
		}
		if json.Unmarshal(data, &raw) != nil {
			continue
		}
		c.Found = true
		if c.BOS == "" {
			c.BOS = string(raw.BOS)
		}
		if c.EOS == "" {
			c.EOS = string(raw.EOS)
		}
		if name == specialsJSON {
			continue
		}
		c.AddBOS, c.AddEOS, c.DoLowerCase, c.Class = raw.AddBOS, raw.AddEOS, raw.DoLowerCase, raw.Class
		c.Template = templateOf(raw.ChatTemplate)
		c.Custom = len(raw.AutoMap) > 0 && string(raw.AutoMap) != "null"
		c.Code = codeOf(raw.AutoMap)
		c.pattern, c.tokens = raw.Pattern, raw.Tokens
	}
	return c
}

// codeOf returns the name of the tokenizer's code in an auto_map: {"AutoTokenizer": ["FILE.CLASS", null]}, or that
// alone.
func codeOf(raw json.RawMessage) string {
	var byUse struct {
		Tokenizer json.RawMessage `json:"AutoTokenizer"`
	}
	if json.Unmarshal(raw, &byUse) != nil {
		return ""
	}
	var names []*string
	if json.Unmarshal(byUse.Tokenizer, &names) == nil {
		for _, n := range names {
			if n != nil {
				return *n
			}
		}
	}
	var name string
	_ = json.Unmarshal(byUse.Tokenizer, &name) // else it stays empty
	return name
}

// token is a string, an object with the content, or null.
type token string

func (t *token) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*t = token(text)
		return nil
	}
	var object struct {
		Content string `json:"content"`
	}
	if json.Unmarshal(data, &object) == nil {
		*t = token(object.Content)
	}
	return nil
}

// templateOf returns the default one of a chat_template: text, or a list of named ones.
func templateOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []struct {
		Name     string `json:"name"`
		Template string `json:"template"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	for _, t := range list {
		if t.Name == "default" {
			return t.Template
		}
	}
	if len(list) > 0 {
		return list[0].Template
	}
	return ""
}

// ChatTemplate returns the text of the chat template, and whether there is one.
func (b *Bundle) ChatTemplate() (string, bool) {
	if b.builtin != nil {
		return "", false
	}
	if b.packed != nil {
		return b.label.Template, b.label.Template != ""
	}
	if data, err := fs.ReadFile(b.files, templateJinja); err == nil {
		return string(data), true
	}
	if data, err := fs.ReadFile(b.files, templateJSON); err == nil {
		var raw struct {
			ChatTemplate json.RawMessage `json:"chat_template"`
		}
		if json.Unmarshal(data, &raw) == nil {
			if text := templateOf(raw.ChatTemplate); text != "" {
				return text, true
			}
		}
	}
	text := b.config().Template
	return text, text != ""
}

// SpecialTokens returns the texts of the tokens that a chat template may name.
func (b *Bundle) SpecialTokens() (bos, eos string) {
	if b.builtin != nil {
		return "", ""
	}
	c := b.config()
	return c.BOS, c.EOS
}
