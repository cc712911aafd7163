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
	size := func(o *option.Opt[int64]) int { return *smallInt(o.Pointer()) }
	return config.BatchSizes{Text: size(&md.p.PromptBatchSize), Image: size(&md.p.ImageBatchSize),
		Audio: size(&md.p.AudioBatchSize), Video: size(&md.p.VideoBatchSize)}
}

// wantsImages reports whether the options ask for images; wantsAudio and wantsVideo do so for the others.
func (md *media) wantsImages() bool {
	return positive(&md.p.ImageWidthMean) && positive(&md.p.ImageHeightMean) && positive(&md.p.ImageBatchSize)
}

func (md *media) wantsAudio() bool {
	return positive(&md.p.AudioLengthMean) && positive(&md.p.AudioBatchSize)
}

func (md *media) wantsVideo() bool {
	return md.p.VideoWidth.Given() && md.p.VideoHeight.Given() && positive(&md.p.VideoBatchSize)
}

func (md *media) images() *recipe.Images {
	if !md.wantsImages() || !md.endpoint.facts.SupportsImage {
		return nil
	}
	p := md.p
	return &recipe.Images{
		Width:  sizes(p.Dataset.ImageWidth, &p.ImageWidthMean, &p.ImageWidthStddev),
		Height: sizes(p.Dataset.ImageHeight, &p.ImageHeightMean, &p.ImageHeightStddev), BatchSize: md.batches().Image,
		Format: p.ImageFormat.Get(), Source: p.ImageSource.Get(), Sampling: p.ImageSourceSampling.Get(),
	}
}

func (md *media) audio() *recipe.Audio {
	if !md.wantsAudio() || !md.endpoint.facts.SupportsAudio {
		return nil
	}
	p := md.p
	a := &recipe.Audio{
		Seconds: sizes(p.Dataset.AudioSeconds, &p.AudioLengthMean, &p.AudioLengthStddev), BatchSize: md.batches().Audio,
		Format: p.AudioFormat.Get(), Channels: int(p.AudioNumChannels.Get()), RatesHz: md.audioRates(),
	}
	for _, depth := range numbers(&md.p.AudioDepths) {
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
		Width: *smallInt(p.VideoWidth.Pointer()), Height: *smallInt(p.VideoHeight.Pointer()),
		Seconds: p.VideoDuration.Get(), FPS: *smallInt(p.VideoFPS.Pointer()), Show: p.VideoSynthType.Get(),
		Format: p.VideoFormat.Get(), Codec: p.VideoCodec.Get(), AudioCodec: p.VideoAudioCodec.Get(),
		AudioChannels: int(p.VideoAudioNumChannels.Get()), AudioDepth: int(p.VideoAudioDepth.Get()),
	}
	rate := p.VideoAudioSampleRate.Get()
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
	for _, kHz := range numbers(&md.p.AudioSampleRates) {
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
	p := md.p
	for _, m := range []struct {
		wanted, taken bool
		flags         []option.Field
		what          string
	}{
		{md.wantsImages(), md.endpoint.facts.SupportsImage, []option.Field{&p.ImageWidthMean, &p.ImageHeightMean},
			"images"},
		{md.wantsAudio(), md.endpoint.facts.SupportsAudio, []option.Field{&p.AudioLengthMean}, "audio"},
		{md.wantsVideo(), md.endpoint.facts.SupportsVideo, []option.Field{&p.VideoWidth, &p.VideoHeight}, "video"},
	} {
		if !m.wanted {
			continue
		}
		flags := strings.Join(givenOf(m.flags...), ", ")
		if !m.taken {
			md.warn("%s has no effect with --endpoint-type %s, whose requests contain no %s", flags,
				md.endpoint.endpointType, m.what)
			continue
		}
		if !md.file.generated() {
			from := p.InputFile.Flag()
			if !p.InputFile.Given() {
				from = p.PublicDataset.Flag()
			}
			md.warn("%s has no effect on the conversations of %s", flags, from)
		}
	}
}

func (md *media) checkImages() {
	width, height := positive(&md.p.ImageWidthMean), positive(&md.p.ImageHeightMean)
	if width != height {
		given, other := &md.p.ImageWidthMean, &md.p.ImageHeightMean
		if height {
			given, other = other, given
		}
		md.warn("%s has no effect: no images are sent without --%s", given.Flag(), other.Row().Name)
	}
	for _, side := range []option.Field{&md.p.ImageWidthMean, &md.p.ImageHeightMean} {
		md.checkSide(side)
	}
	if md.p.ImageSourceSampling.Get() != "random-with-replacement" && md.p.ImageSource.Get() == "noise" {
		md.fault("V47", "%s needs a finite source of images: --image-source assets or a folder",
			md.p.ImageSourceSampling.Flag())
	}
}

// checkSide refuses the side of a picture that no format has.
func (md *media) checkSide(side option.Field) {
	if real(side) > maxSide {
		md.fault("", "%s must be at most %d pixels", side.Flag(), maxSide)
	}
}

func (md *media) checkAudio() {
	for _, length := range []option.Field{&md.p.AudioLengthMean, &md.p.AudioLengthStddev} {
		if real(length) > maxAudio {
			md.fault("", "%s must be at most %d seconds", length.Flag(), maxAudio)
		}
	}
	if mean := md.p.AudioLengthMean.Get(); mean > 0 && mean < 0.01 {
		md.fault("", "%s must be at least 0.01 seconds, or 0 for no audio", md.p.AudioLengthMean.Flag())
	}
	for _, depth := range numbers(&md.p.AudioDepths) {
		if !slices.Contains(bitDepths, int64(depth)) || depth != math.Trunc(depth) {
			md.fault("", "%s %s: a depth must be 8, 16, 24 or 32", md.p.AudioDepths.Flag(), option.FormatFloat(depth))
		}
	}
	for i, rate := range md.audioRates() {
		kHz := option.FormatFloat(numbers(&md.p.AudioSampleRates)[i])
		switch mp3 := md.p.AudioFormat.Get() == "mp3"; {
		case mp3 && !slices.Contains(mp3Rates, rate):
			var list []string
			for _, r := range mp3Rates {
				list = append(list, option.FormatFloat(float64(r)/1000))
			}
			md.fault("", "%s %s: MP3 supports the rates %s kHz", md.p.AudioSampleRates.Flag(), kHz,
				strings.Join(list, ", "))
		case rate < 1 || rate > 1_000_000:
			md.fault("", "%s %s: rates are in kHz, from 0.001 to 1000", md.p.AudioSampleRates.Flag(), kHz)
		}
	}
}

func (md *media) checkVideo() {
	if md.p.VideoWidth.Given() != md.p.VideoHeight.Given() {
		given, other := &md.p.VideoWidth, &md.p.VideoHeight
		if other.Given() {
			given, other = other, given
		}
		md.fault("V36", "%s is specified but --%s is not", given.Flag(), other.Row().Name)
	}
	if channels := md.p.VideoAudioNumChannels.Pointer(); md.p.VideoAudioCodec.Given() && *channels == 0 {
		md.fault("V37", "%s has no effect: audio is disabled by --video-audio-num-channels 0",
			md.p.VideoAudioCodec.Flag())
	}
	if rate := md.p.VideoAudioSampleRate.Get(); rate > 96 && rate < 8000 {
		md.fault("", "%s must be from 8000 to 96000 Hz, or from 8 to 96 kHz", md.p.VideoAudioSampleRate.Flag())
	}
	if depth := md.p.VideoAudioDepth.Get(); !slices.Contains(bitDepths, depth) {
		md.fault("", "%s must be 8, 16, 24 or 32", md.p.VideoAudioDepth.Flag())
	}
	for _, side := range []option.Field{&md.p.VideoWidth, &md.p.VideoHeight} {
		md.checkSide(side)
	}
	if frames := md.p.VideoDuration.Get() * float64(md.p.VideoFPS.Get()); md.wantsVideo() && frames < 1 {
		md.fault("", "%s is shorter than one frame at --video-fps %d", md.p.VideoDuration.Flag(),
			md.p.VideoFPS.Get())
	}
}
