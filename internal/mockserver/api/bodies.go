package api

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"aiperf/internal/base/jsonscan"
)

// This file reads the bodies of the APIs beside chat and completions.

// fields are the members of a body that hold something to count or to obey.
type fields struct {
	messages, input, prompt, query, inputs, inputIDs, tools, instructions, system []byte
	passages, parameters, voice, responseFormat, streamFormat                     []byte
}

// place returns where the value of a member is kept, nil for one that is not needed. Members of several APIs that mean
// the same have one place.
func (f *fields) place(key []byte) *[]byte {
	switch string(key) {
	case "messages":
		return &f.messages
	case "input":
		return &f.input
	case "prompt", "text":
		return &f.prompt
	case "query", "queries", "text_1":
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
	case "passages", "documents", "texts", "text_2":
		return &f.passages
	case "parameters", "sampling_params":
		return &f.parameters
	case "voice":
		return &f.voice
	case "response_format":
		return &f.responseFormat
	case "stream_format":
		return &f.streamFormat
	}
	return nil
}

// maxInputs is how many texts an embeddings request may hold.
const maxInputs = 2048

// parseOther reads a body by its API.
func (r *Request) parseOther(a API, body []byte) error {
	if r.isForm() {
		return r.form(a, body)
	}
	if a == Transcriptions || a == ImageEdits {
		return ErrMediaType
	}
	if !utf8.Valid(body) {
		return errors.New("the body is not valid UTF-8")
	}
	var f fields
	s := scan(body)
	if s.Peek() != '{' {
		return errors.New("the body must be a JSON object")
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
	if r.Model == nil {
		r.Model = []byte(defaultModel)
	}
	if a == TGI || a == TGIStream || a == SGLang {
		if err := r.generation(f.parameters); err != nil {
			return err
		}
	}
	r.Stream = a == TGIStream || r.Stream && apis[a].event != nil
	return r.take(a, &f)
}

// otherMember reads a small member; those of chat bodies mean the same here.
func (r *Request) otherMember(key, value []byte) (err error) {
	switch string(key) {
	case "max_output_tokens":
		r.MaxTokens, err = count(key, value)
	case "inference_model":
		return r.member([]byte("model"), value)
	case "n":
		r.n, err = count(key, value)
	case "top_k":
		r.n, err = count(key, value)
	case "return_documents":
		r.repeats, err = boolean(key, value)
	case "dimensions":
		r.dimensions, err = count(key, value)
	case "encoding_format":
		r.base64 = string(value) == `"base64"`
	case "reasoning": // an object in the responses API
		if effort := jsonscan.Find(value, "effort"); len(effort) > 0 && effort[0] == '"' {
			r.Effort = effort
		}
	default:
		return r.member(key, value)
	}
	return err
}

// generation reads the parameters of the generate APIs.
func (r *Request) generation(parameters []byte) error {
	for m := range jsonscan.Members(parameters) {
		var err error
		switch string(m.Key) {
		case "max_new_tokens":
			r.MaxTokens, err = count(m.Key, m.Value)
		case "min_new_tokens":
			r.MinTokens, err = count(m.Key, m.Value)
		case "ignore_eos":
			r.IgnoreEOS, err = boolean(m.Key, m.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take collects texts and inputs in the order in which they count.
func (r *Request) take(a API, f *fields) error {
	r.content(f.instructions)
	r.content(f.system)
	switch a {
	case Messages:
		if err := r.messages(f.messages); err != nil {
			return err
		}
		if r.MaxTokens == 0 {
			return errors.New("max_tokens is required")
		}
		r.functions(f.tools, "name", "description", "input_schema")
	case Responses:
		if f.input == nil {
			return errors.New("input is required")
		}
		r.items(f.input)
		r.functions(f.tools, "name", "description", "parameters")
	case Embeddings, Pooling, Classify:
		if f.messages != nil {
			r.Inputs = 1
			return r.messages(f.messages)
		}
		if f.input == nil {
			return errors.New("input is required")
		}
		before := r.ids
		r.Inputs = max(1, r.list(f.input))
		if r.ids-before == r.Inputs {
			r.Inputs = 1 // the ids of one text
		}
		if r.Inputs > maxInputs {
			return fmt.Errorf("input has more than %d elements", maxInputs)
		}
	case SGLang:
		r.list(f.inputIDs)
	case TGI, TGIStream:
		if f.inputs == nil {
			return errors.New("inputs is required")
		}
		r.list(f.inputs)
	case Cohere, TEI, NIMRanking, Voyage:
		return r.ranking(f)
	case Score:
		return r.pairs(f)
	case Speech:
		return r.speech(f)
	case ImageInfer, ImageInferClient:
		if !isList(f.input) {
			return errors.New("input must be a list of images")
		}
		r.content(f.input)
	case Solido:
		r.list(f.query)
	default:
		if f.messages != nil {
			return r.messages(f.messages)
		}
		if f.prompt == nil {
			return errors.New("prompt is required")
		}
		r.list(f.prompt)
	}
	return nil
}

// list adds a string, or the strings, objects with a text and token ids of a list; it counts them.
func (r *Request) list(value []byte) int {
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
func (r *Request) items(value []byte) {
	r.userAt, r.userEnd = len(r.text), len(r.text)
	r.addString(value)
	for item := range jsonscan.Elements(value) {
		switch string(jsonscan.Find(item, "type")) {
		case `"function_call"`:
			r.call(item, "arguments")
		case `"function_call_output"`:
			r.content(jsonscan.Find(item, "output"))
		default:
			from := len(r.text)
			r.content(jsonscan.Find(item, "content"))
			r.user(jsonscan.Find(item, "role"), from)
			r.functions(jsonscan.Find(item, "tool_calls"), "name", "", "arguments")
		}
	}
}

// call adds the name of a tool call and its input.
func (r *Request) call(item []byte, input string) {
	r.content(jsonscan.Find(item, "name"))
	r.addStructure(jsonscan.Find(item, input))
}

// ranking reads query and passages, which are texts or objects with one.
func (r *Request) ranking(f *fields) error {
	if f.query == nil {
		return errors.New("query is required")
	}
	r.query = textOf(f.query)
	r.content(r.query)
	if !isList(f.passages) {
		return errors.New("the texts to rank must be a list")
	}
	for element := range jsonscan.Elements(f.passages) {
		passage := textOf(element)
		if len(passage) == 0 || passage[0] != '"' {
			return errors.New("the texts to rank must be strings")
		}
		r.content(passage)
		r.passages = append(r.passages, passage)
	}
	r.Inputs = len(r.passages)
	return nil
}

// pairs reads one text or several, and what each is scored with: all of the others if there is one, else its own.
func (r *Request) pairs(f *fields) error {
	texts := func(value []byte) (list [][]byte) {
		if !isList(value) {
			value = append(append([]byte{'['}, value...), ']')
		}
		for element := range jsonscan.Elements(value) {
			list = append(list, textOf(element))
		}
		return list
	}
	if f.query == nil || f.passages == nil {
		return errors.New("text_1 and text_2 are required, or queries and documents")
	}
	firsts, seconds := texts(f.query), texts(f.passages)
	if len(firsts) != 1 && len(firsts) != len(seconds) {
		return errors.New("text_1 must be one text, or as many as text_2")
	}
	for _, text := range slices.Concat(firsts, seconds) {
		if len(text) == 0 || text[0] != '"' {
			return errors.New("the texts to score must be strings")
		}
		r.content(text)
	}
	r.firsts, r.passages, r.Inputs = firsts, seconds, len(seconds)
	return nil
}

// textOf returns a JSON string, or the text of an object.
func textOf(value []byte) []byte {
	if len(value) > 0 && value[0] == '{' {
		return jsonscan.Find(value, "text")
	}
	return value
}
