package endpoint

import "aiperf/internal/base/jsonscan"

// root is what one walk over the members of a document found: raw values that point into its bytes.
// It has the members of all APIs but chat and completions, which have a scanner of their own (chunk).
type root struct {
	object, kind, err, errorType, usage []byte
	// foreignUsage reports that token counts are at the root, where some vendors put them.
	foreignUsage bool
	// array is the document itself when it is a list, number of its members otherwise.
	array   []byte
	members int

	id, status, store                                                    []byte
	data, embeddings, embedding, rankings, results                       []byte
	choices, text, content, response, output, result                     []byte
	outputText, generatedText, token, details                            []byte
	delta, item, message, contentBlock, index, outputIndex, contentIndex []byte
	metaInfo, outputIDs                                                  []byte
	done, doneReason, finish, stopReason, incomplete, refusal            []byte
	b64, url, inferenceTime, peakMemory                                  []byte
}

// place is where the value of a member goes; nil for members that are not read.
func (r *root) place(key []byte) *[]byte {
	switch string(key) {
	case "object":
		return &r.object
	case "type":
		return &r.kind
	case "error":
		return &r.err
	case "error_type":
		return &r.errorType
	case "usage":
		return &r.usage
	case "id":
		return &r.id
	case "status":
		return &r.status
	case "store":
		return &r.store
	case "data":
		return &r.data
	case "embeddings":
		return &r.embeddings
	case "embedding":
		return &r.embedding
	case "rankings":
		return &r.rankings
	case "results":
		return &r.results
	case "choices":
		return &r.choices
	case "text":
		return &r.text
	case "content":
		return &r.content
	case "response":
		return &r.response
	case "output":
		return &r.output
	case "result":
		return &r.result
	case "output_text":
		return &r.outputText
	case "generated_text":
		return &r.generatedText
	case "token":
		return &r.token
	case "details":
		return &r.details
	case "delta":
		return &r.delta
	case "item":
		return &r.item
	case "message":
		return &r.message
	case "content_block":
		return &r.contentBlock
	case "index":
		return &r.index
	case "output_index":
		return &r.outputIndex
	case "content_index":
		return &r.contentIndex
	case "meta_info":
		return &r.metaInfo
	case "output_ids":
		return &r.outputIDs
	case "done":
		return &r.done
	case "done_reason":
		return &r.doneReason
	case "finish_reason":
		return &r.finish
	case "stop_reason":
		return &r.stopReason
	case "incomplete_details":
		return &r.incomplete
	case "refusal":
		return &r.refusal
	case "b64_json":
		return &r.b64
	case "url":
		return &r.url
	case "inference_time_s":
		return &r.inferenceTime
	case "peak_memory_mb":
		return &r.peakMemory
	}
	return nil
}

// scan reads a whole document; false if it is not JSON.
func (r *root) scan(b []byte) bool {
	*r = root{}
	i := jsonscan.Space(b, 0)
	if i >= len(b) || b[i] != '{' {
		if i < len(b) && b[i] == '[' {
			r.array = b[i:]
		}
		return jsonscan.Document(b, i) >= 0
	}
	i, more := jsonscan.Open(b, i, '}', 1)
	for more {
		key, at := jsonscan.Key(b, i)
		if at < 0 {
			return false
		}
		if i = jsonscan.Value(b, at, 1); i < 0 {
			return false
		}
		r.members++
		if place := r.place(key); place != nil {
			*place = b[at:i]
		}
		r.foreignUsage = r.foreignUsage || holdsUsage(key)
		i, more = jsonscan.Next(b, i, '}')
	}
	return i >= 0 && jsonscan.End(b, i) >= 0
}
