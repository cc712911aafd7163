package mockserver

import (
	"net/http"
	"unicode/utf8"

	"aiperf/internal/base/jsonscan"
)

// This file reads the bodies of the APIs beside chat and completions.

// fields are the members of a body that hold something to count or to obey.
type fields struct {
	messages, input, prompt, query, inputs, inputIDs, tools, instructions, system []byte
	passages, parameters                                                          []byte
}

func (f *fields) place(key []byte) *[]byte {
	switch string(key) {
	case "messages":
		return &f.messages
	case "input":
		return &f.input
	case "prompt", "text":
		return &f.prompt
	case "query":
		return &f.query
	case "inputs":
		return &f.inputs
	case "input_ids":
		return &f.inputIDs
	case "tools":
		return &f.tools
	case "instructions":
		return &f.instructions
	case "system":
		return &f.system
	case "passages", "documents", "texts":
		return &f.passages
	case "parameters", "sampling_params":
		return &f.parameters
	}
	return nil
}

// maxInputs is how many texts an embeddings request may hold.
const maxInputs = 2048

// parseOther reads a body by its API.
func (r *request) parseOther(a api, body []byte) *httpError {
	if r.isForm() {
		return r.form(a, body)
	}
	if a == apiTranscriptions || a == apiImageEdits {
		return &httpError{http.StatusUnsupportedMediaType, "the body must be multipart/form-data"}
	}
	if !utf8.Valid(body) {
		return badRequest("the body is not valid UTF-8")
	}
	var f fields
	s := scan(body)
	if s.Peek() != '{' {
		return badRequest("the body must be a JSON object")
	}
	for key := range s.Members() {
		value := s.Value()
		if place := f.place(key); place != nil {
			*place = value
			continue
		}
		if err := r.otherMember(key, value); err != nil {
			return err
		}
	}
	if err := ended(&s); err != nil {
		return err
	}
	if r.model == nil {
		r.model = []byte(defaultModel)
	}
	if a == apiTGI || a == apiTGIStream || a == apiSGLang {
		if err := r.generation(f.parameters); err != nil {
			return err
		}
	}
	r.stream = a == apiTGIStream || r.stream && apis[a].event != nil
	return r.take(a, &f)
}

// otherMember reads a small member; those of chat bodies mean the same here.
func (r *request) otherMember(key, value []byte) (err *httpError) {
	switch string(key) {
	case "max_output_tokens":
		r.maxTokens, err = count(key, value)
	case "inference_model":
		return r.member([]byte("model"), value)
	case "n":
		r.n, err = count(key, value)
	case "dimensions":
		r.dimensions, err = count(key, value)
	case "encoding_format":
		r.base64 = string(value) == `"base64"`
	case "reasoning": // an object in the responses API
		if effort := jsonscan.Find(value, "effort"); len(effort) > 0 && effort[0] == '"' {
			r.effort = effort
		}
	default:
		return r.member(key, value)
	}
	return err
}

// generation reads the parameters of the generate APIs.
func (r *request) generation(parameters []byte) *httpError {
	for m := range jsonscan.Members(parameters) {
		var err *httpError
		switch string(m.Key) {
		case "max_new_tokens":
			r.maxTokens, err = count(m.Key, m.Value)
		case "min_new_tokens":
			r.minTokens, err = count(m.Key, m.Value)
		case "ignore_eos":
			r.ignoreEOS, err = boolean(m.Key, m.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take collects texts and inputs in the order in which they count.
func (r *request) take(a api, f *fields) *httpError {
	r.content(f.instructions)
	r.content(f.system)
	switch a {
	case apiMessages:
		if err := r.messages(f.messages); err != nil {
			return err
		}
		if r.maxTokens == 0 {
			return badRequest("max_tokens is required")
		}
		r.functions(f.tools, "name", "description", "input_schema")
	case apiResponses:
		if f.input == nil {
			return badRequest("input is required")
		}
		r.items(f.input)
		r.functions(f.tools, "name", "description", "parameters")
	case apiEmbeddings:
		if f.messages != nil {
			r.inputs = 1
			return r.messages(f.messages)
		}
		if f.input == nil {
			return badRequest("input is required")
		}
		before := r.ids
		r.inputs = max(1, r.list(f.input))
		if r.ids-before == r.inputs {
			r.inputs = 1 // the ids of one text
		}
		if r.inputs > maxInputs {
			return badRequest("input has more than %d elements", maxInputs)
		}
	case apiSGLang:
		r.list(f.inputIDs)
	case apiTGI, apiTGIStream:
		if f.inputs == nil {
			return badRequest("inputs is required")
		}
		r.list(f.inputs)
	case apiCohere, apiTEI, apiNIMRanking:
		return r.ranking(a, f)
	case apiImageInfer, apiImageInferClient:
		if !isList(f.input) {
			return badRequest("input must be a list of images")
		}
		r.content(f.input)
	case apiSolido:
		r.list(f.query)
	default:
		if f.messages != nil {
			return r.messages(f.messages)
		}
		if f.prompt == nil {
			return badRequest("prompt is required")
		}
		r.list(f.prompt)
	}
	return nil
}

// list adds a string, or the strings, objects with a text and token ids of a list; it counts them.
func (r *request) list(value []byte) int {
	if !isList(value) {
		r.promptItem(value)
		return 1
	}
	n := 0
	for item := range jsonscan.Elements(value) {
		r.promptItem(item)
		n++
	}
	return n
}

// items adds the items of a responses body.
func (r *request) items(value []byte) {
	r.addString(value)
	for item := range jsonscan.Elements(value) {
		switch string(jsonscan.Find(item, "type")) {
		case `"function_call"`:
			r.call(item, "arguments")
		case `"function_call_output"`:
			r.content(jsonscan.Find(item, "output"))
		default:
			r.content(jsonscan.Find(item, "content"))
			r.functions(jsonscan.Find(item, "tool_calls"), "name", "", "arguments")
		}
	}
}

// call adds the name of a tool call and its input.
func (r *request) call(item []byte, input string) {
	r.content(jsonscan.Find(item, "name"))
	r.addStructure(jsonscan.Find(item, input))
}

// ranking reads query and passages, which are texts or objects with one.
func (r *request) ranking(a api, f *fields) *httpError {
	if f.query == nil {
		return badRequest("query is required")
	}
	r.query = textOf(f.query)
	r.content(r.query)
	if !isList(f.passages) {
		return badRequest("the texts to rank must be a list")
	}
	for element := range jsonscan.Elements(f.passages) {
		passage := textOf(element)
		if len(passage) == 0 || passage[0] != '"' {
			return badRequest("the texts to rank must be texts")
		}
		r.content(passage)
		r.passages = append(r.passages, passage)
	}
	r.inputs = len(r.passages)
	return nil
}

// textOf is a JSON string, or the text of an object.
func textOf(value []byte) []byte {
	if len(value) > 0 && value[0] == '{' {
		return jsonscan.Find(value, "text")
	}
	return value
}
