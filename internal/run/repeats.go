package run

import (
	"hash/maphash"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/result/summary"
	"aiperf/internal/workload/dataset"
)

const (
	// prefixChunk is the length of the pieces, in bytes, in which beginnings of prompts are compared: about the text of
	// one block of 16 tokens.
	prefixChunk = 64
	// mostExamined bounds the text that is examined, in bytes; what is beyond is taken to repeat as much.
	mostExamined = 32 << 20
	// bytesPerToken is the usual length of a token of a reply, whose text is not kept.
	bytesPerToken = 4
	// mediumBytes stands for an image, a sound or a video, whose encoded length says nothing of its tokens.
	mediumBytes = 1024
)

// repeats returns which part of the text of the run's prompts, from 0 to 1, the run itself had sent before: what a
// prefix cache that was empty at the start and had no bounds would have held. nil: it is not known.
func (c *content) repeats(sent *promptTally, r *summary.Result) *float64 {
	data := c.data
	if data == nil {
		return nil
	}
	if data.Branches() || c.cfg.AnyProfiling(hasLanes) {
		// Sessions begin with the history of others: only recordings with blocks say how much of it is shared.
		hit, known := r.Value("theoretical_prefix_cache_hit")
		if !known {
			return nil
		}
		hit /= 100
		return &hit
	}
	x := prefixIndex{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	if length, ok := r.Value("output_sequence_length"); ok {
		x.reply = int(bytesPerToken * length)
	}
	for i := range data.Len() {
		conversation := data.At(i)
		times, warm := sent.sends(i, conversation.SessionID)
		if times > 0 && conversation.Broken == nil {
			x.add(conversation, data.Mode(conversation), times, warm)
		}
		if x.examined > mostExamined {
			break
		}
	}
	if x.all == 0 {
		return nil
	}
	share := x.known / x.all
	return &share
}

// prefixIndex knows the beginnings of prompts that were sent.
type prefixIndex struct {
	seed maphash.Seed
	seen map[uint64]struct{} // hashes of a beginning, each one piece longer than another
	// reply is the length of a reply in the history.
	reply    int
	examined int
	// all is the text of all requests, known what was sent before, in bytes.
	all, known float64
	text       []byte
}

// add adds the requests of a conversation that was sent so many times; warm: the first time was in a warm-up.
func (x *prefixIndex) add(c *dataset.Conversation, mode dataset.ContextMode, times uint32, warm bool) {
	alone := mode == dataset.MessageArrayWithResponses
	opening := func() {
		x.text = x.text[:0]
		for _, s := range []*string{c.SystemMessage, c.UserContext} {
			if s != nil {
				x.text = append(x.text, *s...)
			}
		}
	}
	opening()
	history, replies := 0, 0
	for i := range c.Turns {
		if c.Turns[i].Silent {
			continue
		}
		if alone {
			opening()
		}
		x.appendTurn(&c.Turns[i])
		length := len(x.text)
		known := x.hit(x.text)
		if !alone {
			known = max(known, history)
			history = length
		}
		whole := length + replies
		if warm {
			known = length
		}
		x.all += float64(times) * float64(whole)
		x.known += float64(known+replies) + float64(times-1)*float64(whole)
		if mode == dataset.DeltasWithoutResponses {
			replies += x.reply
		}
	}
}

// hit returns how many bytes of a prompt, from its beginning, were sent before, and notes the prompt.
func (x *prefixIndex) hit(prompt []byte) int {
	x.examined += len(prompt)
	hash, known, all := uint64(0), 0, true
	for rest := prompt; len(rest) > 0; {
		piece := rest[:min(prefixChunk, len(rest))]
		rest = rest[len(piece):]
		hash = hash*0x9e3779b97f4a7c15 ^ maphash.Bytes(x.seed, piece)
		if _, seen := x.seen[hash]; !seen {
			all = false
			x.seen[hash] = struct{}{}
		}
		if all {
			known += len(piece)
		}
	}
	return known
}

// promptMembers are the members of a body that hold the prompt.
var promptMembers = []string{"messages", "prompt", "input", "text_input", "inputs"}

// appendTurn appends the text of a turn.
func (x *prefixIndex) appendTurn(t *dataset.Turn) {
	if t.RawPayload != nil {
		for _, name := range promptMembers {
			if value := jsonscan.Find(t.RawPayload, name); value != nil {
				x.text = append(x.text, value...)
				return
			}
		}
		x.text = append(x.text, t.RawPayload...)
		return
	}
	for _, m := range t.RawMessages {
		x.text = append(x.text, m...)
	}
	whole := t.Whole()
	for i := range whole.Texts {
		for _, content := range whole.Texts[i].Contents {
			x.text = append(x.text, content...)
		}
	}
	var medium [mediumBytes]byte
	for _, list := range [][]dataset.Media{t.Images, t.Audios, t.Videos} {
		for i := range list {
			for _, content := range list[i].Contents {
				id := maphash.String(x.seed, content)
				for k := range 8 {
					medium[k] = byte(id >> (8 * k))
				}
				x.text = append(x.text, medium[:]...)
			}
		}
	}
}
