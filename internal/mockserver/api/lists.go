package api

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/base/random"
)

// This file writes embeddings, rankings and what was found in images.

const embeddingDimensions = 768

func wholeEmbeddings(r *Reply, b []byte) []byte {
	dimensions := r.Request.dimensions
	if dimensions <= 0 || dimensions > 1<<16 {
		dimensions = embeddingDimensions
	}
	b = append(b, `{"object":"list","id":"`...)
	b = r.AppendID(b)
	b = append(b, `","model":`...)
	b = append(b, r.Request.Model...)
	b = append(b, `,"data":[`...)
	for i := range r.Request.Inputs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"object":"embedding","index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"embedding":`...)
		b = appendVector(b, r.gen.words.At(r.Plan.draw+uint64(i)), dimensions, r.Request.base64)
		b = append(b, '}')
	}
	b = append(b, `],"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(r.Plan.PromptTokens), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(r.Plan.PromptTokens), 10)
	return append(b, "}}"...)
}

// appendVector appends numbers from -0.5 to 0.5 with three digits.
func appendVector(b []byte, r random.Rand, dimensions int, coded bool) []byte {
	var bytes []byte
	if !coded {
		b = append(b, '[')
	}
	for i := range dimensions {
		v := float64(r.IntN(1000)-500) / 1000
		if coded {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(float32(v)))
			continue
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, v, 'f', 3, 64)
	}
	if !coded {
		return append(b, ']')
	}
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, bytes)
	return append(b, '"')
}

// wholeRanking appends a score for each passage, which is a hash of it and the query.
func wholeRanking(r *Reply, b []byte) []byte {
	type ranked struct {
		index int
		score uint64
	}
	var list []ranked
	for i, passage := range r.Request.passages {
		pair := append(append(slices.Clone(r.Request.query), '|'), passage...)
		list = append(list, ranked{i, hashBytes(r.gen.opts.Seed, pair) % 1000})
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return int(b.score) - int(a.score) })
	key := map[API]string{Cohere: "relevance_score", TEI: "score", NIMRanking: "logit"}[r.API]
	switch r.API {
	case Cohere:
		b = append(b, `{"id":"`...)
		b = append(r.AppendID(b), `","results":[`...)
	case NIMRanking:
		b = append(b, `{"rankings":[`...)
	default:
		b = append(b, '[')
	}
	for i, r := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"index":`...)
		b = strconv.AppendInt(b, int64(r.index), 10)
		b = append(append(append(b, `,"`...), key...), `":`...)
		b = strconv.AppendFloat(b, float64(r.score)/1000, 'f', 3, 64)
		b = append(b, '}')
	}
	tokens := strconv.Itoa(r.Plan.PromptTokens)
	switch r.API {
	case Cohere:
		return append(b, `],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1},`+
			`"tokens":{"input_tokens":`+tokens+`}}}`...)
	case NIMRanking:
		return append(b, `],"usage":{"prompt_tokens":`+tokens+`,"total_tokens":`+tokens+`}}`...)
	}
	return append(b, ']')
}

// wholeInfer appends one bounding box for each image.
func wholeInfer(r *Reply, b []byte) []byte {
	b = append(b, `{"data":[`...)
	for i := range r.Request.Inputs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"bounding_boxes":{"table":[{"x_min":0.1,"y_min":0.1,"x_max":0.9,"y_max":0.9,`+
			`"confidence":0.9}]}}`...)
	}
	return append(b, `],"usage":{"images_size_mb":0.01}}`...)
}
