package compose

import (
	"context"
	"math"

	"aiperf/internal/base/random"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/recipe"
)

// generate makes the turns of synthetic conversation k, with media or without.
func (b *builder) generate(ctx context.Context, k uint64, media bool) ([]dataset.Turn, error) {
	if b.Rankings != nil {
		return []dataset.Turn{b.rank(k)}, nil
	}
	delays := b.streams.delays.At(k)
	turns := make([]dataset.Turn, b.turnCount(k))
	if b.texts {
		b.writeTexts(k, turns)
	}
	for i := 1; i < len(turns); i++ {
		turns[i].DelayMS = b.delay(&delays)
	}
	for i, m := range b.drawMix(k, len(turns)) {
		turns[i].Archetype = m.Name
	}
	if !media {
		return turns, nil
	}
	return turns, b.addMedia(ctx, k, turns)
}

// turnCount returns the number of turns of synthetic conversation k.
func (b *builder) turnCount(k uint64) int {
	r := b.streams.turns.At(k)
	return b.Turns.Draw(&r)
}

// writeTexts gives the turns of conversation k their texts.
func (b *builder) writeTexts(k uint64, turns []dataset.Turn) {
	lengths, prefixes := b.streams.lengths.At(k), b.streams.prefix.At(k)
	corpus := b.streams.corpus.At(b.first + k)
	pairs, mix := b.drawPairs(k, len(turns)), b.drawMix(k, len(turns))
	for i := range turns {
		if mix != nil && mix[i].NoText {
			continue
		}
		texts := make([]string, b.BatchSize)
		for j := range texts {
			n, prefix := 0, ""
			switch {
			case mix != nil && mix[i].ISL != nil:
				n = max(1, mix[i].ISL.Draw(&lengths)-b.specials)
			case pairs != nil:
				n = pairs[i].isl
			default:
				n = b.promptLength(&lengths)
			}
			if i == 0 && len(b.prefixes) > 0 {
				prefix = b.prefixes[prefixes.IntN(len(b.prefixes))]
			}
			if j == 0 {
				n = b.contentTokens(n, i, prefix)
			}
			texts[j] = b.continueText(&corpus, prefix, n)
		}
		turns[i].Texts = []dataset.Media{{Name: "text", Contents: texts}}
	}
}

// promptLength draws the length of a text. The window below a largest size counts what the tokenizer
// adds as part of it.
func (b *builder) promptLength(r *random.Rand) int {
	switch w := b.ISLWindow; {
	case w == nil:
		return max(1, b.ISL.Draw(r)-b.added)
	case w.UpTo:
		return max(1, w.Draw(r, mean(b.ISL))-max(0, b.tok.Specials().Added))
	default:
		return w.Draw(r, max(0, mean(b.ISL)-float64(b.added)))
	}
}

func (b *builder) outputLength(r *random.Rand) int {
	if b.OSLWindow != nil {
		return b.OSLWindow.Draw(r, mean(b.OSL))
	}
	return b.OSL.Draw(r)
}

// delay returns the wait before a turn in milliseconds, nil for none.
func (b *builder) delay(r *random.Rand) *float64 {
	if mean(b.DelayMS) <= 0 {
		return nil
	}
	delays := b.DelayMS
	if n, ok := delays.(recipe.Normal); ok {
		n.Mean = math.Trunc(n.Mean)
		delays = n
	}
	ms := float64(delays.Draw(r)) * b.DelayRatio
	return &ms
}

// setLimits gives a limit to the turns of conversation k that have none.
func (b *builder) setLimits(k uint64, turns []dataset.Turn) {
	pairs, limits, mix := b.drawPairs(k, len(turns)), b.streams.limits.At(k), b.drawMix(k, len(turns))
	for i := range turns {
		var n int
		switch {
		case mix != nil && mix[i].OSL != nil:
			n = mix[i].OSL.Draw(&limits)
		case pairs != nil:
			n = pairs[i].osl
		case b.OSL != nil:
			n = b.outputLength(&limits)
		default:
			continue
		}
		if turns[i].MaxTokens == nil && turns[i].RawPayload == nil && !turns[i].Silent {
			turns[i].MaxTokens = &n
		}
	}
}

// lengths is a pair drawn from the sequence distribution for one turn.
type lengths struct{ isl, osl int }

// drawPairs draws for each of n turns of conversation k; nil without a distribution. It yields the
// same for the prompts and for the limits, which are made apart.
func (b *builder) drawPairs(k uint64, n int) []lengths {
	if len(b.SeqDist) == 0 {
		return nil
	}
	r := b.streams.pairs.At(k)
	drawn := make([]lengths, n)
	for i := range drawn {
		p := ChoosePair(b.SeqDist, r.Float64())
		drawn[i] = lengths{isl: p.ISL.Draw(&r), osl: p.OSL.Draw(&r)}
	}
	return drawn
}

// ChoosePair returns the first pair whose cumulative share exceeds u, from 0 to 1; the last one if none does.
func ChoosePair(pairs []recipe.LengthPair, u float64) recipe.LengthPair {
	percent := 0.0
	for _, p := range pairs {
		if percent += p.Percent; percent/100 > u {
			return p
		}
	}
	return pairs[len(pairs)-1] // the shares may sum to a little less than all
}

// chooseModels gives a model to the turns that name none. Round robin counts the turns of the
// whole dataset.
func (b *builder) chooseModels() {
	if len(b.Models) == 0 {
		return
	}
	counter := 0
	for k, c := range b.dataset.InMemory() {
		turns := c.Turns
		b.chooseModelsOf(uint64(k), counter, turns)
		for i := range turns {
			if !turns[i].Silent {
				counter++
			}
		}
	}
}

// chooseModelsOf does so for conversation k, before which there are so many turns.
func (b *builder) chooseModelsOf(k uint64, before int, turns []dataset.Turn) {
	if len(b.Models) == 0 {
		return
	}
	r := b.streams.models.At(k)
	for i := range turns {
		if turns[i].Silent {
			continue
		}
		at := before % len(b.Models)
		before++
		switch b.ModelSelection {
		case RandomModel:
			at = r.IntN(len(b.Models))
		case Weighted:
			at = recipe.Pick(len(b.Models), func(i int) float64 { return b.ModelWeights[i] },
				r.Float64())
		}
		if turns[i].Model == "" {
			turns[i].Model = b.Models[at]
		}
		if b.bodies && turns[i].RawPayload != nil {
			turns[i].RawPayload, _ = loader.WithModel(turns[i].RawPayload, turns[i].Model)
		}
	}
}
