package api

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"aiperf/internal/base/jsonscan"
)

// DefaultModel answers requests that name no model.
const DefaultModel = "mock-model"

const defaultModel = `"` + DefaultModel + `"`

// ErrMediaType is the error of a body that must be a form.
var ErrMediaType = errors.New("the body must be multipart/form-data")

// Request is what the body of an inference request asks for.
type Request struct {
	Model  []byte // a JSON string, quotes included
	Effort []byte // a JSON string, nil if absent
	Stream bool
	// includeUsage asks for a last chunk with the usage, chunkUsage for the usage on every chunk.
	includeUsage, chunkUsage bool
	IgnoreEOS                bool
	// Limits are 0 where the body gives none (or null, or 0).
	MaxTokens, MaxCompletionTokens, MinTokens int

	// text is the prompt by the client's rule: all texts of the body joined by one space.
	text []byte
	// ids counts prompt tokens that came as numbers.
	ids     int
	hasText bool
	// userAt and userEnd bound the texts of the last message of the user in text; without one they are equal, and the
	// prompt begins at userAt.
	userAt, userEnd int
	// media reports that the prompt shows or plays something; it counts no tokens.
	media bool

	// Inputs counts what an API answers one by one: texts to embed, passages, images; n the images to
	// make, or the passages to return. query and passages are those of a ranking, as JSON texts; firsts are what
	// passages are scored with.
	Inputs, n int
	query     []byte
	passages  [][]byte
	firsts    [][]byte
	repeats   bool // a ranking repeats its passages
	// dimensions and base64 shape embeddings; seconds is the length of an audio.
	dimensions int
	base64     bool
	seconds    float64
	format     string // of a transcription or of speech
	sse        bool   // speech comes in events
	asked      string // name of the output, "" for the usual one
}

// Limit returns the requested length, 0 if there is none.
func (r *Request) Limit() int {
	if r.MaxCompletionTokens > 0 {
		return r.MaxCompletionTokens
	}
	return r.MaxTokens
}

// Parse reads the body of a request to a; path and contentType are those of the request. It returns the API that the
// body is of, which may be another one on the same path. The buffer of the prompt is reused.
func (r *Request) Parse(a API, path []byte, contentType string, body []byte) (API, error) {
	*r = Request{text: r.text[:0], format: contentType}
	switch {
	case a == TGI && bytes.Contains(body, []byte(`"input_ids"`)):
		a = SGLang
	case a == Infer:
		return r.infer(string(path), body)
	}
	if a > Completions {
		return a, r.parseOther(a, body)
	}
	return a, r.parse(a, body)
}

// parse reads the body of a chat or of a completion.
func (r *Request) parse(a API, body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("the body is not valid UTF-8")
	}
	s := scan(body)
	if s.Peek() != '{' {
		return errors.New("the body must be a JSON object")
	}
	// Prompt and tools are located first and read afterwards: texts count in a fixed order, and of
	// a member written twice only the last one holds.
	var prompt, tools, instructions, system []byte
	promptKey := "messages"
	if a == Completions {
		promptKey = "prompt"
	}
	for key := range s.Members() {
		value := s.Value()
		switch string(key) {
		case promptKey:
			prompt = value
		case "tools":
			tools = value
		case "instructions":
			instructions = value
		case "system":
			system = value
		default:
			if err := r.member(key, value); err != nil {
				return err
			}
		}
	}
	if err := ended(&s); err != nil {
		return err
	}
	if r.Model == nil {
		r.Model = []byte(defaultModel)
	}
	r.content(instructions)
	r.content(system)
	if a == Completions {
		return r.prompt(prompt)
	}
	if err := r.messages(prompt); err != nil {
		return err
	}
	r.functions(tools, "name", "description", "parameters")
	return nil
}

// member reads one of the small members; a null counts as absent.
func (r *Request) member(key, value []byte) (err error) {
	switch string(key) {
	case "model":
		r.Model, err = quoted(key, value, r.Model)
	case "reasoning_effort":
		r.Effort, err = quoted(key, value, r.Effort)
	case "stream":
		r.Stream, err = boolean(key, value)
	case "ignore_eos":
		r.IgnoreEOS, err = boolean(key, value)
	case "max_tokens":
		r.MaxTokens, err = count(key, value)
	case "max_completion_tokens":
		r.MaxCompletionTokens, err = count(key, value)
	case "min_tokens":
		r.MinTokens, err = count(key, value)
	case "stream_options":
		return r.streamOptions(value)
	}
	return err
}

func (r *Request) streamOptions(value []byte) (err error) {
	r.includeUsage, r.chunkUsage = false, false
	for m := range jsonscan.Members(value) {
		switch string(m.Key) {
		case "include_usage":
			r.includeUsage, err = boolean(m.Key, m.Value)
		case "continuous_usage_stats":
			r.chunkUsage, err = boolean(m.Key, m.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// quoted returns a string with its quotes; where there is none, what was there before stays.
func quoted(key, value, before []byte) ([]byte, error) {
	switch {
	case jsonscan.IsNull(value):
		return before, nil
	case value[0] != '"':
		return before, fmt.Errorf("%s must be a string", key)
	}
	return value, nil
}

func boolean(key, value []byte) (bool, error) {
	if !jsonscan.IsNull(value) && value[0] != 't' && value[0] != 'f' {
		return false, fmt.Errorf("%s must be true or false", key)
	}
	return string(value) == "true", nil
}

func count(key, value []byte) (int, error) {
	if jsonscan.IsNull(value) {
		return 0, nil
	}
	n, ok := integer(value)
	if !ok || n < 0 {
		return 0, fmt.Errorf("%s must be a whole number that is not negative", key)
	}
	return n, nil
}

// addText opens the next text of the prompt: it puts the space between two texts.
func (r *Request) addText() {
	if r.hasText {
		r.text = append(r.text, ' ')
	}
	r.hasText = true
}

// addString adds a string that is not empty; any other value adds nothing.
func (r *Request) addString(value []byte) {
	if jsonscan.IsText(value) {
		r.addText()
		r.text = jsonscan.AppendText(r.text, value)
	}
}

// messages collects the texts of a chat body. From here on the JSON is known to be valid.
func (r *Request) messages(list []byte) error {
	if !isList(list) {
		return errors.New("messages must be an array")
	}
	for message := range jsonscan.Elements(list) {
		if message[0] != '{' {
			return errors.New("messages must hold objects")
		}
		if err := r.message(message); err != nil {
			return err
		}
	}
	return nil
}

func isList(value []byte) bool { return len(value) > 0 && value[0] == '[' }

// message adds the texts of one message: its content, then the calls it made.
func (r *Request) message(message []byte) error {
	var content, calls, role []byte
	for m := range jsonscan.Members(message) {
		switch string(m.Key) {
		case "content":
			content = m.Value
		case "tool_calls":
			calls = m.Value
		case "role":
			role = m.Value
		}
	}
	if len(role) == 0 || role[0] != '"' {
		return errors.New("each of the messages must have a role")
	}
	from := len(r.text)
	r.content(content)
	r.user(role, from)
	r.functions(calls, "name", "", "arguments")
	return nil
}

// content adds a string, or a list of strings and parts.
func (r *Request) content(value []byte) {
	r.addString(value)
	for part := range jsonscan.Elements(value) {
		r.part(part)
	}
}

// part adds a content part that is text; media add no text.
func (r *Request) part(part []byte) {
	if part[0] != '{' {
		r.addString(part)
		return
	}
	var kind, text []byte
	for m := range jsonscan.Members(part) {
		switch string(m.Key) {
		case "type":
			kind = m.Value
		case "text":
			text = m.Value
		}
	}
	switch string(kind) {
	case "", "null", `""`, `"text"`, `"input_text"`, `"output_text"`:
		r.addString(text)
	case `"image_url"`, `"input_image"`, `"image"`:
		r.media = true
		r.Inputs++
	case `"input_audio"`, `"video_url"`:
		r.media = true
	case `"tool_use"`:
		r.call(part, "input")
	case `"tool_result"`:
		r.content(jsonscan.Find(part, "content"))
	}
}

// functions adds the description of the function in each element of list, in the given order: members of its
// "function" object, or of the element itself. The first two names are strings; the last one is
// added as compact JSON unless it is a string.
func (r *Request) functions(list []byte, name, description, structure string) {
	for element := range jsonscan.Elements(list) {
		if f := jsonscan.Find(element, "function"); len(f) > 0 && f[0] == '{' {
			element = f
		}
		r.addString(jsonscan.Find(element, name))
		r.addString(jsonscan.Find(element, description))
		r.addStructure(jsonscan.Find(element, structure))
	}
}

// addStructure adds a string, or any other value as compact JSON.
func (r *Request) addStructure(value []byte) {
	switch {
	case jsonscan.IsNull(value):
	case value[0] == '"':
		r.addString(value)
	default:
		r.addText()
		r.text = jsonscan.AppendCompact(r.text, value)
	}
}

// prompt collects the texts of a completions body: a string, strings, token ids or lists of ids.
func (r *Request) prompt(value []byte) error {
	if !isList(value) && (len(value) == 0 || value[0] != '"') {
		return errors.New("prompt must be a string or an array")
	}
	r.userAt, r.userEnd = len(r.text), len(r.text)
	r.list(value)
	return nil
}

func (r *Request) promptItem(value []byte) {
	if isNumber(value) {
		r.ids++
	}
	r.addString(value)
	for item := range jsonscan.Elements(value) {
		if isNumber(item) {
			r.ids++
		}
	}
}

func isNumber(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || '0' <= value[0] && value[0] <= '9')
}
