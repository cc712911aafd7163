package resolve

import (
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/workload/recipe"
)

// What a file says of sizes replaces what flags say with a mean and a deviation.
func TestDistributionsOfAFileReplaceThoseOfFlags(t *testing.T) {
	p := mustParse(t, "-m x --url h:1 --endpoint-type chat --isl 9 --osl 9 --image-width-mean 5 --image-height-mean 5 "+
		"--audio-length-mean 2 --conversation-turn-mean 4")
	fixed := func(v float64) recipe.Sizes { return recipe.Distribution{Kind: recipe.Fixed, Value: v} }
	own, seed := &p.Dataset, uint64(8)
	own.ISL, own.OSL, own.Turns, own.TurnDelayMS = fixed(1), fixed(2), fixed(3), fixed(4)
	own.ImageWidth, own.ImageHeight, own.AudioSeconds = fixed(5), fixed(6), fixed(7)
	own.SequenceDistribution, own.Seed = []recipe.LengthPair{{ISL: fixed(8), OSL: fixed(9), Percent: 100}}, &seed
	cfg, _, err := Resolve(p, fakeCatalog{})
	if err != nil {
		t.Fatal(err)
	}
	d := cfg.Dataset
	for want, got := range map[float64]recipe.Sizes{1: d.ISL, 2: d.OSL, 3: d.Turns, 4: d.TurnDelayMS, 5: d.Images.Width,
		6: d.Images.Height, 7: d.Audio.Seconds, 8: d.SequenceDistribution[0].ISL} {
		if got.Expected() != want {
			t.Errorf("%v, want a size of %v", got, want)
		}
	}
	if d.Seed == nil || *d.Seed != 8 || d.Kind != config.SyntheticDataset {
		t.Errorf("seed %v, kind %s", d.Seed, d.Kind)
	}
}
