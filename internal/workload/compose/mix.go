package compose

import (
	"aiperf/internal/workload/recipe"
)

// mixed is what was drawn for one turn of a mix.
type mixed struct {
	*recipe.Archetype
	images *recipe.Images
	audio  *recipe.Audio
}

// drawMix draws for each of n turns of conversation k; nil without a mix. It yields the same for texts, limits and
// media, which are made apart.
func (b *builder) drawMix(k uint64, n int) []mixed {
	if len(b.MediaMix) == 0 || b.Kind != Synthetic {
		return nil
	}
	r := b.streams.mix.At(k)
	drawn := make([]mixed, n)
	for i := range drawn {
		a := &b.MediaMix[recipe.Pick(len(b.MediaMix), func(i int) float64 { return b.MediaMix[i].Weight }, r.Float64())]
		drawn[i].Archetype = a
		for _, part := range a.Parts {
			p := part.Profiles[recipe.Pick(len(part.Profiles), func(i int) float64 { return part.Profiles[i].Weight },
				r.Float64())]
			size := part.Batch.Draw(&r)
			switch {
			case p.Images != nil:
				images := *p.Images
				images.BatchSize = size
				drawn[i].images = &images
			case p.Audio != nil:
				audio := *p.Audio
				audio.BatchSize = size
				drawn[i].audio = &audio
			}
		}
	}
	return drawn
}
