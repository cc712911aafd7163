package resolve

import (
	"math"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/option"
	"aiperf/internal/workload/recipe"
)

// media decides which pictures, sounds and videos generated turns carry.
type media struct {
	*asked
	endpoint *endpoint
	file     *datafile
}

// mp3Rates are the sample rates in Hz that MP3 knows.
var mp3Rates = []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000}

var bitDepths = []int64{8, 16, 24, 32}

// maxSide is the longest side of a picture in pixels.
const maxSide = 1<<16 - 1

// maxAudio is the longest mean of an audio clip in seconds: an hour.
const maxAudio = 3600

func (md *media) batches() config.BatchSizes {
	size := func(name string) int { return *smallInt(md.p.Int(name)) }
	return config.BatchSizes{Text: size("prompt-batch-size"), Image: size("image-batch-size"),
		Audio: size("audio-batch-size"), Video: size("video-batch-size")}
}

// wantsImages reports whether the options ask for images; wantsAudio and wantsVideo do so for the others.
func (md *media) wantsImages() bool {
	return md.positive("image-width-mean") && md.positive("image-height-mean") && md.positive("image-batch-size")
}

func (md *media) wantsAudio() bool {
	return md.positive("audio-length-mean") && md.positive("audio-batch-size")
}

func (md *media) wantsVideo() bool {
	return md.given("video-width") && md.given("video-height") && md.positive("video-batch-size")
}

func (md *media) images() *recipe.Images {
	if !md.wantsImages() || !md.endpoint.facts.SupportsImage {
		return nil
	}
	p := md.p
	return &recipe.Images{
		Width:  md.sizes(p.Dataset.ImageWidth, "image-width"),
		Height: md.sizes(p.Dataset.ImageHeight, "image-height"), BatchSize: md.batches().Image,
		Format: p.Text("image-format"), Source: p.Text("image-source"), Sampling: p.Text("image-source-sampling"),
	}
}

func (md *media) audio() *recipe.Audio {
	if !md.wantsAudio() || !md.endpoint.facts.SupportsAudio {
		return nil
	}
	p := md.p
	a := &recipe.Audio{
		Seconds: md.sizes(p.Dataset.AudioSeconds, "audio-length"), BatchSize: md.batches().Audio,
		Format: p.Text("audio-format"), Channels: int(*p.Int("audio-num-channels")), RatesHz: md.audioRates(),
	}
	for _, depth := range md.numbers("audio-depths") {
		a.Depths = append(a.Depths, int(depth))
	}
	return a
}

func (md *media) video() *config.Video {
	if !md.wantsVideo() || !md.endpoint.facts.SupportsVideo {
		return nil
	}
	p := md.p
	v := &config.Video{
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

// audioRates are the sample rates in Hz.
func (md *media) audioRates() []int {
	var rates []int
	for _, kHz := range md.numbers("audio-sample-rates") {
		rates = append(rates, int(math.Round(min(kHz*1000, math.MaxInt32))))
	}
	return rates
}

// check refuses what no picture, sound or video can be.
func (md *media) check() {
	md.checkModalities()
	md.checkMix()
	md.checkImages()
	md.checkAudio()
	md.checkVideo()
}

// checkMix refuses shapes of a mix that requests cannot carry, and sound that no format has.
func (md *media) checkMix() {
	mix := md.p.Dataset.MediaMix
	if len(mix) == 0 {
		return
	}
	if md.wantsImages() || md.wantsAudio() || md.wantsVideo() {
		md.fault("", "media_mix and images, audio or video of the dataset exclude each other: put them into the mix")
	}
	for _, a := range mix {
		for _, part := range a.Parts {
			for _, p := range part.Profiles {
				facts := &md.endpoint.facts
				if p.Images != nil && !facts.SupportsImage || p.Audio != nil && !facts.SupportsAudio {
					md.fault("", "media_mix: %s cannot be sent with --endpoint-type %s", a.Name,
						md.endpoint.endpointType)
					return
				}
				if p.Audio != nil {
					md.checkClips(a.Name, p.Audio)
				}
			}
		}
	}
}

func (md *media) checkClips(name string, a *recipe.Audio) {
	for _, depth := range a.Depths {
		if !slices.Contains(bitDepths, int64(depth)) {
			md.fault("", "media_mix: %s: the depth %d is not 8, 16, 24 or 32", name, depth)
		}
	}
	for _, rate := range a.RatesHz {
		if rate < 1 || rate > 1_000_000 || a.Format == "mp3" && !slices.Contains(mp3Rates, rate) {
			md.fault("", "media_mix: %s: %s has no sample rate of %d Hz", name, a.Format, rate)
		}
	}
}

// checkModalities names media that no request will carry.
func (md *media) checkModalities() {
	for _, m := range []struct {
		wanted, taken bool
		flags         []string
		what          string
	}{
		{md.wantsImages(), md.endpoint.facts.SupportsImage, []string{"image-width-mean", "image-height-mean"},
			"images"},
		{md.wantsAudio(), md.endpoint.facts.SupportsAudio, []string{"audio-length-mean"}, "audio"},
		{md.wantsVideo(), md.endpoint.facts.SupportsVideo, []string{"video-width", "video-height"}, "video"},
	} {
		if !m.wanted {
			continue
		}
		flags := strings.Join(md.givenOf(m.flags...), ", ")
		if !m.taken {
			md.warn("%s has no effect with --endpoint-type %s, whose requests contain no %s", flags,
				md.endpoint.endpointType, m.what)
			continue
		}
		if !md.file.generated() {
			from := "input-file"
			if !md.given(from) {
				from = "public-dataset"
			}
			md.warn("%s has no effect on the conversations of %s", flags, md.flag(from))
		}
	}
}

func (md *media) checkImages() {
	width, height := md.positive("image-width-mean"), md.positive("image-height-mean")
	if width != height {
		given, other := "image-width-mean", "image-height-mean"
		if height {
			given, other = other, given
		}
		md.warn("%s has no effect: no images are sent without --%s", md.flag(given), other)
	}
	for _, name := range []string{"image-width-mean", "image-height-mean"} {
		if *md.p.Float(name) > maxSide {
			md.fault("", "%s must be at most %d pixels", md.flag(name), maxSide)
		}
	}
	if md.p.Text("image-source-sampling") != "random-with-replacement" && md.p.Text("image-source") == "noise" {
		md.fault("V47", "%s needs a finite source of images: --image-source assets or a folder",
			md.flag("image-source-sampling"))
	}
}

func (md *media) checkAudio() {
	for _, name := range []string{"audio-length-mean", "audio-length-stddev"} {
		if *md.p.Float(name) > maxAudio {
			md.fault("", "%s must be at most %d seconds", md.flag(name), maxAudio)
		}
	}
	if mean := *md.p.Float("audio-length-mean"); mean > 0 && mean < 0.01 {
		md.fault("", "%s must be at least 0.01 seconds, or 0 for no audio", md.flag("audio-length-mean"))
	}
	for _, depth := range md.numbers("audio-depths") {
		if !slices.Contains(bitDepths, int64(depth)) || depth != math.Trunc(depth) {
			md.fault("", "%s %s: a depth must be 8, 16, 24 or 32", md.flag("audio-depths"), option.FormatFloat(depth))
		}
	}
	for i, rate := range md.audioRates() {
		kHz := option.FormatFloat(md.numbers("audio-sample-rates")[i])
		switch mp3 := md.p.Text("audio-format") == "mp3"; {
		case mp3 && !slices.Contains(mp3Rates, rate):
			var list []string
			for _, r := range mp3Rates {
				list = append(list, option.FormatFloat(float64(r)/1000))
			}
			md.fault("", "%s %s: MP3 supports the rates %s kHz", md.flag("audio-sample-rates"), kHz,
				strings.Join(list, ", "))
		case rate < 1 || rate > 1_000_000:
			md.fault("", "%s %s: rates are in kHz, from 0.001 to 1000", md.flag("audio-sample-rates"), kHz)
		}
	}
}

func (md *media) checkVideo() {
	if md.given("video-width") != md.given("video-height") {
		given, other := "video-width", "video-height"
		if md.given(other) {
			given, other = other, given
		}
		md.fault("V36", "%s is specified but --%s is not", md.flag(given), other)
	}
	if channels := md.p.Int("video-audio-num-channels"); md.given("video-audio-codec") && *channels == 0 {
		md.fault("V37", "%s has no effect: audio is disabled by --video-audio-num-channels 0",
			md.flag("video-audio-codec"))
	}
	if rate := *md.p.Float("video-audio-sample-rate"); rate > 96 && rate < 8000 {
		md.fault("", "%s must be from 8000 to 96000 Hz, or from 8 to 96 kHz", md.flag("video-audio-sample-rate"))
	}
	if depth := *md.p.Int("video-audio-depth"); !slices.Contains(bitDepths, depth) {
		md.fault("", "%s must be 8, 16, 24 or 32", md.flag("video-audio-depth"))
	}
	for _, name := range []string{"video-width", "video-height"} {
		if side := md.p.Int(name); side != nil && *side > maxSide {
			md.fault("", "%s must be at most %d pixels", md.flag(name), maxSide)
		}
	}
	if frames := *md.p.Float("video-duration") * float64(*md.p.Int("video-fps")); md.wantsVideo() && frames < 1 {
		md.fault("", "%s is shorter than one frame at --video-fps %d", md.flag("video-duration"),
			*md.p.Int("video-fps"))
	}
}
