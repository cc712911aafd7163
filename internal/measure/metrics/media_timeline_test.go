package metrics

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// mediaConfig accepts and makes everything.
func mediaConfig() Config {
	cfg := chatConfig()
	cfg.SupportsImage, cfg.SupportsAudio, cfg.SupportsVideo, cfg.ProducesVideo = true, true, true, true
	return cfg
}

func doubleBits(v float64) int64 { return int64(math.Float64bits(v)) }

func TestMediaMetrics(t *testing.T) {
	e := mustSet(t, mediaConfig()).NewEngine()
	a := success(0, 200*ms, 50*ms, 200*ms)
	a.Facts[record.Images], a.Facts[record.Audio] = 4, 2500*ms
	a.Facts[record.InferenceSeconds], a.Facts[record.PeakMemoryMB] = doubleBits(1.5), doubleBits(1024.5)
	b := success(100*ms, 400*ms, 400*ms)
	b.Facts[record.Images] = 3
	e.Add(a)
	e.Add(b)
	e.Add(success(100*ms, 400*ms, 400*ms)) // without any media
	want := map[string]float64{
		"num_images": 3.5, "image_throughput": (4/0.2 + 3/0.4) / 2, "image_latency": (50 + 400.0/3) / 2,
		"total_num_images":         7,
		"image_samples_per_second": 7 / 0.5, "audio_duration": 2.5, "rtfx": 12.5, "video_inference_time": 1500,
		"video_peak_memory": 1024.5,
		// 4 images over 200 ms, 3 over the 400 ms from 100 ms on; the window is 500 ms.
		"effective_image_samples_per_second": 7 / 0.5, "active_image_samples_per_second": 7 / 0.5,
		// Over all requests under way: one for 100 ms, three for 100, two for 300.
		"effective_image_samples_per_second_per_user": (100*20 + 100*(20+7.5)/3 + 300*7.5/2) / 500,
	}
	got := map[string]float64{}
	for _, r := range e.Results() {
		if _, ok := want[r.Tag]; ok {
			got[r.Tag] = r.Stats.Avg
		}
	}
	for tag, v := range want {
		if g, ok := got[tag]; !ok || math.Abs(g-v) > 1e-9*v {
			t.Errorf("%s: %v, want %v", tag, got[tag], v)
		}
	}
}

// Nothing is generated for requests without media, nor for endpoints that take none.
func TestMediaMetricsAreAbsentWithoutMedia(t *testing.T) {
	plain := chatConfig()
	withMedia := success(0, 200*ms, 50*ms)
	withMedia.Facts[record.Images], withMedia.Facts[record.Audio], withMedia.Facts[record.InferenceSeconds] = 4,
		1000*ms, doubleBits(1)
	for name, c := range map[string]struct {
		cfg Config
		rec *record.Record
	}{"none in the request": {mediaConfig(), success(0, 200*ms, 50*ms)}, "not of the endpoint": {plain, withMedia}} {
		e := mustSet(t, c.cfg).NewEngine()
		e.Add(c.rec)
		for _, r := range e.Results() {
			if strings.Contains(r.Tag, "image") || strings.Contains(r.Tag, "audio_duration") ||
				strings.Contains(r.Tag, "rtfx") || strings.Contains(r.Tag, "video") {
				t.Errorf("%s: %s is %v", name, r.Tag, r.Stats.Avg)
			}
		}
	}
}
