package endpoint

import (
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/wire/oip"
	"aiperf/internal/workload/dataset"
)

// Describable is implemented by endpoints whose requests take their form from what a server says of a model. Describe
// must not be called while requests are made.
type Describable interface {
	// Describe has the requests for a model take the form that its server describes. first is a turn of the run. The error
	// names the inputs that the model requires and that no request would have, and what to do.
	Describe(name string, m *oip.Model, first *dataset.Turn) error
}

// limitInputs are the names that servers give the input for the output limit, and streamInput that of the one that asks
// for a streamed reply: those of Triton's back ends for TensorRT-LLM and vLLM.
var limitInputs = [...]string{"max_tokens", "max_output_len", "request_output_len"}

const streamInput = "stream"

// modelForm is the form of the requests for one model.
type modelForm struct {
	*oip.Model
	names tensorNames
	limit *oip.Input // takes the output limit; nil: it is a parameter
}

// Describe implements Describable.
func (e *inference) Describe(name string, m *oip.Model, first *dataset.Turn) error {
	form := &modelForm{Model: m, names: e.tensors}
	for _, limit := range limitInputs {
		if in := m.Input(limit); in != nil && e.descriptor.ProducesTokens {
			form.limit = in
			break
		}
	}
	if in := onlyText(m); in != nil && !e.named && m.Input(form.names.input) == nil && e.kind != infersRankings {
		form.names.input = in.Name
	}
	if e.models == nil {
		e.models = map[string]*modelForm{}
	}
	e.models[name] = form
	return e.lacking(form, first)
}

// roles are the inputs that the texts and images of turns are for, with the extra inputs that name them.
func (e *inference) roles(n *tensorNames) [][2]string {
	switch e.kind {
	case infersRankings:
		return [][2]string{{n.query, "v2_query_name"}, {n.passages, "v2_passages_name"}}
	case infersFromImages:
		return [][2]string{{n.input, "v2_input_name"}, {n.image, "v2_image_name"}}
	}
	return [][2]string{{n.input, "v2_input_name"}}
}

// lacking is the error of a model whose inputs the run's requests do not fit.
func (e *inference) lacking(form *modelForm, first *dataset.Turn) error {
	filled := map[string]bool{}
	for _, role := range e.roles(&form.names) {
		filled[role[0]] = true
		in := form.Input(role[0])
		if in == nil || in.Datatype != oip.Bytes {
			return fmt.Errorf("the model %s has no input %s of type %s, but %s; name the input for it with "+
				"--extra-inputs %s:NAME", form.Name, role[0], oip.Bytes, form.InputNames(), role[1])
		}
		if _, ok := in.FitRow(1, 1); !ok {
			return fmt.Errorf("the input %s of the model %s does not take one text", in, form.Name)
		}
	}
	given := e.over.with(first.Extra)
	var missing, ways []string
	for i := range form.Inputs {
		in := &form.Inputs[i]
		_, has := given.get(in.Name)
		if in == form.limit && !has {
			_, has = given.get(limitInputs[0])
			has = has || first.MaxTokens != nil
		}
		if in.Optional || has || filled[in.Name] || asksForStream(in) {
			continue
		}
		missing = append(missing, in.String())
		if in == form.limit {
			ways = append(ways, "--osl N")
		} else {
			ways = append(ways, "--extra-inputs "+in.Name+":VALUE")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the model %s requires what the requests do not have: %s; give it with %s", form.Name,
		strings.Join(missing, ", "), strings.Join(ways, " "))
}

// onlyText is the model's only input of texts; nil if there are none or several.
func onlyText(m *oip.Model) *oip.Input {
	var only *oip.Input
	for i := range m.Inputs {
		if in := &m.Inputs[i]; in.Datatype == oip.Bytes {
			if only != nil {
				return nil
			}
			only = in
		}
	}
	return only
}

func asksForStream(in *oip.Input) bool { return in.Name == streamInput && in.Datatype == oip.Bool }

// shape gives the tensors of a turn the shapes that the model describes.
func (f *modelForm) shape(kind inferenceKind, m *oip.Message) error {
	if kind == infersRankings {
		return f.shapeRanking(&m.Tensors[0], &m.Tensors[1])
	}
	rows := int64(1)
	for i := range m.Tensors {
		t := &m.Tensors[i]
		in := f.Input(string(t.Name))
		if in == nil {
			continue // said when the model was described
		}
		if i > 0 {
			if err := f.row(t, in, rows); err != nil {
				return err
			}
			continue
		}
		n, ok := int64(len(t.Texts)), false
		if t.Shape, ok = in.Fit(n); !ok {
			return f.refuses(in, n)
		}
		if in.Batched() {
			rows = t.Shape[0]
		}
	}
	return nil
}

// shapeRanking gives query and passages the shapes that the model describes: the passages are a list beside the query,
// or, where each row of a batch has one passage, each is in a row with the query.
func (f *modelForm) shapeRanking(query, passages *oip.Tensor) error {
	n, rows, ok := int64(len(passages.Texts)), int64(1), true
	if in := f.Input(string(passages.Name)); in != nil {
		if passages.Shape, ok = in.FitRow(n, 1); !ok && in.Batched() {
			passages.Shape, ok = in.FitRow(1, n)
			rows = n
		}
		if !ok {
			return f.refuses(in, n)
		}
	}
	if in := f.Input(string(query.Name)); in != nil {
		return f.row(query, in, rows)
	}
	return nil
}

// row gives a tensor the shape of one row, and each of rows the same elements if the input has a batch dimension.
func (f *modelForm) row(t *oip.Tensor, in *oip.Input, rows int64) (err error) {
	n, ok := int64(t.Elements()), false
	if t.Shape, ok = in.FitRow(n, rows); !ok {
		return f.refuses(in, n)
	}
	if in.Batched() {
		t.Repeat(int(rows))
	}
	return nil
}

func (f *modelForm) refuses(in *oip.Input, n int64) error {
	return valueError(fmt.Sprintf("the input %s of the model %s does not take %d elements", in, f.Name, n))
}

// fields makes tensors of the output limit and of what the user adds, where the model has inputs of their names. The rest
// is returned: the parameters.
func (f *modelForm) fields(m *oip.Message, list []dataset.Field, streaming bool) (rest []dataset.Field, err error) {
	rows := int64(1) // of the batch that the request is
	if in := f.Input(string(m.Tensors[0].Name)); in != nil && in.Batched() {
		rows = m.Tensors[0].Shape[0]
	}
	named := overrides(list)
	if in := f.Input(streamInput); in != nil && asksForStream(in) && (streaming || !in.Optional) {
		if _, given := named.get(streamInput); !given {
			list = append(list[:len(list):len(list)],
				dataset.Field{Name: streamInput, Value: strconv.AppendBool(nil, streaming)})
		}
	}
	for _, field := range list {
		in := f.Input(field.Name)
		if in == nil && f.limit != nil && field.Name == limitInputs[0] {
			if in = f.limit; f.isSet(named) {
				continue
			}
		}
		if in == nil {
			rest = append(rest, field)
			continue
		}
		if err := f.add(m, in, field.Value, rows); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// isSet reports whether the user set the output limit by the model's own name for it.
func (f *modelForm) isSet(named overrides) bool {
	_, set := named.get(f.limit.Name)
	return set
}

// add adds a tensor that is made of a JSON value: one with a datatype, data and perhaps a shape of the user's own, or the
// data alone. A list with an element for each row of the batch is one; anything else stands in each row. An input of
// texts takes every value as its text.
func (f *modelForm) add(m *oip.Message, in *oip.Input, value []byte, rows int64) error {
	t, whole, err := oip.TensorFromJSON(in.Name, value)
	if !whole {
		if in.Datatype == oip.Bytes && value[0] != '"' && value[0] != '[' {
			value = jsonscan.AppendString(nil, string(value))
		}
		data := append(jsonscan.AppendString([]byte(`{"datatype":`), in.Datatype), `,"data":`...)
		t, _, err = oip.TensorFromJSON(in.Name, append(append(data, value...), '}'))
	}
	switch n := int64(t.Elements()); {
	case err != nil:
		err = valueError(fmt.Sprintf("the input %s of the model %s: %v", in, f.Name, err))
	case whole && jsonscan.Find(value, "shape") != nil:
	case in.Batched() && n == rows && n > 1:
		var ok bool
		if t.Shape, ok = in.Fit(n); !ok {
			err = f.refuses(in, n)
		}
	default:
		err = f.row(&t, in, rows)
	}
	m.Tensors = append(m.Tensors, t)
	return err
}
