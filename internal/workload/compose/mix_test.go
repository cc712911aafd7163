package compose_test

import (
	"math"
	"reflect"
	"runtime"
	"testing"

	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/recipe"
)

// ofMix is a mix of chats, of pictures of two sizes without text, and of sound with text.
func ofMix(o *compose.Options) {
	fixed := func(v float64) recipe.Sizes { return recipe.Distribution{Kind: recipe.Fixed, Value: v} }
	picture := func(side float64) *recipe.Images {
		return &recipe.Images{Width: fixed(side), Height: fixed(side), Format: "png", Source: compose.NoiseSource}
	}
	o.Entries, o.ISL, o.Turns = 600, recipe.Normal{Mean: 12}, recipe.Normal{Mean: 2}
	o.MediaMix = []recipe.Archetype{
		{Name: "chat", Weight: 2, ISL: fixed(5), OSL: fixed(3)},
		{Name: "pictures", Weight: 1, NoText: true, Parts: []recipe.MediaPart{{
			Batch:    recipe.Distribution{Kind: recipe.Uniform, Low: 1, High: 2},
			Profiles: []recipe.MediaProfile{{Weight: 3, Images: picture(2)}, {Weight: 1, Images: picture(4)}}}}},
		{Name: "sound", Weight: 1, Parts: []recipe.MediaPart{{Batch: fixed(1), Profiles: []recipe.MediaProfile{{Weight: 1,
			Audio: &recipe.Audio{Seconds: fixed(0.01), Format: "wav", Depths: []int{8}, RatesHz: []int{8000}, Channels: 1}}}}}},
	}
}

// Each turn has one shape of the mix, in the shares of their weights, and nothing of the others.
func TestTurnsOfAMixHaveTheirShape(t *testing.T) {
	d := build(t, defaults(ofMix))
	counts, pictures := map[string]int{}, map[int]int{}
	for _, c := range d.All() {
		for _, turn := range c.Turns {
			counts[turn.Archetype]++
			texts, images, sounds := len(turn.Texts), len(turn.Images), len(turn.Audios)
			want := map[string][3]int{"chat": {1, 0, 0}, "pictures": {0, 1, 0}, "sound": {1, 0, 1}}[turn.Archetype]
			if got := [3]int{texts, images, sounds}; got != want {
				t.Fatalf("%s has %v texts, images and sounds", turn.Archetype, got)
			}
			if images > 0 {
				pictures[len(turn.Images[0].Contents)]++
			}
			if chat := turn.Archetype == "chat"; chat != (turn.MaxTokens != nil) || chat && *turn.MaxTokens != 3 {
				t.Fatalf("%s has the limit %v", turn.Archetype, turn.MaxTokens)
			}
			if turn.Archetype == "chat" {
				wantCounts(t, turn.Texts[0].Contents, 5)
			}
		}
	}
	for name, share := range map[string]float64{"chat": 0.5, "pictures": 0.25, "sound": 0.25} {
		if got := float64(counts[name]) / 1200; math.Abs(got-share) > 0.07 { // five standard errors
			t.Errorf("%s is the shape of %v of the turns, want %v", name, got, share)
		}
	}
	if pictures[1] < 100 || pictures[2] < 100 || len(pictures) != 2 {
		t.Errorf("numbers of pictures %v", pictures)
	}
}

func TestAMixIsTheSameOnAnyCores(t *testing.T) {
	o := defaults(ofMix, func(o *compose.Options) { o.Entries = 60 })
	want := build(t, o)
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	if got := build(t, o); !reflect.DeepEqual(got, want) {
		t.Error("another number of cores makes another dataset")
	}
}
