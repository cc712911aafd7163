package mockserver

import (
	"bytes"
	"unicode/utf8"
)

// defaultModel answers requests that name no model.
const defaultModel = `"mock-model"`

// request is what the server reads from an inference body.
type request struct {
	model  []byte // a JSON string, quotes included
	effort []byte // a JSON string, nil if absent
	stream bool
	// includeUsage asks for a last chunk with the usage, chunkUsage for the usage on every chunk.
	includeUsage, chunkUsage bool
	ignoreEOS                bool
	// Limits are 0 where the body gives none (or null, or 0).
	maxTokens, maxCompletionTokens, minTokens int

	// text is the prompt by the client's rule: all texts of the body joined by one space.
	text []byte
	// ids counts prompt tokens that came as numbers.
	ids     int
	hasText bool
	// media tells that the prompt shows or plays something; it counts no tokens.
	media bool

	// inputs counts what an API answers one by one: texts to embed, passages, images; n the images to
	// make. query and passages are those of a ranking, as JSON texts.
	inputs, n int
	query     []byte
	passages  [][]byte
	// dimensions and base64 shape embeddings; seconds is the length of an audio.
	dimensions int
	base64     bool
	seconds    float64
	format     string // of a transcription
	asked      string // name of the output, "" for the usual one
}

// limit is the requested length, 0 if there is none.
func (r *request) limit() int {
	if r.maxCompletionTokens > 0 {
		return r.maxCompletionTokens
	}
	return r.maxTokens
}

// parse reads body. The buffer of text is reused between requests.
func (r *request) parse(a api, body []byte) *httpError {
	*r = request{text: r.text[:0], format: r.format}
	if a > apiCompletions {
		return r.parseOther(a, body)
	}
	if !utf8.Valid(body) {
		return badRequest("the body is not valid UTF-8")
	}
	s := scanner{data: body}
	if s.kind() != '{' {
		return badRequest("the body must be a JSON object")
	}
	// Prompt and tools are located first and read afterwards: texts count in a fixed order, and of
	// a member written twice only the last one holds.
	var prompt, tools, instructions, system []byte
	promptKey := "messages"
	if a == apiCompletions {
		promptKey = "prompt"
	}
	s.open()
	for first := true; s.more(first, '}'); first = false {
		switch key := s.key(); string(key) {
		case promptKey:
			prompt = s.skip()
		case "tools":
			tools = s.skip()
		case "instructions":
			instructions = s.skip()
		case "system":
			system = s.skip()
		default:
			if err := r.member(key, &s); err != nil {
				return err
			}
		}
	}
	s.end()
	if s.bad != "" {
		return badRequest("the body is not valid JSON: %s", s.bad)
	}
	if r.model == nil {
		r.model = []byte(defaultModel)
	}
	r.content(instructions)
	r.content(system)
	if a == apiCompletions {
		return r.prompt(prompt)
	}
	if err := r.messages(prompt); err != nil {
		return err
	}
	r.functions(tools, "name", "description", "parameters")
	return nil
}

// member reads one of the small members; a null counts as absent.
func (r *request) member(key []byte, s *scanner) (err *httpError) {
	kind := s.kind()
	switch string(key) {
	case "model", "reasoning_effort":
		text := s.skip()
		if kind == '"' {
			if key[0] == 'm' {
				r.model = text
			} else {
				r.effort = text
			}
			return nil
		}
		if kind != 'n' && s.bad == "" {
			return badRequest("%s must be a string", key)
		}
	case "stream":
		r.stream, err = boolean(key, s)
	case "ignore_eos":
		r.ignoreEOS, err = boolean(key, s)
	case "max_tokens":
		r.maxTokens, err = count(key, s)
	case "max_completion_tokens":
		r.maxCompletionTokens, err = count(key, s)
	case "min_tokens":
		r.minTokens, err = count(key, s)
	case "stream_options":
		return r.streamOptions(s)
	default:
		s.skip()
	}
	return err
}

func (r *request) streamOptions(s *scanner) (err *httpError) {
	r.includeUsage, r.chunkUsage = false, false
	if s.kind() != '{' {
		s.skip()
		return nil
	}
	s.open()
	for first := true; err == nil && s.more(first, '}'); first = false {
		switch key := s.key(); string(key) {
		case "include_usage":
			r.includeUsage, err = boolean(key, s)
		case "continuous_usage_stats":
			r.chunkUsage, err = boolean(key, s)
		default:
			s.skip()
		}
	}
	return err
}

func boolean(key []byte, s *scanner) (bool, *httpError) {
	kind := s.kind()
	text := s.skip()
	if s.bad == "" && kind != 't' && kind != 'f' && kind != 'n' {
		return false, badRequest("%s must be true or false", key)
	}
	return string(text) == "true", nil
}

func count(key []byte, s *scanner) (int, *httpError) {
	kind := s.kind()
	text := s.skip()
	if kind == 'n' || s.bad != "" {
		return 0, nil
	}
	n, ok := 0, kind == '0'
	if ok {
		n, ok = integer(text)
	}
	if !ok || n < 0 {
		return 0, badRequest("%s must be a whole number that is not negative", key)
	}
	return n, nil
}

// addText opens the next text of the prompt: it puts the space between two texts.
func (r *request) addText() {
	if r.hasText {
		r.text = append(r.text, ' ')
	}
	r.hasText = true
}

// addString adds the string at s, which is read over whatever it is.
func (r *request) addString(s *scanner) {
	if s.kind() != '"' || bytes.HasPrefix(s.data[s.pos:], []byte(`""`)) {
		s.skip()
		return
	}
	r.addText()
	r.text = s.appendText(r.text)
}

// messages collects the texts of a chat body. From here on the JSON is known to be valid.
func (r *request) messages(list []byte) *httpError {
	s := scanner{data: list}
	if s.kind() != '[' {
		return badRequest("messages must be an array")
	}
	s.open()
	for first := true; s.more(first, ']'); first = false {
		if s.kind() != '{' {
			return badRequest("messages must hold objects")
		}
		if err := r.message(&s); err != nil {
			return err
		}
	}
	return nil
}

// message adds the texts of one message: its content, then the calls it made.
func (r *request) message(s *scanner) *httpError {
	var content, calls []byte
	role := false
	s.open()
	for first := true; s.more(first, '}'); first = false {
		switch string(s.key()) {
		case "content":
			content = s.skip()
		case "tool_calls":
			calls = s.skip()
		case "role":
			role = s.kind() == '"'
			s.skip()
		default:
			s.skip()
		}
	}
	if !role {
		return badRequest("each of the messages must have a role")
	}
	r.content(content)
	r.functions(calls, "name", "", "arguments")
	return nil
}

// content adds a string, or a list of strings and parts.
func (r *request) content(value []byte) {
	s := scanner{data: value}
	switch s.kind() {
	case '"':
		r.addString(&s)
	case '[':
		s.open()
		for first := true; s.more(first, ']'); first = false {
			r.part(&s)
		}
	}
}

// part adds a content part that is text; media add nothing.
func (r *request) part(s *scanner) {
	if s.kind() != '{' {
		r.addString(s)
		return
	}
	var kind, text []byte
	part := s.data[s.pos:]
	s.open()
	for first := true; s.more(first, '}'); first = false {
		switch string(s.key()) {
		case "type":
			kind = s.skip()
		case "text":
			text = s.skip()
		default:
			s.skip()
		}
	}
	switch string(kind) {
	case "", "null", `""`, `"text"`, `"input_text"`, `"output_text"`:
		if text != nil {
			r.addString(&scanner{data: text})
		}
	case `"image_url"`, `"input_image"`, `"image"`:
		r.media = true
		r.inputs++
	case `"input_audio"`, `"video_url"`:
		r.media = true
	case `"tool_use"`:
		r.call(part, "input")
	case `"tool_result"`:
		r.content(member(part, "content"))
	}
}

// functions adds what each element of list says of a function, in the given order: members of its
// "function" object, or of the element itself. The first two names are strings; the last one is
// added as compact JSON unless it is a string.
func (r *request) functions(list []byte, name, description, structure string) {
	s := scanner{data: list}
	if s.kind() != '[' {
		return
	}
	s.open()
	for first := true; s.more(first, ']'); first = false {
		element := s.skip()
		if f := member(element, "function"); len(f) > 0 && f[0] == '{' {
			element = f
		}
		for _, key := range [...]string{name, description} {
			if value := member(element, key); len(value) > 0 && value[0] == '"' {
				r.addString(&scanner{data: value})
			}
		}
		value := member(element, structure)
		switch {
		case len(value) == 0 || value[0] == 'n':
		case value[0] == '"':
			r.addString(&scanner{data: value})
		default:
			r.addText()
			r.text = appendCompact(r.text, value)
		}
	}
}

// member is the value of a member of the object in text, nil if there is none.
func member(text []byte, name string) (value []byte) {
	s := scanner{data: text}
	if s.kind() != '{' {
		return nil
	}
	s.open()
	for first := true; s.more(first, '}'); first = false {
		if string(s.key()) == name {
			value = s.skip()
		} else {
			s.skip()
		}
	}
	return value
}

// appendCompact writes a value the way bodies are written: no white space outside strings, and
// nothing escaped in them that need not be.
func appendCompact(dst, value []byte) []byte {
	s := scanner{data: value}
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		case '"':
			dst = appendJSONString(dst, string(s.appendText(nil)))
		default:
			dst = append(dst, c)
			s.pos++
		}
	}
	return dst
}

// prompt collects the texts of a completions body: a string, strings, token ids or lists of ids.
func (r *request) prompt(value []byte) *httpError {
	s := scanner{data: value}
	switch s.kind() {
	case '"':
		r.addString(&s)
		return nil
	case '[':
		s.open()
		for first := true; s.more(first, ']'); first = false {
			r.promptItem(&s)
		}
		return nil
	}
	return badRequest("prompt must be a string or an array")
}

func (r *request) promptItem(s *scanner) {
	switch s.kind() {
	case '0':
		s.skip()
		r.ids++
	case '[':
		s.open()
		for first := true; s.more(first, ']'); first = false {
			if s.kind() == '0' {
				r.ids++
			}
			s.skip()
		}
	default:
		r.addString(s)
	}
}
