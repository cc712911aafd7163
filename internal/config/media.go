package config

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/workload/recipe"
)

// Video says which video a generated turn has.
type Video struct {
	Width, Height int
	Seconds       float64
	FPS           int
	// Show is "moving_shapes", "grid_clock" or "noise".
	Show string
	// Format is "webm" or "mp4".
	Format string
	// Codec and AudioCodec are names of ffmpeg.
	Codec, AudioCodec string
	// AudioChannels of 0 is a silent video.
	AudioChannels, AudioRateHz, AudioDepth int
}

// BatchSizes are the numbers of contents of each modality in one turn.
type BatchSizes struct{ Text, Image, Audio, Video int }

// mp3Rates are the sample rates in Hz that MP3 knows.
var mp3Rates = []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000}

var bitDepths = []int64{8, 16, 24, 32}

// maxSide is the longest side of a picture in pixels.
const maxSide = 1<<16 - 1

func (d *draft) batches() BatchSizes {
	size := func(name string) int { return *smallInt(d.p.Int(name)) }
	return BatchSizes{size("prompt-batch-size"), size("image-batch-size"), size("audio-batch-size"),
		size("video-batch-size")}
}

// wantsImages, wantsAudio and wantsVideo tell what the options ask for.
func (d *draft) wantsImages() bool {
	return d.positive("image-width-mean") && d.positive("image-height-mean") && d.positive("image-batch-size")
}

func (d *draft) wantsAudio() bool {
	return d.positive("audio-length-mean") && d.positive("audio-batch-size")
}

func (d *draft) wantsVideo() bool {
	return d.given("video-width") && d.given("video-height") && d.positive("video-batch-size")
}

func (d *draft) images() *recipe.Pictures {
	if !d.wantsImages() {
		return nil
	}
	p := d.p
	return &recipe.Pictures{
		Width: d.normal("image-width"), Height: d.normal("image-height"), BatchSize: d.batches().Image,
		Format: p.Text("image-format"), Source: p.Text("image-source"), Sampling: p.Text("image-source-sampling"),
	}
}

func (d *draft) audio() *recipe.Sounds {
	if !d.wantsAudio() {
		return nil
	}
	p := d.p
	a := &recipe.Sounds{
		Seconds: d.normal("audio-length"), BatchSize: d.batches().Audio,
		Format: p.Text("audio-format"), Channels: int(*p.Int("audio-num-channels")), RatesHz: d.audioRates(),
	}
	for _, depth := range d.numbers("audio-depths") {
		a.Depths = append(a.Depths, int(depth))
	}
	return a
}

func (d *draft) video() *Video {
	if !d.wantsVideo() {
		return nil
	}
	p := d.p
	v := &Video{
		Width: *smallInt(p.Int("video-width")), Height: *smallInt(p.Int("video-height")),
		Seconds: *p.Float("video-duration"), FPS: *smallInt(p.Int("video-fps")), Show: p.Text("video-synth-type"),
		Format: p.Text("video-format"), Codec: p.Text("video-codec"), AudioCodec: p.Text("video-audio-codec"),
		AudioChannels: int(*p.Int("video-audio-num-channels")), AudioDepth: int(*p.Int("video-audio-depth")),
	}
	rate := *p.Float("video-audio-sample-rate")
	if rate <= 96 {
		rate *= 1000
	}
	v.AudioRateHz = int(math.Round(rate))
	if v.AudioCodec == "auto" {
		v.AudioCodec = map[string]string{"webm": "libvorbis", "mp4": "libopus"}[v.Format]
	}
	return v
}

// rankings is nil for endpoints that rank nothing and for conversations of a file.
func (d *draft) rankings() *recipe.Rankings {
	if !d.isRankings() || d.given("input-file") {
		return nil
	}
	return &recipe.Rankings{
		Passages: d.normal("rankings-passages"), PassageTokens: d.normal("rankings-passages-prompt-token"),
		QueryTokens: d.normal("rankings-query-prompt-token"),
	}
}

// normal is the distribution of the options name-mean and name-stddev.
func (d *draft) normal(name string) recipe.Normal {
	return recipe.Normal{Mean: d.p.real(name + "-mean"), Stddev: d.p.real(name + "-stddev")}
}

// numbers are the values of a list of numbers.
func (d *draft) numbers(name string) []float64 {
	var list []float64
	values, _ := d.p.Value(name).([]any)
	for _, v := range values {
		switch n := v.(type) {
		case int64:
			list = append(list, float64(n))
		case float64:
			list = append(list, n)
		}
	}
	return list
}

// audioRates are the sample rates in Hz.
func (d *draft) audioRates() []int {
	var rates []int
	for _, kHz := range d.numbers("audio-sample-rates") {
		rates = append(rates, int(math.Round(min(kHz*1000, math.MaxInt32))))
	}
	return rates
}

// checkMedia refuses what no picture, sound or video can be.
func (d *draft) checkMedia() {
	d.checkModalities()
	d.checkImages()
	d.checkAudio()
	d.checkVideo()
}

// checkModalities refuses media where requests cannot carry them.
func (d *draft) checkModalities() {
	for _, m := range []struct {
		wanted, taken bool
		flags         []string
		what          string
	}{
		{d.wantsImages(), d.facts.SupportsImage, []string{"image-width-mean", "image-height-mean"}, "images"},
		{d.wantsAudio(), d.facts.SupportsAudio, []string{"audio-length-mean"}, "audio"},
		{d.wantsVideo(), d.facts.SupportsVideo, []string{"video-width", "video-height"}, "video"},
	} {
		if !m.wanted {
			continue
		}
		flags := strings.Join(d.givenOf(m.flags...), ", ")
		if !m.taken {
			d.fault("", "%s cannot be used with --endpoint-type %s, whose requests hold no %s", flags, d.endpointType,
				m.what)
		}
		if d.given("input-file") {
			d.warn("%s has no effect on the conversations of %s", flags, d.flag("input-file"))
		}
	}
}

func (d *draft) checkImages() {
	width, height := d.positive("image-width-mean"), d.positive("image-height-mean")
	if width != height {
		given, other := "image-width-mean", "image-height-mean"
		if height {
			given, other = other, given
		}
		d.warn("%s has no effect: no images are sent without --%s", d.flag(given), other)
	}
	for _, name := range []string{"image-width-mean", "image-height-mean"} {
		if *d.p.Float(name) > maxSide {
			d.fault("", "%s must be at most %d pixels", d.flag(name), maxSide)
		}
	}
	if d.p.Text("image-source-sampling") != "random-with-replacement" && d.p.Text("image-source") == "noise" {
		d.fault("V47", "%s needs a finite source of images: --image-source assets or a folder",
			d.flag("image-source-sampling"))
	}
}

// maxAudio is the longest mean of an audio clip in seconds: an hour.
const maxAudio = 3600

func (d *draft) checkAudio() {
	for _, name := range []string{"audio-length-mean", "audio-length-stddev"} {
		if *d.p.Float(name) > maxAudio {
			d.fault("", "%s must be at most %d seconds", d.flag(name), maxAudio)
		}
	}
	if mean := *d.p.Float("audio-length-mean"); mean > 0 && mean < 0.01 {
		d.fault("", "%s must be at least 0.01 seconds, or 0 for no audio", d.flag("audio-length-mean"))
	}
	for _, depth := range d.numbers("audio-depths") {
		if !slices.Contains(bitDepths, int64(depth)) || depth != math.Trunc(depth) {
			d.fault("", "%s %s: a depth must be 8, 16, 24 or 32", d.flag("audio-depths"), FormatFloat(depth))
		}
	}
	for i, rate := range d.audioRates() {
		kHz := FormatFloat(d.numbers("audio-sample-rates")[i])
		switch mp3 := d.p.Text("audio-format") == "mp3"; {
		case mp3 && !slices.Contains(mp3Rates, rate):
			var list []string
			for _, r := range mp3Rates {
				list = append(list, FormatFloat(float64(r)/1000))
			}
			d.fault("", "%s %s: MP3 knows the rates %s kHz", d.flag("audio-sample-rates"), kHz,
				strings.Join(list, ", "))
		case rate < 1 || rate > 1_000_000:
			d.fault("", "%s %s: rates are in kHz, from 0.001 to 1000", d.flag("audio-sample-rates"), kHz)
		}
	}
}

func (d *draft) checkVideo() {
	if d.given("video-width") != d.given("video-height") {
		given, other := "video-width", "video-height"
		if d.given(other) {
			given, other = other, given
		}
		d.fault("V36", "%s is specified but --%s is not", d.flag(given), other)
	}
	if channels := d.p.Int("video-audio-num-channels"); d.given("video-audio-codec") && *channels == 0 {
		d.fault("V37", "%s has no effect: audio is disabled by --video-audio-num-channels 0",
			d.flag("video-audio-codec"))
	}
	if rate := *d.p.Float("video-audio-sample-rate"); rate > 96 && rate < 8000 {
		d.fault("", "%s must be from 8000 to 96000 Hz, or from 8 to 96 kHz", d.flag("video-audio-sample-rate"))
	}
	if depth := *d.p.Int("video-audio-depth"); !slices.Contains(bitDepths, depth) {
		d.fault("", "%s must be 8, 16, 24 or 32", d.flag("video-audio-depth"))
	}
	for _, name := range []string{"video-width", "video-height"} {
		if side := d.p.Int(name); side != nil && *side > maxSide {
			d.fault("", "%s must be at most %d pixels", d.flag(name), maxSide)
		}
	}
	if frames := *d.p.Float("video-duration") * float64(*d.p.Int("video-fps")); d.wantsVideo() && frames < 1 {
		d.fault("", "%s is shorter than one frame at --video-fps %d", d.flag("video-duration"), *d.p.Int("video-fps"))
	}
}

// mediaConfig adds what was said of media to the exported configuration of the dataset.
func mediaConfig(out Object, r *Run) Object {
	p, d := r.parsed, r.Dataset
	if i := d.Images; i != nil {
		o := Object{{Key: "batch_size", Value: int64(d.Batches.Image)}, {Key: "width", Value: distribution(i.Width)},
			{Key: "height", Value: distribution(i.Height)}}
		o = append(o, Member{Key: "format", Value: i.Format})
		o = addGiven(o, p, "image-source", "source", i.Source)
		out = append(out, Member{Key: "images",
			Value: addGiven(o, p, "image-source-sampling", "source_sampling", i.Sampling)})
	}
	if a := d.Audio; a != nil {
		out = append(out, Member{Key: "audio", Value: Object{
			{Key: "batch_size", Value: int64(d.Batches.Audio)}, {Key: "length", Value: distribution(a.Seconds)},
			{Key: "format", Value: a.Format}, {Key: "depths", Value: p.Value("audio-depths")},
			{Key: "sample_rates", Value: p.Value("audio-sample-rates")}, {Key: "channels", Value: int64(a.Channels)},
		}})
	}
	if v := d.Video; v != nil {
		o := Object{
			{Key: "batch_size", Value: int64(d.Batches.Video)}, {Key: "duration", Value: v.Seconds},
			{Key: "fps", Value: int64(v.FPS)},
			{Key: "width", Value: int64(v.Width)}, {Key: "height", Value: int64(v.Height)},
			{Key: "synth_type", Value: v.Show},
			{Key: "format", Value: v.Format}, {Key: "codec", Value: v.Codec},
		}
		if v.AudioChannels > 0 {
			o = append(o, Member{Key: "audio", Value: Object{
				{Key: "sample_rate", Value: float64(v.AudioRateHz) / 1000},
				{Key: "channels", Value: int64(v.AudioChannels)},
				{Key: "codec", Value: v.AudioCodec}, {Key: "depth", Value: int64(v.AudioDepth)},
			}})
		}
		out = append(out, Member{Key: "video", Value: o})
	}
	return out
}
