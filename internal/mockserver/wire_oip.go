package mockserver

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"aiperf/internal/wire/oip"
)

// This file speaks the open inference protocol: what a request asks for shows in its tensors and in the name
// of its model.

const (
	oipModels = "/v2/models/"
	oipInfer  = "/infer"
	oipReady  = "/ready"
	oipPath   = oipModels + "{model}" + oipInfer // as the books name it
)

// isInfer tells the requests of the protocol, over HTTP and as they come from calls of gRPC.
func isInfer(path string) bool {
	return strings.HasPrefix(path, oipModels) && strings.HasSuffix(path, oipInfer) || path == oip.ModelInfer ||
		path == oip.ModelStreamInfer
}

// oipModel is the model in a path, "" where the body names it.
func oipModel(path string) string {
	name, found := strings.CutPrefix(path, oipModels)
	if !found {
		return ""
	}
	name, _, _ = strings.Cut(strings.TrimSuffix(strings.TrimSuffix(name, oipInfer), oipReady), "/versions/")
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// inferOutputs are the outputs of the kinds of models, unless a request asks for another name.
var inferOutputs = map[api]string{apiInfer: "text_output", apiInferEmbeddings: "embedding", apiInferRankings: "scores",
	apiInferImages: "image"}

// infer reads the tensors of a request and reports what is asked for: rankings if there are passages, else what
// the names of the model and of the output say, else text.
func (r *request) infer(path string, body []byte) (api, *httpError) {
	*r = request{text: r.text[:0], format: r.format}
	if !utf8.Valid(body) {
		return apiInfer, badRequest("the body is not valid UTF-8")
	}
	m, err := oip.RequestFromJSON(body)
	if err != nil {
		return apiInfer, badRequest("%v", err)
	}
	model := oipModel(path)
	if model == "" {
		model = string(m.Model)
	}
	r.model = appendJSONString(nil, model)
	r.stream = path == oip.ModelStreamInfer
	if len(m.Asked) > 0 {
		r.asked = string(m.Asked[0])
	}
	for i := range m.Parameters {
		if err := r.inferParameter(m.Parameters[i].Name, m.Parameters[i].Value); err != nil {
			return apiInfer, err
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
			kind = apiInferRankings
			for _, text := range t.Texts {
				r.passages = append(r.passages, appendJSONString(nil, string(text)))
			}
		case name == "query" && len(t.Texts) > 0:
			r.query = appendJSONString(nil, string(t.Texts[0]))
		}
		for _, text := range t.Texts {
			r.addText()
			r.text = append(r.text, text...)
		}
		r.inputs += len(t.Texts)
	}
	if kind == apiInferRankings {
		r.inputs = len(r.passages)
	}
	r.stream = r.stream && kind == apiInfer
	return kind, nil
}

// kindOf tells by the names of a model and of the output that is asked for what they are.
func kindOf(names string) api {
	name := strings.ToLower(names)
	switch {
	case strings.Contains(name, "embed"):
		return apiInferEmbeddings
	case strings.Contains(name, "rank"), strings.Contains(name, "score"):
		return apiInferRankings
	case strings.Contains(name, "diffusion"), strings.Contains(name, "image"):
		return apiInferImages
	}
	return apiInfer
}

func (r *request) inferParameter(name string, value []byte) (err *httpError) {
	switch key := []byte(name); name {
	case "max_tokens":
		r.maxTokens, err = count(key, value)
	case "min_tokens":
		r.minTokens, err = count(key, value)
	case "n":
		r.n, err = count(key, value)
	case "ignore_eos":
		r.ignoreEOS, err = boolean(key, value)
	}
	return err
}

// appendInferOpening builds a reply up to the shape of its output.
func (c *conn) appendInferOpening(b []byte, datatype string) []byte {
	b = append(append(b, `{"model_name":`...), c.req.model...)
	b = c.appendID(append(b, `,"model_version":"1","id":"`...))
	name := c.req.asked
	if name == "" {
		name = inferOutputs[c.x.api]
	}
	b = appendJSONString(append(b, `","outputs":[{"name":`...), name)
	return append(append(append(b, `,"datatype":"`...), datatype...), `","shape":`...)
}

func wholeInferText(c *conn, b []byte) []byte {
	p := &c.x.plan
	b = append(c.appendInferOpening(b, oip.Bytes), `[1],"data":["`...)
	b = c.appendWords(b, c.srv.words.At(p.draw), p.tokens())
	return append(b, `"]}]}`...)
}

func inferEvent(s *stream, k int) {
	c := s.c
	c.out = append(c.out, "data: "...)
	if k == kindError {
		c.out = append(c.out, errorInside...)
	} else {
		c.out = append(c.appendInferOpening(c.out, oip.Bytes), `[1],"data":["`...)
		c.out = append(c.out, c.srv.vocabulary.piece(&s.words)...)
		c.out = append(c.out, `"]}]}`...)
	}
	c.out = append(c.out, "\n\n"...)
}

func wholeInferEmbeddings(c *conn, b []byte) []byte {
	b = append(c.appendInferOpening(b, oip.Float), '[')
	b = strconv.AppendInt(b, int64(c.req.inputs), 10)
	b = append(b, ',')
	b = append(strconv.AppendInt(b, embeddingDimensions, 10), `],"data":[`...)
	for i := range c.req.inputs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendVector(b, c.srv.words.At(c.x.plan.draw+uint64(i)), embeddingDimensions, false)
	}
	return append(b, "]}]}"...)
}

// wholeInferRanking answers a score for each passage, in the order of the passages.
func wholeInferRanking(c *conn, b []byte) []byte {
	b = append(c.appendInferOpening(b, oip.Float), '[')
	b = append(strconv.AppendInt(b, int64(len(c.req.passages)), 10), `],"data":[`...)
	for i, passage := range c.req.passages {
		if i > 0 {
			b = append(b, ',')
		}
		pair := append(append(slices.Clone(c.req.query), '|'), passage...)
		b = strconv.AppendFloat(b, float64(hashBytes(c.srv.opts.Seed, pair)%1000)/1000, 'f', 3, 64)
	}
	return append(b, "]}]}"...)
}

func wholeInferImages(c *conn, b []byte) []byte {
	n := min(max(c.req.n, 1), maxImages)
	b = append(c.appendInferOpening(b, oip.Bytes), '[')
	b = append(strconv.AppendInt(b, int64(n), 10), `],"data":[`...)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `"`+tinyJPEG+`"`...)
	}
	return append(b, "]}]}"...)
}

// oipGet is what the protocol answers to a GET, if the path is one of its own.
func (c *conn) oipGet(path string) (known bool, err error) {
	model := strings.HasPrefix(path, oipModels) && strings.HasSuffix(path, oipReady)
	if !model && path != "/v2/health/live" && path != "/v2/health/ready" {
		return false, nil
	}
	if bytes.HasPrefix(c.head.path, []byte("/v2/health/live")) {
		return true, c.sendText("{}")
	}
	if refusal := c.srv.authorize(c); refusal != nil {
		return true, c.refuse(refusal)
	}
	delay := c.srv.opts.InferReadyDelay
	if model {
		delay = max(delay, c.srv.opts.ModelsReadyDelay)
		if names := c.srv.opts.Models; c.srv.opts.DisableModels || len(names) > 0 &&
			!slices.Contains(names, oipModel(path)) && !slices.Contains(names, "mock-model") {
			return true, c.refuse(&httpError{http.StatusNotFound, "no such model: " + oipModel(path)})
		}
	}
	if refusal := c.srv.ready(delay); refusal != nil {
		return true, c.refuse(refusal)
	}
	return true, c.sendText("{}")
}
