package oip

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Model is what a server says of the inputs of one of its models.
type Model struct {
	Name   string
	Inputs []Input
	// Configured reports that the server said which inputs may be left out. The protocol has no word for it; the
	// configuration of a model, which is Triton's, has.
	Configured bool
}

// Input describes one input of a model.
type Input struct {
	Name, Datatype string
	// Shape has -1 for a dimension of any size. The batch dimension is its first one, where the model has it.
	Shape    []int64
	Optional bool
}

// String is the input as messages name it: text_input (BYTES [-1 1]).
func (in *Input) String() string { return fmt.Sprintf("%s (%s %v)", in.Name, in.Datatype, in.Shape) }

// Batched reports whether the first dimension counts the elements of a batch.
func (in *Input) Batched() bool { return len(in.Shape) > 1 && in.Shape[0] == -1 }

// Fit returns the shape of n elements for the input; false if n elements cannot have it. The first dimension of any
// size takes all of them: four texts for [-1 1] are [4 1]. An input without a shape takes a list.
func (in *Input) Fit(n int64) ([]int64, bool) {
	if len(in.Shape) == 0 {
		return []int64{n}, true
	}
	return fit(in.Shape, n)
}

// FitRow is Fit for one row of a batch of rows equal ones: [rows …]. An input without a batch dimension has one row.
func (in *Input) FitRow(n, rows int64) ([]int64, bool) {
	if !in.Batched() {
		return in.Fit(n)
	}
	shape, ok := fit(in.Shape[1:], n)
	return slices.Insert(shape, 0, rows), ok
}

// fit returns a declared shape with its free dimensions set so that it holds n values: the first free one takes what
// the fixed ones leave, further ones are 1. It fails where the product cannot be n.
func fit(declared []int64, n int64) ([]int64, bool) {
	shape, fixed, free := slices.Clone(declared), int64(1), -1
	for i, d := range declared {
		switch {
		case d >= 0:
			fixed *= d
		case free < 0:
			free = i
		default:
			shape[i] = 1
		}
	}
	if fixed == 0 || n%fixed != 0 {
		return shape, false
	}
	if free >= 0 {
		shape[free] = n / fixed
		return shape, true
	}
	return shape, n == fixed
}

// Input finds an input by its name; nil if the model has none of it.
func (m *Model) Input(name string) *Input {
	for i := range m.Inputs {
		if m.Inputs[i].Name == name {
			return &m.Inputs[i]
		}
	}
	return nil
}

// InputNames lists the inputs as messages name them.
func (m *Model) InputNames() string {
	names := make([]string, len(m.Inputs))
	for i := range m.Inputs {
		names[i] = m.Inputs[i].String()
	}
	return strings.Join(names, ", ")
}

// configure takes the optional inputs from the model's configuration.
func (m *Model) configure(optional map[string]bool) {
	if len(optional) == 0 {
		return
	}
	for i := range m.Inputs {
		m.Inputs[i].Optional = optional[m.Inputs[i].Name]
	}
	m.Configured = true
}

// jsonMetadata is the metadata of a model as JSON.
type jsonMetadata struct {
	Name     string           `json:"name"`
	Versions []string         `json:"versions,omitempty"`
	Platform string           `json:"platform"`
	Inputs   []jsonDescriptor `json:"inputs"`
	Outputs  []jsonDescriptor `json:"outputs"`
}

type jsonDescriptor struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// ModelFromJSON reads the metadata of a model; nil if the text has no inputs.
func ModelFromJSON(text []byte) *Model {
	var d jsonMetadata
	if json.Unmarshal(text, &d) != nil || len(d.Inputs) == 0 {
		return nil
	}
	m := &Model{Name: d.Name}
	for _, in := range d.Inputs {
		if in.Name == "" || in.Datatype == "" {
			return nil
		}
		m.Inputs = append(m.Inputs, Input{Name: in.Name, Datatype: in.Datatype, Shape: in.Shape})
	}
	return m
}

// ConfigureFromJSON takes from the configuration of the model which inputs may be left out.
func (m *Model) ConfigureFromJSON(text []byte) {
	var d struct {
		Input []struct {
			Name     string `json:"name"`
			Optional bool   `json:"optional"`
		} `json:"input"`
	}
	if json.Unmarshal(text, &d) != nil {
		return
	}
	optional := map[string]bool{}
	for _, in := range d.Input {
		optional[in.Name] = in.Optional
	}
	m.configure(optional)
}

// AppendMetadataJSON appends the metadata of the model as JSON.
func (m *Model) AppendMetadataJSON(dst []byte) []byte {
	d := jsonMetadata{Name: m.Name, Versions: []string{"1"}, Platform: "aiperf", Outputs: []jsonDescriptor{}}
	for _, in := range m.Inputs {
		d.Inputs = append(d.Inputs, jsonDescriptor{in.Name, in.Datatype, in.Shape})
	}
	b, _ := json.Marshal(d) // cannot fail: texts and numbers
	return append(dst, b...)
}

// AppendConfigJSON appends the part of the model's configuration that ConfigureFromJSON reads.
func (m *Model) AppendConfigJSON(dst []byte) []byte {
	type input struct {
		Name     string `json:"name"`
		Optional bool   `json:"optional"`
	}
	d := struct {
		Name  string  `json:"name"`
		Input []input `json:"input"`
	}{Name: m.Name}
	for _, in := range m.Inputs {
		d.Input = append(d.Input, input{in.Name, in.Optional})
	}
	b, _ := json.Marshal(d)
	return append(dst, b...)
}

// Field numbers of the metadata and the configuration of a model.
const (
	fMetadataInputs            = 4
	fConfig                    = 1
	fConfigInputs, fIsOptional = 5, 8
)

// ParseModelMetadata reads the answer to ModelMetadata; nil if it has no inputs.
func ParseModelMetadata(data []byte) (*Model, error) {
	m := &Model{}
	err := texts(data, func(n protowire.Number, value []byte) error {
		switch n {
		case fName:
			m.Name = string(value)
		case fMetadataInputs:
			var t Tensor // it has the fields of a tensor without contents
			if err := t.parse(value); err != nil {
				return err
			}
			m.Inputs = append(m.Inputs, Input{Name: string(t.Name), Datatype: string(t.Datatype), Shape: t.Shape})
		}
		return nil
	})
	if err != nil || len(m.Inputs) == 0 {
		return nil, err
	}
	return m, nil
}

// ParseModelConfig takes from the answer to ModelConfig which inputs may be left out.
func (m *Model) ParseModelConfig(data []byte) error {
	optional := map[string]bool{}
	err := texts(data, func(n protowire.Number, config []byte) error {
		if n != fConfig {
			return nil
		}
		return texts(config, func(n protowire.Number, input []byte) error {
			if n != fConfigInputs {
				return nil
			}
			name, may := "", false
			err := fields(input, func(n protowire.Number, kind protowire.Type, value []byte, number uint64) error {
				switch {
				case n == fName && kind == protowire.BytesType:
					name = string(value)
				case n == fIsOptional && kind == protowire.VarintType:
					may = number != 0
				}
				return nil
			})
			optional[name] = may
			return err
		})
	})
	if err == nil {
		m.configure(optional)
	}
	return err
}

// AppendModelMetadata appends the answer to ModelMetadata.
func (m *Model) AppendModelMetadata(dst []byte) []byte {
	dst = appendText(dst, fName, []byte(m.Name))
	for i := range m.Inputs {
		in := &m.Inputs[i]
		t := Tensor{Name: []byte(in.Name), Datatype: []byte(in.Datatype), Shape: in.Shape}
		dst = appendBytes(dst, fMetadataInputs, t.append(nil))
	}
	return dst
}

// AppendModelConfig appends the part of the answer to ModelConfig that ParseModelConfig reads.
func (m *Model) AppendModelConfig(dst []byte) []byte {
	var config []byte
	for i := range m.Inputs {
		in := appendText(nil, fName, []byte(m.Inputs[i].Name))
		if m.Inputs[i].Optional {
			in = protowire.AppendVarint(protowire.AppendTag(in, fIsOptional, protowire.VarintType), 1)
		}
		config = appendBytes(config, fConfigInputs, in)
	}
	return appendBytes(dst, fConfig, config)
}
