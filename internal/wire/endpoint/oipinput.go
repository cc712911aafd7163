package endpoint

import (
	"strings"

	"aiperf/internal/wire/oip"
	"aiperf/internal/workload/dataset"
)

// inputs makes the tensors of a turn, each a list. text is what is counted.
func (e *inference) inputs(m *oip.Message, n *tensorNames, turn *dataset.Turn) (text string, images int, err error) {
	switch e.kind {
	case infersEmbeddings:
		inputs := filled(turn.Texts)
		m.Tensors = []oip.Tensor{oip.Text(n.input, inputs...)}
		return strings.Join(inputs, " "), 0, nil
	case infersRankings:
		query, passages, err := e.split(turn.Texts)
		if err != nil {
			return "", 0, err
		}
		m.Tensors = []oip.Tensor{oip.Text(n.query, query), oip.Text(n.passages, passages...)}
		return strings.Join(append([]string{query}, passages...), " "), 0, nil
	}
	text = strings.Join(filled(turn.Texts), " ")
	m.Tensors = []oip.Tensor{oip.Text(n.input, text)}
	if e.kind == infersFromImages {
		if list := filled(turn.Images); len(list) > 0 {
			for i := range list {
				list[i] = e.image(list[i])
			}
			m.Tensors = append(m.Tensors, oip.Text(n.image, list...))
			images = len(list)
		}
	}
	return text, images, nil
}

// split separates query and passages as the other types of rankings do.
func (e *inference) split(texts []dataset.Media) (query string, passages []string, err error) {
	return splitRanking(texts, &e.others, &e.queries2, &e.passages0)
}

// image is a picture as servers take it. Triton's backend of vLLM decodes the tensor's texts as base64, so the content
// of a data URI is sent; a tensor that is named after a URL gets the picture as the data set has it.
func (e *inference) image(picture string) string {
	name := strings.ToLower(e.tensors.image)
	if _, content, isData := splitDataURI(picture); isData && !strings.Contains(name, "url") &&
		!strings.Contains(name, "uri") {
		return content
	}
	return picture
}

// extend adds what the user adds to a request: tensors, and parameters.
func extend(m *oip.Message, extra []dataset.Field) error {
	for _, x := range extra {
		t, isTensor, err := oip.TensorFromJSON(x.Name, x.Value)
		switch {
		case err != nil:
			return valueError("extra input " + x.Name + ": " + err.Error())
		case isTensor:
			m.Tensors = append(m.Tensors, t)
		default:
			m.Parameters = append(m.Parameters, oip.Parameter{Name: x.Name, Value: x.Value})
		}
	}
	return nil
}
