package api

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"aiperf/internal/wire/oip"
)

// This file reads and writes the bodies of the open inference protocol: what a request asks for follows from its
// tensors and from the name of its model.

// The path of a model is OIPModels, its name and OIPReady or the one of inference.
const (
	OIPModels = "/v2/models/"
	OIPReady  = "/ready"
	OIPConfig = "/config"
	oipInfer  = "/infer"
	oipPath   = OIPModels + "{model}" + oipInfer
)

// isInfer reports whether a path is one of inference by the protocol, over HTTP or as it comes from a call of gRPC.
func isInfer(path string) bool {
	return strings.HasPrefix(path, OIPModels) && strings.HasSuffix(path, oipInfer) || path == oip.ModelInfer ||
		path == oip.ModelStreamInfer
}

// OIPQuestion returns the question about a model that a path asks with GET: OIPReady, OIPConfig, or "" for its metadata;
// false if the path asks none.
func OIPQuestion(path string) (question string, ok bool) {
	name, ok := strings.CutPrefix(path, OIPModels)
	if !ok || name == "" {
		return "", false
	}
	for _, q := range []string{OIPReady, OIPConfig} {
		if rest, found := strings.CutSuffix(name, q); found {
			name, question = rest, q
		}
	}
	name, version, _ := strings.Cut(name, "/versions/")
	return question, name != "" && !strings.Contains(name+version, "/")
}

// OIPModel returns the model in a path, "" where the body names it.
func OIPModel(path string) string {
	name, found := strings.CutPrefix(path, OIPModels)
	if !found {
		return ""
	}
	for _, what := range []string{oipInfer, OIPReady, OIPConfig} {
		name = strings.TrimSuffix(name, what)
	}
	name, _, _ = strings.Cut(name, "/versions/")
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// OIPInputs are the inputs of a model: each serves all kinds of requests, and none needs all of them.
func OIPInputs(model string) *oip.Model {
	m := &oip.Model{Name: model}
	for _, name := range []string{"text_input", "image", "prompt", "query", "passages"} {
		m.Inputs = append(m.Inputs, oip.Input{Name: name, Datatype: oip.Bytes, Shape: []int64{-1}, Optional: true})
	}
	m.Inputs = append(m.Inputs, oip.Input{Name: "max_tokens", Datatype: "INT32", Shape: []int64{1}, Optional: true})
	return m
}

// inferOutputs are the outputs of the kinds of models, unless a request asks for another name.
var inferOutputs = map[API]string{Infer: "text_output", InferEmbeddings: "embedding", InferRankings: "scores",
	InferImages: "image"}

// infer reads the tensors of a request and reports what is asked for: rankings if there are passages, else what
// the names of the model and of the output say, else text.
func (r *Request) infer(path string, body []byte) (API, error) {
	if !utf8.Valid(body) {
		return Infer, errors.New("the body is not valid UTF-8")
	}
	m, err := oip.RequestFromJSON(body)
	if err != nil {
		return Infer, err
	}
	model := OIPModel(path)
	if model == "" {
		model = string(m.Model)
	}
	r.Model = AppendString(nil, model)
	r.Stream = path == oip.ModelStreamInfer
	if len(m.Asked) > 0 {
		r.asked = string(m.Asked[0])
	}
	for i := range m.Parameters {
		if err := r.inferParameter(m.Parameters[i].Name, m.Parameters[i].Value); err != nil {
			return Infer, err
		}
	}
	kind := kindOf(model + " " + r.asked)
	for i := range m.Tensors {
		t := &m.Tensors[i]
		switch name := string(t.Name); {
		case strings.Contains(name, "image") && string(t.Datatype) == oip.Bytes:
			r.media = true
			continue
		case name == "passages":
			kind = InferRankings
			for _, text := range t.Texts {
				r.passages = append(r.passages, AppendString(nil, string(text)))
			}
		case name == "max_tokens" && len(t.Numbers) > 0:
			number := strconv.AppendFloat(nil, t.Numbers[0], 'f', -1, 64)
			if err := r.inferParameter(name, number); err != nil {
				return Infer, err
			}
		case name == "query" && len(t.Texts) > 0:
			r.query = AppendString(nil, string(t.Texts[0]))
		}
		for _, text := range t.Texts {
			r.addText()
			r.text = append(r.text, text...)
		}
		r.Inputs += len(t.Texts)
	}
	if kind == InferRankings {
		r.Inputs = len(r.passages)
	}
	r.Stream = r.Stream && kind == Infer
	return kind, nil
}

// kindOf returns the kind of a request by the names of the model and of the output that is asked for.
func kindOf(names string) API {
	name := strings.ToLower(names)
	switch {
	case strings.Contains(name, "embed"):
		return InferEmbeddings
	case strings.Contains(name, "rank"), strings.Contains(name, "score"):
		return InferRankings
	case strings.Contains(name, "diffusion"), strings.Contains(name, "image"):
		return InferImages
	}
	return Infer
}

func (r *Request) inferParameter(name string, value []byte) (err error) {
	switch key := []byte(name); name {
	case "max_tokens":
		r.MaxTokens, err = count(key, value)
	case "min_tokens":
		r.MinTokens, err = count(key, value)
	case "n":
		r.n, err = count(key, value)
	case "ignore_eos":
		r.IgnoreEOS, err = boolean(key, value)
	}
	return err
}

// appendInferOpening appends a reply up to the shape of its output.
func (r *Reply) appendInferOpening(b []byte, datatype string) []byte {
	b = append(append(b, `{"model_name":`...), r.Request.Model...)
	b = r.AppendID(append(b, `,"model_version":"1","id":"`...))
	name := r.Request.asked
	if name == "" {
		name = inferOutputs[r.API]
	}
	b = AppendString(append(b, `","outputs":[{"name":`...), name)
	return append(append(append(b, `,"datatype":"`...), datatype...), `","shape":`...)
}

func wholeInferText(r *Reply, b []byte) []byte {
	p := &r.Plan
	b = append(r.appendInferOpening(b, oip.Bytes), `[1],"data":["`...)
	b = r.appendContent(b, p.Tokens())
	return append(b, `"]}]}`...)
}

func inferEvent(e *Events, b []byte, k int) []byte {
	r := e.reply
	b = append(b, "data: "...)
	if k == ErrorEvent {
		b = append(b, ErrorInside...)
	} else {
		b = append(r.appendInferOpening(b, oip.Bytes), `[1],"data":["`...)
		b = e.appendWord(b)
		b = append(b, `"]}]}`...)
	}
	return b
}

func wholeInferEmbeddings(r *Reply, b []byte) []byte {
	b = append(r.appendInferOpening(b, oip.Float), '[')
	b = strconv.AppendInt(b, int64(r.Request.Inputs), 10)
	b = append(b, ',')
	b = append(strconv.AppendInt(b, embeddingDimensions, 10), `],"data":[`...)
	for i := range r.Request.Inputs {
		if i > 0 {
			b = append(b, ',')
		}
		draws := r.draws(i)
		b = appendVector(b, &draws, embeddingDimensions, false)
	}
	return append(b, "]}]}"...)
}

// wholeInferRanking appends a score for each passage, in the order of the passages.
func wholeInferRanking(r *Reply, b []byte) []byte {
	b = append(r.appendInferOpening(b, oip.Float), '[')
	b = append(strconv.AppendInt(b, int64(len(r.Request.passages)), 10), `],"data":[`...)
	for i, passage := range r.Request.passages {
		if i > 0 {
			b = append(b, ',')
		}
		pair := append(append(slices.Clone(r.Request.query), '|'), passage...)
		b = strconv.AppendFloat(b, float64(hashBytes(r.gen.opts.Seed, pair)%1000)/1000, 'f', 3, 64)
	}
	return append(b, "]}]}"...)
}

func wholeInferImages(r *Reply, b []byte) []byte {
	n := min(max(r.Request.n, 1), maxImages)
	b = append(r.appendInferOpening(b, oip.Bytes), '[')
	b = append(strconv.AppendInt(b, int64(n), 10), `],"data":[`...)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `"`+tinyJPEG+`"`...)
	}
	return append(b, "]}]}"...)
}
