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
