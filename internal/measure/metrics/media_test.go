package metrics

import (
	"testing"

	"aiperf/internal/measure/record"
)

// The arguments of success are start, end of the request and its first content.
func TestImagesAndSound(t *testing.T) {
	cfg := chatConfig()
	cfg.SupportsImage, cfg.SupportsAudio = true, true
	media := func(images, seconds int64) map[record.Field]int64 {
		return map[record.Field]int64{record.Images: images, record.Audio: seconds * 1e9, record.LastContent: 500 * ms}
	}
	one := with(success(0, 500*ms, 40*ms), media(4, 5))
	two := with(success(0, 500*ms, 40*ms), media(2, 1))
	text := success(0, 90*ms, 40*ms)
	results := engineOf(t, cfg, one, two, text).Results()
	scalar(t, results, "num_images", 3)
	scalar(t, results, "total_num_images", 6)
	scalar(t, results, "image_throughput", (4/0.5+2/0.5)/2)
	scalar(t, results, "image_latency", (500.0/4+500.0/2)/2)
	scalar(t, results, "image_samples_per_second", 6/0.5)
	scalar(t, results, "audio_duration", 3)
	scalar(t, results, "rtfx", (5/0.5+1/0.5)/2)
	tags := []string{"num_images", "total_num_images", "image_throughput", "image_latency", "image_samples_per_second",
		"audio_duration", "rtfx"}
	absent(t, engineOf(t, cfg, text).Results(), tags...)
	absent(t, engineOf(t, chatConfig(), one, two).Results(), tags...)
}

// Speech: 2.5 s in 300 ms, of which 120,000 bytes came in 250 ms after the first ones, and 1 s that came at once; a failed
// request and one without sound have none of it.
func TestSpeech(t *testing.T) {
	cfg := DefaultConfig()
	cfg.TokenizesInput, cfg.ProducesAudio = true, true
	sound := func(all, first, ns int64) map[record.Field]int64 {
		return map[record.Field]int64{record.AudioBytes: all, record.FirstAudioBytes: first, record.AudioMade: ns}
	}
	streams := with(success(0, 300*ms, 50*ms, 300*ms), sound(122_400, 2400, 2500*ms))
	atOnce := with(success(0, 500*ms, 500*ms), sound(48_044, 48_044, 1000*ms))
	coded := with(success(0, 300*ms, 50*ms, 300*ms), sound(1000, 500, record.Absent))
	none := success(0, 90*ms, 40*ms)
	results := engineOf(t, cfg, streams, atOnce, none).Results()
	scalar(t, results, "time_to_first_audio", (50.0+500+40)/3)
	scalar(t, results, "real_time_factor", (0.3/2.5+0.5/1)/2)
	scalar(t, results, "output_audio_duration", 1.75)
	scalar(t, results, "total_output_audio_duration", 3.5)
	scalar(t, results, "output_audio_bytes", (122_400+48_044)/2/1024.0)
	scalar(t, results, "output_audio_byte_rate", 120_000/0.25/1024)
	scalar(t, results, "output_audio_byte_throughput", (122_400+48_044)/0.5/1024)
	scalar(t, results, "output_audio_throughput", 3.5/0.5)
	absent(t, results, "time_to_first_token", "output_sequence_length", "inter_chunk_latency", "audio_duration", "rtfx")
	results = engineOf(t, cfg, coded).Results()
	scalar(t, results, "output_audio_byte_rate", 500/0.25/1024)
	absent(t, results, "real_time_factor", "output_audio_duration", "total_output_audio_duration", "output_audio_throughput")
	absent(t, engineOf(t, chatConfig(), streams).Results(), "time_to_first_audio", "real_time_factor", "output_audio_bytes",
		"total_output_audio_bytes", "output_audio_byte_rate", "output_audio_throughput")
}

// The tokens of a spoken reply, which its server counts, are no difference to the text that the client counts.
func TestTokensOfSoundAreNoDifference(t *testing.T) {
	cfg := chatConfig()
	cfg.SupportsAudio = true
	reply := func(completion, sound int64) *record.Record {
		return with(success(0, 90*ms, 40*ms), map[record.Field]int64{record.OutputTokens: 5, record.InputTokens: 2, record.UsagePrompt: 2,
			record.UsageCompletion: completion, record.UsageCompletionAudio: sound})
	}
	for _, c := range []struct {
		record *record.Record
		want   float64
	}{{reply(30, 25), 0}, {reply(6, 0), 20}, {reply(6, record.Absent), 20}, {reply(3, 25), 100}} {
		results := engineOf(t, cfg, c.record).Results()
		scalar(t, results, "usage_completion_tokens_diff_pct", c.want)
	}
}
