package compose_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	_ "image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/media"
	"aiperf/internal/workload/recipe"
)

func pictures(change ...func(*recipe.Images)) *recipe.Images {
	p := &recipe.Images{
		Width: recipe.Normal{Mean: 20}, Height: recipe.Normal{Mean: 10},
		BatchSize: 1, Format: media.PNG, Source: compose.NoiseSource,
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func sounds() *recipe.Audio {
	return &recipe.Audio{Seconds: recipe.Normal{Mean: 0.1}, BatchSize: 1, Format: "wav", Depths: []int{16},
		RatesHz: []int{8000}, Channels: 1}
}

func illustrated(change ...func(*compose.Options)) compose.Options {
	return defaults(append([]func(*compose.Options){func(o *compose.Options) {
		o.Entries, o.ISL = 12, recipe.Normal{Mean: 10}
		o.Turns = recipe.Normal{Mean: 2, Stddev: 1}
		o.Images, o.Audio = pictures(), sounds()
	}}, change...)...)
}

// allImages is the pictures of all conversations in their order.
func allImages(d *dataset.Dataset) []string {
	var all []string
	for _, c := range d.All() {
		for _, turn := range c.Turns {
			for _, m := range turn.Images {
				all = append(all, m.Contents...)
			}
		}
	}
	return all
}

func imageSize(t *testing.T, text string) (w, h int, format string) {
	t.Helper()
	_, data, _ := strings.Cut(text, ",")
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return c.Width, c.Height, format
}

func TestMediaOfTurns(t *testing.T) {
	d := build(t, illustrated(func(o *compose.Options) { o.Images.BatchSize, o.Audio.BatchSize = 2, 3 }))
	for _, c := range d.All() {
		for _, turn := range c.Turns {
			if len(turn.Images) != 1 || turn.Images[0].Name != "image_url" || len(turn.Images[0].Contents) != 2 {
				t.Fatalf("images %v", turn.Images)
			}
			if len(turn.Audios) != 1 || turn.Audios[0].Name != "input_audio" || len(turn.Audios[0].Contents) != 3 {
				t.Fatal("the turn has other sound than asked for")
			}
			if w, h, format := imageSize(t, turn.Images[0].Contents[1]); w != 20 || h != 10 || format != "png" {
				t.Errorf("a %s of %d by %d", format, w, h)
			}
			if turn.AudioSeconds < 0.2999 || turn.AudioSeconds > 0.3001 {
				t.Errorf("%v seconds of sound", turn.AudioSeconds)
			}
			if len(turn.Texts) != 1 || len(turn.Videos) != 0 {
				t.Error("texts or videos are not as asked for")
			}
		}
	}
}

func TestTrapMediaDoNotDisturbTexts(t *testing.T) {
	plain := illustrated(func(o *compose.Options) { o.Images, o.Audio = nil, nil })
	if !slices.Equal(prompts(build(t, illustrated())), prompts(build(t, plain))) {
		t.Error("media change the prompts")
	}
	silent := illustrated(func(o *compose.Options) { o.Audio = nil })
	if !slices.Equal(allImages(build(t, illustrated())), allImages(build(t, silent))) {
		t.Error("sound changes the pictures")
	}
}

func TestTrapSameSeedSameMediaOnAnyCores(t *testing.T) {
	for _, source := range []string{compose.NoiseSource, compose.SceneSource} {
		for _, sampling := range []string{"", "shuffle-cycle"} {
			o := illustrated(func(o *compose.Options) {
				o.Images.Source, o.Images.Sampling, o.Images.Format = source, sampling, "random"
				o.Images.Width = recipe.Normal{Mean: 20, Stddev: 5}
				o.Audio.Seconds = recipe.Normal{Mean: 0.1, Stddev: 0.05}
			})
			want := build(t, o)
			before := runtime.GOMAXPROCS(1)
			alone := build(t, o)
			runtime.GOMAXPROCS(before)
			if !reflect.DeepEqual(want, alone) {
				t.Errorf("%s %s: the media depend on the number of cores", source, sampling)
			}
		}
	}
}

func TestRandomFormatMixes(t *testing.T) {
	n := map[string]int{}
	for _, text := range allImages(build(t,
		illustrated(func(o *compose.Options) { o.Images.Format, o.Images.BatchSize = "random", 4 }))) {
		_, _, format := imageSize(t, text)
		n[format]++
	}
	if n["png"] < 10 || n["jpeg"] < 10 {
		t.Errorf("formats %v", n)
	}
}

func TestPictureSourceCycles(t *testing.T) {
	folder := t.TempDir()
	for i, name := range []string{"a.png", "b.png", "c.png"} {
		var b bytes.Buffer
		if err := png.Encode(&b, media.Scene(i, 4, 4)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	taken := func(sampling string) []string {
		return allImages(build(t, illustrated(func(o *compose.Options) {
			o.Images.Source, o.Images.Sampling, o.Audio = folder, sampling, nil
		})))
	}
	inOrder := taken("sequential-cycle")
	for i, text := range inOrder {
		if text != inOrder[i%3] {
			t.Fatalf("picture %d is not that of place %d", i, i%3)
		}
	}
	if inOrder[0] == inOrder[1] || inOrder[1] == inOrder[2] {
		t.Fatal("the files are not told apart")
	}
	shuffled := taken("shuffle-cycle")
	for i := 0; i+3 <= len(shuffled); i += 3 {
		cycle := slices.Sorted(slices.Values(shuffled[i : i+3]))
		if len(slices.Compact(cycle)) != 3 {
			t.Errorf("the cycle from %d on does not hold each picture once", i)
		}
	}
	if slices.Equal(shuffled, inOrder) {
		t.Error("nothing is shuffled")
	}
}

func TestMediaAloneNeedNoTokenizer(t *testing.T) {
	d, _, err := compose.Build(context.Background(), illustrated(func(o *compose.Options) {
		o.ISL = recipe.Normal{Mean: 0}
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if turn := d.At(0).Turns[0]; len(turn.Texts) != 0 || len(turn.Images) != 1 {
		t.Errorf("%d texts, %d images", len(turn.Texts), len(turn.Images))
	}
}

func videos() *compose.Videos {
	return &compose.Videos{BatchSize: 1, VideoClip: media.VideoClip{Width: 8, Height: 8, Seconds: 1, FPS: 2,
		Show:   media.MovingShapes,
		Format: "webm", Codec: "c"}}
}

func TestTrapVideoAloneIsContent(t *testing.T) {
	t.Setenv("PATH", "")
	_, _, err := compose.Build(context.Background(), defaults(func(o *compose.Options) {
		o.ISL, o.Videos = recipe.Normal{}, videos()
	}), nil)
	if err == nil || !strings.Contains(err.Error(), "ffmpeg") || strings.Contains(err.Error(), "no content") {
		t.Errorf("error %v", err)
	}
}

func TestFailureOfMediaEndsTheBuild(t *testing.T) {
	folder := t.TempDir()
	fake := filepath.Join(folder, "ffmpeg")
	if runtime.GOOS == "windows" {
		fake += ".bat"
	}
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	_, _, err := compose.Build(context.Background(), defaults(func(o *compose.Options) {
		o.ISL, o.Videos = recipe.Normal{}, videos()
	}), nil)
	if err == nil || !strings.Contains(err.Error(), "--video-codec") {
		t.Errorf("error %v", err)
	}
	_, _, err = compose.Build(context.Background(), illustrated(func(o *compose.Options) {
		o.ISL, o.Images.Source = recipe.Normal{}, folder
	}),
		nil)
	if err == nil || !strings.Contains(err.Error(), "--image-source") {
		t.Errorf("error %v", err)
	}
}

// TestMediaAreMadeForWhatIsPlayedAlone compares a dataset for two sessions with a whole one.
func TestMediaAreMadeForWhatIsPlayedAlone(t *testing.T) {
	for _, change := range []func(*compose.Options){
		func(*compose.Options) {},
		func(o *compose.Options) { o.Sampling = dataset.Random },
		func(o *compose.Options) { o.Images.Source, o.Images.Sampling = compose.SceneSource, "shuffle-cycle" },
	} {
		whole := build(t, illustrated(change))
		part := build(t, illustrated(change, func(o *compose.Options) { o.Sessions = 2 }))
		made := 0
		for i := range part.All() {
			c := part.At(i)
			if c.Broken == dataset.ErrNotPlayed {
				if len(c.Turns) != len(whole.At(i).Turns) || len(c.Turns[0].Images) > 0 {
					t.Errorf("conversation %d: %d turns, pictures %v", i, len(c.Turns), c.Turns[0].Images)
				}
				continue
			}
			made++
			if !reflect.DeepEqual(c, whole.At(i)) {
				t.Errorf("conversation %d differs from that of the whole dataset", i)
			}
		}
		sampler, err := dataset.NewSampler(part.Sampling, 12, illustrated().Seed)
		if err != nil {
			t.Fatal(err)
		}
		for k := range uint64(2) {
			if part.Sampler.At(k) != sampler.At(k) || part.At(sampler.At(k)).Broken != nil {
				t.Errorf("session %d plays conversation %d, which is not made", k, sampler.At(k))
			}
		}
		if made < 1 || made > 2 || whole.Sampler != nil {
			t.Errorf("%d conversations are made for two sessions", made)
		}
	}
	// Text is made for all, since inputs.json lists it.
	if d := build(t, defaults(func(o *compose.Options) {
		o.Entries, o.ISL, o.Sessions = 5, recipe.Normal{Mean: 5},
			1
	})); d.At(4).Broken != nil || d.Sampler != nil {
		t.Errorf("texts: %v", d.At(4).Broken)
	}
}
