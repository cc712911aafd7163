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
	return r.appendItems(b, "embedding", func(b []byte, i int) []byte {
		b = append(b, `,"embedding":`...)
		draws := r.draws(i)
		return appendVector(b, &draws, dimensions, r.Request.base64)
	})
}

// appendItems appends a list with an object for each input, and the usage; fill appends the members of one that it has
// besides its index and kind.
func (r *Reply) appendItems(b []byte, kind string, fill func(b []byte, i int) []byte) []byte {
	b = append(b, `{"object":"list","id":"`...)
	b = r.AppendID(b)
	b = append(b, `","model":`...)
	b = append(b, r.Request.Model...)
	b = append(b, `,"data":[`...)
	for i := range r.Request.Inputs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		if kind != "" {
			b = append(append(append(b, `"object":"`...), kind...), `",`...)
		}
		b = append(b, `"index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(fill(b, i), '}')
	}
	b = append(b, `],"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(r.Plan.PromptTokens), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(r.Plan.PromptTokens), 10)
	return append(b, "}}"...)
}

// draws are the random numbers of an input.
func (r *Reply) draws(i int) random.Rand { return r.gen.words.At(r.Plan.draw + uint64(i)) }

// poolingRows are the vectors of a text, as of a model that has one for each token.
const poolingRows = 8

func wholePooling(r *Reply, b []byte) []byte {
	const width = embeddingDimensions / poolingRows
	return r.appendItems(b, "pooling", func(b []byte, i int) []byte {
		b = append(b, `,"data":`...)
		draws := r.draws(i)
		if r.Request.base64 {
			return appendVector(b, &draws, embeddingDimensions, true)
		}
		for row := range poolingRows {
			b = appendVector(append(b, "[,"[min(row, 1)]), &draws, width, false)
		}
		return append(b, ']')
	})
}

// classes are what texts are classified into.
const classes = 3

func wholeClasses(r *Reply, b []byte) []byte {
	return r.appendItems(b, "", func(b []byte, i int) []byte {
		draws := r.draws(i)
		first := 1 + draws.IntN(998)
		second := draws.IntN(999 - first)
		shares := [classes]int{first, second, 1000 - first - second}
		best := 0
		for class, share := range shares {
			if share > shares[best] {
				best = class
			}
		}
		b = strconv.AppendInt(append(b, `,"label":"LABEL_`...), int64(best), 10)
		b = append(b, `","probs":`...)
		for class, share := range shares {
			b = strconv.AppendFloat(append(b, "[,"[min(class, 1)]), float64(share)/1000, 'f', 3, 64)
		}
		return strconv.AppendInt(append(b, `],"num_classes":`...), classes, 10)
	})
}

// wholeScores appends a score for each pair of texts.
func wholeScores(r *Reply, b []byte) []byte {
	return r.appendItems(b, "score", func(b []byte, i int) []byte {
		first := r.Request.firsts[min(i, len(r.Request.firsts)-1)]
		b = append(b, `,"score":`...)
		return appendScore(b, r.score(first, r.Request.passages[i]))
	})
}

// score is that of two texts, in thousandths: a hash of them.
func (r *Reply) score(query, passage []byte) uint64 {
	pair := append(append(slices.Clone(query), '|'), passage...)
	return hashBytes(r.gen.opts.Seed, pair) % 1000
}

func appendScore(b []byte, thousandths uint64) []byte {
	return strconv.AppendFloat(b, float64(thousandths)/1000, 'f', 3, 64)
}

// appendVector appends numbers from -0.5 to 0.5 with three digits.
func appendVector(b []byte, r *random.Rand, dimensions int, coded bool) []byte {
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
		list = append(list, ranked{i, r.score(r.Request.query, passage)})
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return int(b.score) - int(a.score) })
	key := map[API]string{Cohere: "relevance_score", Voyage: "relevance_score", TEI: "score",
		NIMRanking: "logit"}[r.API]
	if n := r.Request.n; r.API == Voyage && n > 0 {
		list = list[:min(n, len(list))]
	}
	switch r.API {
	case Voyage:
		b = append(b, `{"object":"list","data":[`...)
	case Cohere:
		b = append(b, `{"id":"`...)
		b = append(r.AppendID(b), `","results":[`...)
	case NIMRanking:
		b = append(b, `{"rankings":[`...)
	default:
		b = append(b, '[')
	}
	for i, one := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"index":`...)
		b = strconv.AppendInt(b, int64(one.index), 10)
		b = append(append(append(b, `,"`...), key...), `":`...)
		b = appendScore(b, one.score)
		if r.Request.repeats {
			b = append(append(b, `,"document":`...), r.Request.passages[one.index]...)
		}
		b = append(b, '}')
	}
	tokens := strconv.Itoa(r.Plan.PromptTokens)
	switch r.API {
	case Cohere:
		return append(b, `],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1},`+
			`"tokens":{"input_tokens":`+tokens+`}}}`...)
	case Voyage:
		b = append(append(b, `],"model":`...), r.Request.Model...)
		return append(b, `,"usage":{"total_tokens":`+tokens+`}}`...)
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
