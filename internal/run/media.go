package run

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/compose"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/loader"
	"aiperf/internal/workload/media"
	"aiperf/internal/workload/synthetic"
)

// addMedia says to the composer what generated turns have besides prompts, or instead of them.
func addMedia(o *compose.Options, d *config.Dataset) {
	o.Rankings, o.Pictures, o.Sounds = d.Rankings, d.Images, d.Audio
	if v := d.Video; v != nil {
		film := media.Film{
			Width: v.Width, Height: v.Height, Seconds: v.Seconds, FPS: v.FPS, Show: v.Show,
			Format: v.Format, Codec: v.Codec, AudioCodec: v.AudioCodec,
			Sound: media.Clip{Format: "wav", Seconds: v.Seconds, RateHz: v.AudioRateHz, Depth: v.AudioDepth, Channels: v.AudioChannels},
		}
		o.Films = &compose.Films{Film: film, BatchSize: d.Batches.Video}
	}
}

// addReading says to the loader what single formats need.
func addReading(o *compose.Options, d *config.Dataset) {
	b := d.Batches
	o.Reading.Batches = &loader.Batches{b.Text, b.Image, b.Audio, b.Video}
	if d.Sessions != nil {
		o.Reading.Draws = int(min(*d.Sessions, math.MaxInt32))
	}
	o.Reading.Baseten = d.Baseten
	o.Reading.StripImages = d.StripImages
}

// addCorpus says to the composer what texts are cut from, and from which windows lengths are drawn.
func addCorpus(o *compose.Options, d *config.Dataset) {
	switch {
	case d.Corpus == "coding":
		o.Corpus = compose.Code
	case d.Corpus == "random" && d.CorpusStyle == config.StyleSGLang:
		o.Corpus = compose.AllTokens
	case d.Corpus == "random":
		o.Corpus = compose.OrdinaryTokens
	}
	if r := d.Range; r != nil {
		upTo := r.Mode == config.StyleSGLang
		o.ISLWindow, o.OSLWindow = &synthetic.Window{Ratio: r.Input, UpTo: upTo}, &synthetic.Window{Ratio: r.Output, UpTo: upTo}
	}
}

// unsentMedia warns of media of a dataset that the endpoint's requests cannot hold.
func unsentMedia(data *dataset.Dataset, d endpoint.Descriptor) []string {
	var warnings []string
	h := holds(data)
	for _, m := range []struct {
		what  string
		taken bool
		turns int
	}{
		{"images", d.SupportsImage, h.Images},
		{"audio", d.SupportsAudio, h.Audios},
		{"video", d.SupportsVideo, h.Videos},
	} {
		if m.turns > 0 && !m.taken {
			warnings = append(warnings, fmt.Sprintf("%d turns have %s, which --endpoint-type %s does not send", m.turns, m.what, d.Name))
		}
	}
	return warnings
}

// verbatimWarnings tell what does not reach turns that are whole request bodies.
func verbatimWarnings(data *dataset.Dataset, cfg *config.Run) []string {
	h := holds(data)
	turns, otherwise := h.Payloads, h.Streams
	switch {
	case cfg.Endpoint.GRPC:
		otherwise = 0 // the kind of call says it
	case cfg.Endpoint.Streaming:
		otherwise = h.Payloads - h.Streams
	}
	if turns == 0 {
		return nil
	}
	d := &cfg.Dataset
	var idle, warnings []string
	for _, x := range []struct {
		given bool
		flag  string
	}{
		{d.OSL != nil, "--osl"}, {len(d.SequenceDistribution) > 0, "--seq-dist"}, {len(cfg.Endpoint.Extra) > 0, "--extra-inputs"}, {len(cfg.Models) > 1, "--model"},
		{d.SystemPrompt != nil, "--system-prompt"}, {d.SharedSystemPromptLength > 0, "--shared-system-prompt-length"},
		{d.UserContextPromptLength > 0, "--user-context-prompt-length"},
	} {
		if x.given {
			idle = append(idle, x.flag)
		}
	}
	if len(idle) > 0 {
		warnings = append(warnings, fmt.Sprintf("%d turns are whole request bodies and sent as they are: %s has no effect on them", turns, strings.Join(idle, ", ")))
	}
	if otherwise > 0 {
		says := map[bool]string{true: `do not say "stream":true although --streaming is given`, false: `say "stream":true although --streaming is not given`}
		warnings = append(warnings, fmt.Sprintf("%d of %d request bodies %s: they are sent as they are", otherwise, turns, says[cfg.Endpoint.Streaming]))
	}
	return warnings
}
