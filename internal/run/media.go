package run

import (
	"fmt"

	"aiperf/internal/config"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/compose"
	"aiperf/internal/dataset/media"
	"aiperf/internal/dataset/synthetic"
	"aiperf/internal/endpoint"
)

// addMedia says to the composer which media generated turns have.
func addMedia(o *compose.Options, d *config.Dataset) {
	if i := d.Images; i != nil {
		o.Pictures = &compose.Pictures{
			Width: synthetic.Normal(i.Width), Height: synthetic.Normal(i.Height), BatchSize: d.Batches.Image,
			Format: i.Format, Source: i.Source, Sampling: i.Sampling,
		}
	}
	if a := d.Audio; a != nil {
		o.Sounds = &compose.Sounds{
			Seconds: synthetic.Normal(a.Seconds), BatchSize: d.Batches.Audio,
			Format: a.Format, Depths: a.Depths, RatesHz: a.RatesHz, Channels: a.Channels,
		}
	}
	if v := d.Video; v != nil {
		film := media.Film{
			Width: v.Width, Height: v.Height, Seconds: v.Seconds, FPS: v.FPS, Show: v.Show,
			Format: v.Format, Codec: v.Codec, AudioCodec: v.AudioCodec,
			Sound: media.Clip{Format: "wav", Seconds: v.Seconds, RateHz: v.AudioRateHz, Depth: v.AudioDepth, Channels: v.AudioChannels},
		}
		o.Films = &compose.Films{Film: film, BatchSize: d.Batches.Video}
	}
}

// unsentMedia warns of media of a dataset that the endpoint's requests cannot hold.
func unsentMedia(data *dataset.Dataset, d endpoint.Descriptor) []string {
	var warnings []string
	for _, m := range []struct {
		what  string
		taken bool
		of    func(*dataset.Turn) []dataset.Media
	}{
		{"images", d.SupportsImage, func(t *dataset.Turn) []dataset.Media { return t.Images }},
		{"audio", d.SupportsAudio, func(t *dataset.Turn) []dataset.Media { return t.Audios }},
		{"video", d.SupportsVideo, func(t *dataset.Turn) []dataset.Media { return t.Videos }},
	} {
		turns := 0
		for i := range data.Conversations {
			for j := range data.Conversations[i].Turns {
				if len(m.of(&data.Conversations[i].Turns[j])) > 0 {
					turns++
				}
			}
		}
		if turns > 0 && !m.taken {
			warnings = append(warnings, fmt.Sprintf("%d turns have %s, which --endpoint-type %s does not send", turns, m.what, d.Name))
		}
	}
	return warnings
}
