package metrics

import (
	"aiperf/internal/measure/record"
)

var (
	imageCount = fact(record.Images)
	audioNS    = fact(record.Audio)
)

// mediaTable holds what requests show and play to the model, and what it shows in return.
func mediaTable() []Definition {
	images := total("total_num_images", "Total Number of Images", "Total Images", "num_images",
		SupportsImageOnly|LargerIsBetter)
	images.Unit, images.Display = Images, Images
	return []Definition{
		{
			Tag: "num_images", Header: "Number of Images", Short: "Num Images", ShortHidesUnit: true,
			Kind: KindRecord, Unit: Images, Display: Images, Group: GroupNone, Flags: SupportsImageOnly,
			Doc: "Images of the request, or of the reply if the endpoint generates images from text.",
			Formula: "image parts of the body that was sent, references to cached images included; else images of " +
				"the reply",
			Absent: "none",
			reads:  []record.Field{record.Images}, integer: imageCount,
		},
		images,
		{
			Tag: "image_throughput", Header: "Image Throughput", Short: "Image Throughput",
			Kind: KindRecord, Unit: ImagesPerSecond, Display: ImagesPerSecond, Order: 860,
			Group:    GroupDefault,
			Flags:    SupportsImageOnly,
			Doc:      "Images of a request over its whole latency.",
			Formula:  "num_images / request_latency in seconds",
			Absent:   "no images, or the latency is below 20 µs",
			Requires: []string{"num_images", "request_latency"},
			reads:    []record.Field{record.Images, record.LastContent}, float: perSecond(imageCount, requestLatency),
		},
		{
			Tag: "image_latency", Header: "Image Latency", Short: "Image Latency",
			Kind: KindRecord, Unit: MillisecondsPerImage, Display: MillisecondsPerImage, Order: 861,
			Group:    GroupDefault,
			Flags:    SupportsImageOnly,
			Doc:      "Latency of a request for each of its images.",
			Formula:  "request_latency in milliseconds / num_images",
			Absent:   "no images",
			Requires: []string{"num_images", "request_latency"},
			reads:    []record.Field{record.Images, record.LastContent}, float: imageLatency,
		},
		{
			Tag: "image_samples_per_second", Header: "Image Samples Per Second", Short: "Images/s",
			ShortHidesUnit: true,
			Kind:           KindDerived, Unit: ImagesPerSecond, Display: ImagesPerSecond, Order: 862,
			Group:    GroupDefault,
			Flags:    SupportsImageOnly | LargerIsBetter,
			Doc:      "Images of all requests per second of the benchmark.",
			Formula:  "total_num_images / benchmark_duration in seconds",
			Absent:   "either is missing",
			Requires: []string{"total_num_images", "benchmark_duration"},
			derive:   ratePerSecond("total_num_images"),
		},
		{
			Tag: "audio_duration", Header: "Audio Duration", Short: "Audio Duration",
			Kind: KindRecord, Unit: Nanoseconds, Display: Seconds, Order: 870, Group: GroupNone,
			Flags:   SupportsAudioOnly,
			Doc:     "Length of the audio of the request, earlier turns included.",
			Formula: "seconds of all clips sent",
			Absent:  "no audio, or of unknown length",
			reads:   []record.Field{record.Audio}, integer: audioNS,
		},
		{
			Tag: "rtfx", Header: "Inverse Real-Time Factor (RTFx)", Short: "RTFx", ShortHidesUnit: true,
			Kind: KindRecord, Unit: Ratio, Display: Ratio, Order: 850, Group: GroupDefault,
			Flags:    SupportsAudioOnly | LargerIsBetter,
			Doc:      "Seconds of audio per second of latency; above 1 is faster than real time.",
			Formula:  "audio_duration / request_latency in seconds",
			Absent:   "either is missing, or the latency is 0",
			Requires: []string{"audio_duration", "request_latency"},
			reads:    []record.Field{record.Audio, record.LastContent}, float: realTimeFactor,
		},
		{
			Tag: "video_inference_time", Header: "Video Inference Time", Short: "Inference Time",
			Kind: KindRecord, Unit: Seconds, Display: Milliseconds, Order: 310, Group: GroupDefault,
			Flags:   ProducesVideoOnly,
			Doc:     "Time that the server reports for making the video.",
			Formula: "the first inference_time_s of the replies",
			Absent:  "not reported",
			reads:   []record.Field{record.InferenceSeconds}, float: floatFact(record.InferenceSeconds),
		},
		{
			Tag: "video_peak_memory", Header: "Video Peak Memory", Short: "Peak Memory",
			Kind: KindRecord, Unit: Megabytes, Display: Megabytes, Order: 311, Group: GroupDefault,
			Flags:   ProducesVideoOnly,
			Doc:     "Largest memory that the server reports for the video.",
			Formula: "the first peak_memory_mb of the replies",
			Absent:  "not reported",
			reads:   []record.Field{record.PeakMemoryMB}, float: floatFact(record.PeakMemoryMB),
		},
	}
}

func imageLatency(f *record.Facts) (float64, bool) {
	n, shown := imageCount(f)
	ns, timed := requestLatency(f)
	if !shown || !timed || n == 0 {
		return 0, false
	}
	return float64(ns) / 1e6 / float64(n), true
}

func realTimeFactor(f *record.Facts) (float64, bool) {
	played, ok := audioNS(f)
	ns, timed := requestLatency(f)
	if !ok || !timed || ns == 0 {
		return 0, false
	}
	return float64(played) / float64(ns), true
}
