package oip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// AppendRequestJSON appends the body that carries a request over HTTP; its model is in the path.
func (m *Message) AppendRequestJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if len(m.ID) > 0 {
		dst = append(appendQuoted(append(dst, `"id":`...), m.ID), ',')
	}
	dst = m.appendTensors(append(dst, `"inputs":`...))
	for i, name := range m.Asked {
		if i == 0 {
			dst = append(dst, `,"outputs":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(append(dst, `{"name":`...), name), '}')
	}
	if len(m.Asked) > 0 {
		dst = append(dst, ']')
	}
	for i := range m.Parameters {
		if i == 0 {
			dst = append(dst, `,"parameters":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, []byte(m.Parameters[i].Name)), ':')
		dst = append(dst, m.Parameters[i].Value...)
	}
	if len(m.Parameters) > 0 {
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func (m *Message) appendTensors(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range m.Tensors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = m.Tensors[i].appendJSON(dst)
	}
	return append(dst, ']')
}

// appendJSON appends the tensor as the protocol's JSON has it, its values in one flat list. Numbers that JSON does not
// have are null.
func (t *Tensor) appendJSON(dst []byte) []byte {
	dst = appendQuoted(append(dst, `{"name":`...), t.Name)
	dst = append(dst, `,"shape":[`...)
	for i, d := range t.Shape {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, d, 10)
	}
	dst = appendQuoted(append(dst, `],"datatype":`...), t.Datatype)
	dst = append(dst, `,"data":[`...)
	n := 0
	comma := func() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
	}
	if string(t.Datatype) == Bytes {
		t.EachText(func(text []byte) { comma(); dst = appendQuoted(dst, text) })
	}
	for _, x := range t.Numbers {
		comma()
		if string(t.Datatype) == Bool {
			dst = strconv.AppendBool(dst, x != 0)
		} else if b, err := json.Marshal(x); err == nil {
			dst = append(dst, b...)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, "]}"...)
}

// document is a request or a reply as JSON.
type document struct {
	Model      string                     `json:"model_name"`
	Version    string                     `json:"model_version"`
	ID         string                     `json:"id"`
	Parameters map[string]json.RawMessage `json:"parameters"`
	Inputs     []jsonTensor               `json:"inputs"`
	Outputs    []jsonTensor               `json:"outputs"`
}

type jsonTensor struct {
	Name     string          `json:"name"`
	Datatype string          `json:"datatype"`
	Shape    []int64         `json:"shape"`
	Data     json.RawMessage `json:"data"`
}

// RequestFromJSON reads the body of a request over HTTP.
func RequestFromJSON(body []byte) (*Message, error) {
	var d document
	m, err := fromJSON(body, &d)
	if err != nil {
		return nil, err
	}
	if len(d.Inputs) == 0 {
		return nil, fmt.Errorf("the body has no inputs")
	}
	for i := range d.Outputs {
		m.Asked = append(m.Asked, []byte(d.Outputs[i].Name))
	}
	m.Tensors, err = tensorsFromJSON(d.Inputs)
	return m, err
}

// ReplyFromJSON reads the body of a reply over HTTP.
func ReplyFromJSON(body []byte) (*Message, error) {
	var d document
	m, err := fromJSON(body, &d)
	if err != nil {
		return nil, err
	}
	m.Tensors, err = tensorsFromJSON(d.Outputs)
	return m, err
}

func fromJSON(body []byte, d *document) (*Message, error) {
	if err := json.Unmarshal(body, d); err != nil {
		return nil, fmt.Errorf("the body is not a message of the open inference protocol: %w", err)
	}
	m := &Message{Model: []byte(d.Model), Version: []byte(d.Version), ID: []byte(d.ID)}
	// In the order of the body: a map has none.
	for name, value := range inOrder(body, d.Parameters) {
		m.Parameters = append(m.Parameters, Parameter{name, value})
	}
	return m, nil
}

func tensorsFromJSON(list []jsonTensor) ([]Tensor, error) {
	tensors := make([]Tensor, len(list))
	for i := range list {
		from, to := &list[i], &tensors[i]
		to.Name, to.Datatype, to.Shape = []byte(from.Name), []byte(from.Datatype), from.Shape
		if err := to.flatten(from.Data, 0); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", from.Name, err)
		}
	}
	return tensors, nil
}

// TensorFromJSON makes a tensor of an object with a datatype and data; its shape may be left out for a list. It tells
// whether the value is meant as one.
func TensorFromJSON(name string, value []byte) (t Tensor, isTensor bool, err error) {
	if len(value) == 0 || value[0] != '{' {
		return t, false, nil
	}
	var from jsonTensor
	if json.Unmarshal(value, &from) != nil || from.Datatype == "" || from.Data == nil {
		return t, false, nil
	}
	if contentsOf[from.Datatype] == 0 && from.Datatype != Bytes {
		return t, true, fmt.Errorf("a tensor of %s cannot be sent", clip([]byte(from.Datatype)))
	}
	t = Tensor{Name: []byte(name), Datatype: []byte(from.Datatype), Shape: from.Shape}
	if err := t.flatten(from.Data, 0); err != nil {
		return t, true, err
	}
	n, wrong := len(t.Texts)+len(t.Numbers), len(t.Numbers)
	if from.Datatype != Bytes {
		wrong = len(t.Texts)
	}
	if t.Shape == nil {
		t.Shape = []int64{int64(n)}
	}
	if wrong > 0 || t.size() != int64(n) {
		return t, true, fmt.Errorf("its data does not fit a tensor of %s and shape %v", from.Datatype, t.Shape)
	}
	return t, true, nil
}

// size is the number of elements that the shape has; -1 if the shape is invalid.
func (t *Tensor) size() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		if d < 0 || d > 0 && n > math.MaxInt32/d {
			return -1
		}
		n *= d
	}
	return n
}

// maxNesting bounds the lists in lists of a tensor's data.
const maxNesting = 64

// flatten takes the elements of data, which may be lists in lists.
func (t *Tensor) flatten(data json.RawMessage, depth int) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || depth > maxNesting {
		return fmt.Errorf("its data cannot be read")
	}
	switch data[0] {
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		for _, element := range list {
			if err := t.flatten(element, depth+1); err != nil {
				return err
			}
		}
		return nil
	case '"':
		t.Texts = append(t.Texts, []byte(unquote(string(data))))
		return nil
	case 't', 'f':
		x := 0.0
		if data[0] == 't' {
			x = 1
		}
		t.Numbers = append(t.Numbers, x)
		return nil
	}
	x, err := strconv.ParseFloat(string(data), 64)
	if err != nil {
		return fmt.Errorf("%s is not an element of a tensor", clip(data))
	}
	t.Numbers = append(t.Numbers, x)
	return nil
}

func clip(data []byte) string {
	if len(data) > 40 {
		return string(data[:40]) + "…"
	}
	return string(data)
}

// inOrder walks the parameters in the order in which the body has them.
func inOrder(body []byte, parameters map[string]json.RawMessage) func(func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		if len(parameters) == 0 {
			return
		}
		var top struct {
			Parameters json.RawMessage `json:"parameters"`
		}
		if json.Unmarshal(body, &top) != nil {
			return
		}
		d := json.NewDecoder(bytes.NewReader(top.Parameters))
		d.Token() // the brace
		seen := map[string]bool{}
		for d.More() {
			key, err := d.Token()
			name, ok := key.(string)
			var skip json.RawMessage
			if err != nil || !ok || d.Decode(&skip) != nil {
				return
			}
			if !seen[name] && !yield(name, parameters[name]) {
				return
			}
			seen[name] = true
		}
	}
}
