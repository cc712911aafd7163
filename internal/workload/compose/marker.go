package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// markerSamples is how many marks are measured.
const markerSamples = 8

// reserveMarks makes room for the marks against caches, so that requests have the asked length with them:
// in the generated system prompt where that is marked, else in the first text of a conversation.
func (b *builder) reserveMarks() {
	system := strings.HasPrefix(b.CacheBust, "system_")
	if b.tok == nil || !system && !strings.HasPrefix(b.CacheBust, "first_turn_") {
		return
	}
	cost := b.markTokens()
	switch {
	case system && b.SharedSystemLength > 0:
		b.SharedSystemLength = max(1, b.SharedSystemLength-cost)
	case system && b.SystemPrompt != nil: // it is sent word for word
	default:
		b.markCost = cost
	}
}

// markTokens returns about how many tokens a mark has.
func (b *builder) markTokens() int {
	sum := 0
	for i := range markerSamples {
		digest := sha256.Sum256([]byte("mark " + strconv.Itoa(i)))
		mark := "[rid:" + hex.EncodeToString(digest[:])[:12] + "]\n\n"
		if strings.HasSuffix(b.CacheBust, "_suffix") {
			mark = "\n\n" + strings.TrimSpace(mark)
		}
		sum += b.tok.Count(mark)
	}
	return int(math.RoundToEven(float64(sum) / markerSamples))
}
