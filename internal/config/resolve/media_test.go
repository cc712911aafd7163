package resolve

import (
	"reflect"
	"slices"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/workload/recipe"
)

func TestMediaOptions(t *testing.T) {
	none := check(t, "-m m").dataset.build()
	if none.Images != nil || none.Audio != nil || none.Video != nil {
		t.Errorf("media that nobody asked for: %+v %+v %+v", none.Images, none.Audio, none.Video)
	}
	if want := (config.BatchSizes{Text: 1, Image: 1, Audio: 1, Video: 1}); none.Batches != want {
		t.Errorf("batches %+v", none.Batches)
	}
	d := check(t, "-m m --image-width-mean 64 --image-width-stddev 3 --image-height-mean 32 --image-format random "+
		"--image-source assets --image-source-sampling shuffle-cycle"+
		" --image-batch-size 2 --audio-length-mean 2 --audio-depths 8,16 --audio-sample-rates 44.1 "+
		"--audio-sample-rates 8 --audio-num-channels 2"+
		" --video-width 10 --video-height 20 --video-format mp4 --video-audio-num-channels 1 "+
		"--video-audio-sample-rate 48").dataset.build()
	if want := (&recipe.Images{Width: recipe.Normal{Mean: 64, Stddev: 3}, Height: recipe.Normal{Mean: 32},
		BatchSize: 2,
		Format:    "random", Source: "assets", Sampling: "shuffle-cycle"}); !reflect.DeepEqual(d.Images, want) {
		t.Errorf("images %+v", d.Images)
	}
	if want := (&recipe.Audio{Seconds: recipe.Normal{Mean: 2}, BatchSize: 1, Format: "wav", Depths: []int{8, 16},
		RatesHz: []int{44100, 8000}, Channels: 2}); !reflect.DeepEqual(d.Audio, want) {
		t.Errorf("audio %+v", d.Audio)
	}
	if want := (&config.Video{Width: 10, Height: 20, Seconds: 5, FPS: 4, Show: "moving_shapes", Format: "mp4",
		Codec: "libvpx-vp9", AudioCodec: "libopus",
		AudioChannels: 1, AudioRateHz: 48000, AudioDepth: 16}); !reflect.DeepEqual(d.Video, want) {
		t.Errorf("video %+v", d.Video)
	}
	if a := check(t, "-m m --audio-length-mean 1").dataset.build().Audio; !reflect.DeepEqual(a.RatesHz, []int{16000}) ||
		!reflect.DeepEqual(a.Depths, []int{16}) {
		t.Errorf("defaults %+v", a)
	}
}

func TestRankingsOptions(t *testing.T) {
	if r := check(t, "-m m").dataset.build().Rankings; r != nil {
		t.Errorf("rankings of chat: %+v", r)
	}
	r := check(t, "-m m --endpoint-type cohere_rankings --rankings-passages-mean 5 "+
		"--rankings-query-prompt-token-stddev 3").dataset.build().Rankings
	if r := check(t, "-m m --endpoint-type vllm_score").dataset.build().Rankings; r == nil {
		t.Error("texts to score are no query and passages")
	}
	if want := (&recipe.Rankings{Passages: recipe.Normal{Mean: 5, Stddev: 0},
		PassageTokens: recipe.Normal{Mean: 550, Stddev: 0},
		QueryTokens:   recipe.Normal{Mean: 550, Stddev: 3}}); !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// What the requests of an endpoint have no place for is not made, and a warning names the options.
func TestMediaAndLengthsThatRequestsDoNotCarryAreNamed(t *testing.T) {
	for args, want := range map[string]string{
		"--endpoint-type completions --image-width-mean 9 --image-height-mean 9": "--image-width-mean, " +
			"--image-height-mean has no effect with --endpoint-type completions, whose requests contain no images",
		"--endpoint-type completions --audio-length-mean 1": "--audio-length-mean has no effect with --endpoint-type " +
			"completions, whose requests contain no audio",
		"--endpoint-type completions --video-width 8 --video-height 8": "--video-width, --video-height has no " +
			"effect with --endpoint-type completions, whose requests contain no video",
		"--endpoint-type cohere_rankings --isl 5": "--isl has no effect with --endpoint-type cohere_rankings: " +
			"--rankings-passages-prompt-token-mean and --rankings-query-prompt-token-mean set the lengths",
	} {
		c := check(t, "-m m "+args)
		d := c.dataset.build()
		if len(c.faults) > 0 || d.Images != nil || d.Audio != nil || d.Video != nil {
			t.Errorf("%s: %+v, faults %v", args, d, c.faults)
		}
		if !slices.Contains(c.warnings, fault.Warning{Level: fault.LevelWarning, Text: want}) {
			t.Errorf("%s: warnings %v", args, c.warnings)
		}
	}
}

func TestTrapWidthAloneMakesNoImages(t *testing.T) {
	c := check(t, "-m m --image-width-mean 64")
	if c.dataset.build().Images != nil {
		t.Fatalf("images, faults %v", c.faults)
	}
	found := false
	for _, w := range c.warnings {
		found = found || reflect.DeepEqual(w,
			fault.Warning{Level: fault.LevelWarning,
				Text: "--image-width-mean has no effect: no images are sent without --image-height-mean"})
	}
	if !found {
		t.Errorf("warnings %v", c.warnings)
	}
	if f := check(t, "-m m --video-width 64").faults; !f.Has("V36") {
		t.Errorf("faults %v", f)
	}
}
