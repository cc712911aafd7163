package endpoint

import (
	"iter"
	"math"
	"strconv"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/measure/record"
)

// usageKey is a key under which some vendor reports a usage fact.
type usageKey uint8

const (
	promptTokens usageKey = iota
	inputTokens
	promptTokenCount
	inputTokensCamel
	inputTokenCount
	completionTokens
	outputTokens
	candidatesTokenCount
	outputTokensCamel
	generatedTokenCount
	totalTokens
	totalTokenCount
	totalTokensCamel
	completionReasoning
	outputReasoning
	thoughtsTokenCount
	promptCached
	inputCached
	cacheReadInputTokens
	promptCacheHit
	cachedContentTokenCount
	cacheReadCamel
	cachedTokens
	cacheCreationInputTokens
	cacheWriteCamel
	promptCacheMiss
	promptAudio
	inputAudio
	completionAudio
	outputAudio
	completionAccepted
	outputAccepted
	completionRejected
	outputRejected
	toolUsePromptTokenCount
	promptAudioSeconds
	promptEvalCount
	evalCount
	inputLength
	generatedTokens
	tokensEvaluated
	tokensPredicted
	numUsageKeys
	noUsageKey = numUsageKeys
)

// factKeys are the keys of every usage fact; the first one present wins.
var factKeys = [...][]usageKey{
	record.UsagePrompt: {promptTokens, inputTokens, promptTokenCount, inputTokensCamel, inputTokenCount,
		promptEvalCount, inputLength, tokensEvaluated},
	record.UsageCompletion: {completionTokens, outputTokens, candidatesTokenCount, outputTokensCamel,
		generatedTokenCount, evalCount, generatedTokens, tokensPredicted},
	record.UsageTotal:     {totalTokens, totalTokenCount, totalTokensCamel},
	record.UsageReasoning: {completionReasoning, outputReasoning, thoughtsTokenCount},
	record.UsageCacheRead: {promptCached, inputCached, cacheReadInputTokens, promptCacheHit, cachedContentTokenCount,
		cacheReadCamel, cachedTokens},
	record.UsageCacheWrite:         {cacheCreationInputTokens, cacheWriteCamel},
	record.UsageCacheMiss:          {promptCacheMiss},
	record.UsagePromptAudio:        {promptAudio, inputAudio},
	record.UsageCompletionAudio:    {completionAudio, outputAudio},
	record.UsageAcceptedPrediction: {completionAccepted, outputAccepted},
	record.UsageRejectedPrediction: {completionRejected, outputRejected},
	record.UsageToolUsePrompt:      {toolUsePromptTokenCount},
}

// topKey is the key of a member of the usage object itself.
func topKey(key []byte) usageKey {
	switch string(key) {
	case "prompt_tokens":
		return promptTokens
	case "completion_tokens":
		return completionTokens
	case "total_tokens":
		return totalTokens
	case "input_tokens":
		return inputTokens
	case "output_tokens":
		return outputTokens
	case "promptTokenCount":
		return promptTokenCount
	case "inputTokens":
		return inputTokensCamel
	case "input_token_count":
		return inputTokenCount
	case "candidatesTokenCount":
		return candidatesTokenCount
	case "outputTokens":
		return outputTokensCamel
	case "generated_token_count":
		return generatedTokenCount
	case "totalTokenCount":
		return totalTokenCount
	case "totalTokens":
		return totalTokensCamel
	case "thoughtsTokenCount":
		return thoughtsTokenCount
	case "cache_read_input_tokens":
		return cacheReadInputTokens
	case "prompt_cache_hit_tokens":
		return promptCacheHit
	case "cachedContentTokenCount":
		return cachedContentTokenCount
	case "cacheReadInputTokens":
		return cacheReadCamel
	case "cached_tokens":
		return cachedTokens
	case "cache_creation_input_tokens":
		return cacheCreationInputTokens
	case "cacheWriteInputTokens":
		return cacheWriteCamel
	case "prompt_cache_miss_tokens":
		return promptCacheMiss
	case "toolUsePromptTokenCount":
		return toolUsePromptTokenCount
	case "prompt_audio_seconds":
		return promptAudioSeconds
	case "prompt_eval_count":
		return promptEvalCount
	case "eval_count":
		return evalCount
	case "input_length":
		return inputLength
	case "generated_tokens":
		return generatedTokens
	case "tokens_evaluated":
		return tokensEvaluated
	case "tokens_predicted":
		return tokensPredicted
	}
	return noUsageKey
}

// detail is one of the four details objects.
type detail uint8

const (
	noDetail detail = iota
	promptDetail
	inputDetail
	completionDetail
	outputDetail
)

func detailOf(key []byte) detail {
	switch string(key) {
	case "prompt_tokens_details":
		return promptDetail
	case "input_tokens_details":
		return inputDetail
	case "completion_tokens_details":
		return completionDetail
	case "output_tokens_details":
		return outputDetail
	}
	return noDetail
}

// key is the key of a member of a details object.
func (d detail) key(name []byte) usageKey {
	// The columns are the details objects from promptDetail on.
	var row [4]usageKey
	const no = noUsageKey
	switch string(name) {
	case "cached_tokens":
		row = [4]usageKey{promptCached, inputCached, no, no}
	case "audio_tokens":
		row = [4]usageKey{promptAudio, inputAudio, completionAudio, outputAudio}
	case "reasoning_tokens":
		row = [4]usageKey{no, no, completionReasoning, outputReasoning}
	case "accepted_prediction_tokens":
		row = [4]usageKey{no, no, completionAccepted, outputAccepted}
	case "rejected_prediction_tokens":
		row = [4]usageKey{no, no, completionRejected, outputRejected}
	default:
		return no
	}
	return row[d-promptDetail]
}

// level is where a value was found: in the usage object itself or in an envelope whose members are lifted
// into it. A lower level wins, whatever the order of arrival.
type level uint8

const (
	absent level = iota
	atTop
	inUsageMetadata
	inMetaTokens
	inMeta
	inTokens
)

// Usage folds all usage objects of an exchange in order of arrival: per key the last value that is
// not null counts, details objects are merged.
type Usage struct {
	values  [numUsageKeys]int64
	levels  [numUsageKeys]level
	seconds float64
	present bool
}

// Present reports whether any usage object held anything.
func (u *Usage) Present() bool { return u.present }

// holdsUsage reports whether a member at the root of a document has token counts, or is one: vendors that have no usage
// object put them there.
func holdsUsage(key []byte) bool {
	switch string(key) {
	case "usageMetadata", "meta", "x_groq", "input_token_count", "generated_token_count", "prompt_eval_count", "eval_count",
		"tokens_evaluated", "tokens_predicted", "prompt_tokens", "completion_tokens", "input_tokens", "output_tokens":
		return true
	}
	return false
}

// Fold merges one usage object; anything else is ignored.
func (u *Usage) Fold(raw []byte) {
	for m := range jsonscan.Members(raw) {
		u.present = true
		switch key := string(m.Key); {
		case jsonscan.IsNull(m.Value):
		case key == "usageMetadata":
			u.foldMembers(m.Value, inUsageMetadata)
		case key == "tokens":
			u.foldMembers(m.Value, inTokens)
		case key == "x_groq":
			u.foldMembers(jsonscan.Find(m.Value, "usage"), inUsageMetadata)
		case key == "meta":
			u.foldMembers(jsonscan.Find(m.Value, "tokens"), inMetaTokens)
			u.set(cachedTokens, jsonscan.Find(m.Value, "cached_tokens"), inMeta)
		default:
			u.foldMember(m, atTop)
		}
	}
}

func (u *Usage) foldMembers(raw []byte, from level) {
	for m := range jsonscan.Members(raw) {
		u.foldMember(m, from)
	}
}

func (u *Usage) foldMember(m jsonscan.Member, from level) {
	if d := detailOf(m.Key); d != noDetail {
		for n := range jsonscan.Members(m.Value) {
			u.set(d.key(n.Key), n.Value, from)
		}
		return
	}
	u.set(topKey(m.Key), m.Value, from)
}

// set notes a number; other values are as good as absent.
func (u *Usage) set(k usageKey, raw []byte, from level) {
	if k == noUsageKey || u.levels[k] != absent && u.levels[k] < from {
		return
	}
	if jsonscan.IsText(raw) { // some servers put numbers in quotes
		raw = raw[1 : len(raw)-1]
	}
	n, f, ok := number(raw)
	if !ok {
		return
	}
	u.values[k], u.levels[k] = n, from
	if k == promptAudioSeconds {
		u.seconds = f
	}
}

// number reads a raw JSON number as an integer (towards zero) and as a float.
func number(raw []byte) (n int64, f float64, ok bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, 0, false
	}
	if len(raw) <= 18 {
		for i, c := range raw {
			if c < '0' || c > '9' {
				break
			}
			if n = n*10 + int64(c-'0'); i == len(raw)-1 {
				return n, float64(n), true
			}
		}
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.Abs(f) >= 1<<63 {
		return 0, 0, false
	}
	return int64(f), f, true
}

func (u *Usage) has(k usageKey) bool { return u.levels[k] != absent }

// source is the key that a fact comes from.
func (u *Usage) source(f record.Field) usageKey {
	for _, k := range factKeys[f] {
		if u.has(k) {
			return k
		}
	}
	return noUsageKey
}

// Value returns a usage fact that the server reported; false if it did not.
func (u *Usage) Value(f record.Field) (int64, bool) {
	k := u.source(f)
	if k == noUsageKey {
		return 0, false
	}
	n := u.values[k]
	if f == record.UsagePrompt && (k == inputTokens || k == inputTokensCamel) {
		// These vendors do not include cached tokens in the input tokens.
		for _, cache := range [...]usageKey{cacheReadInputTokens, cacheCreationInputTokens, cacheReadCamel,
			cacheWriteCamel} {
			if u.has(cache) {
				n += u.values[cache]
			}
		}
	}
	return n, true
}

// Facts yields the usage facts that the server reported.
func (u *Usage) Facts() iter.Seq2[record.Field, int64] {
	return func(yield func(record.Field, int64) bool) {
		for f := record.UsagePrompt; int(f) < len(factKeys); f++ {
			if n, ok := u.Value(f); ok && !yield(f, n) {
				return
			}
		}
	}
}

// PromptAudioSeconds is the duration of the prompt's audio; false if the server reported none.
func (u *Usage) PromptAudioSeconds() (float64, bool) { return u.seconds, u.has(promptAudioSeconds) }

// ReasoningApart reports that the completion count does not include the reasoning tokens.
func (u *Usage) ReasoningApart() bool {
	return u.source(record.UsageCompletion) == candidatesTokenCount
}
