package endpoint

import (
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/workload/dataset"
)

// rankings are the APIs that rank passages by a query.
type rankings struct {
	documents
	shape            rankingShape
	others, queries2 once
	passages0        once
}

// rankingShape is how the ranking APIs differ.
type rankingShape struct {
	sendsModel bool
	query      string // key of the query
	passages   string // key of the passages
	objects    bool   // texts are in objects
	results    string // key of the reply
	score      string // key of the number that each element of data has; "" for the replies that have other lists
}

// rankingShapes are the shapes by endpoint type.
var rankingShapes = map[string]rankingShape{
	"nim_rankings":    {sendsModel: true, query: "query", passages: "passages", objects: true, results: "rankings"},
	"cohere_rankings": {sendsModel: true, query: "query", passages: "documents", results: "results"},
	"hf_tei_rankings": {query: "query", passages: "texts", results: "results"},
	"voyage_rankings": {sendsModel: true, query: "query", passages: "documents", score: "relevance_score"},
	"vllm_score":      {sendsModel: true, query: "text_1", passages: "text_2", score: "score"},
}

func newRankings(d Descriptor, o Options) Endpoint {
	e := &rankings{shape: rankingShapes[d.Name]}
	if d.Name == "vllm_score" { // later servers prefer queries and documents, and name media otherwise
		o.Extra = takeNames(o.Extra, map[string]*string{"score_query_field": &e.shape.query,
			"score_documents_field": &e.shape.passages})
	}
	e.documents = newDocuments(d, o, func() documentReader {
		if e.shape.score != "" {
			return itemReader{e.shape.score}
		}
		return rankReader{e.shape}
	})
	e.others.warn, e.queries2.warn, e.passages0.warn = o.Warn, o.Warn, o.Warn
	return e
}

// Encode takes exactly one turn, whose texts are identified by their names.
func (e *rankings) Encode(c *Context) (*Body, error) {
	turn := c.current()
	if len(c.Turns) != 1 || turn == nil {
		return nil, valueError("Rankings endpoint only supports one turn.")
	}
	query, passages, err := e.split(turn.Texts)
	if err != nil {
		return nil, err
	}
	w := objectWriter{buf: make([]byte, 0, sizeHint(c)), over: e.over.with(turn.Extra)}
	if e.shape.sendsModel {
		w.text("model", modelOf(turn.Model, e.options.Model))
	}
	if w.key(e.shape.query) {
		w.buf = e.appendText(w.buf, query)
	}
	if w.key(e.shape.passages) {
		w.buf = append(w.buf, '[')
		for i, p := range passages {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			w.buf = e.appendText(w.buf, p)
		}
		w.buf = append(w.buf, ']')
	}
	body := w.end(false, false)
	if e.shape.score == "score" { // whatever the fields are called
		text := strings.Join(append([]string{query}, passages...), " ")
		body.fallback = text
	}
	return body, nil
}

func (e *rankings) appendText(dst []byte, text string) []byte {
	if !e.shape.objects {
		return jsonscan.AppendString(dst, text)
	}
	return append(jsonscan.AppendString(append(dst, `{"text":`...), text), '}')
}

// split separates query and passages.
func (e *rankings) split(texts []dataset.Media) (query string, passages []string, err error) {
	return splitRanking(texts, &e.others, &e.queries2, &e.passages0)
}

// splitRanking separates query and passages by the names of a turn's texts; the warnings are for other names,
// for several queries and for no passages.
func splitRanking(texts []dataset.Media, others, queries2, passages0 *once) (query string, passages []string,
	err error) {
	var queries []string
	for _, m := range texts {
		switch m.Name {
		case "query", "queries":
			queries = append(queries, m.Contents...)
		case "passages":
			passages = append(passages, m.Contents...)
		default:
			others.say("A text named " + string(jsonscan.AppendString(nil, m.Name)) +
				" is ignored: rankings are made of texts named query and passages.")
		}
	}
	if len(queries) == 0 {
		return "", nil, valueError("Rankings request requires a text named 'query'.")
	}
	if len(queries) > 1 {
		queries2.say("A turn has several queries; only the first one is sent.")
	}
	if len(passages) == 0 {
		passages0.say("A turn has no text named passages; its request has nothing to rank.")
	}
	return queries[0], passages, nil
}

// rankReader takes a reply that is a list of ranked passages.
type rankReader struct{ shape rankingShape }

func (rankReader) reset() {}

func (k rankReader) read(d *documentDecoder, r *root, _ []byte, atNS int64) {
	list := r.results
	if k.shape.results == "rankings" {
		list = r.rankings
	} else if list == nil && !k.shape.sendsModel {
		list = r.array
	}
	n := 0
	for e := range jsonscan.Elements(list) {
		if e[0] != '{' {
			d.fail("ValueError", "Received invalid list in response: "+clip(string(list), 100))
			return
		}
		n++
	}
	if n > 0 {
		d.content(atNS, true)
	}
}
