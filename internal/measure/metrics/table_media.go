package metrics

import (
	"aiperf/internal/measure/record"
)

var (
	imageCount = fact(record.Images)
	audioNS    = fact(record.Audio)
	audioBytes = fact(record.AudioBytes)
	madeNS     = fact(record.AudioMade)
)

// mediaTable holds what requests show and play to the model, and what it shows in return.
func mediaTable() []Definition {
	images := total("total_num_images", "Total Number of Images", "Total Images", "num_images",
		SupportsImageOnly|LargerIsBetter)
	images.Unit, images.Display = Images, Images
	sent := total("total_output_audio_bytes", "Total Output Audio Bytes", "Total Audio Bytes", "output_audio_bytes",
		ProducesAudioOnly|LargerIsBetter)
	sent.Unit, sent.Display = Bytes, Kilobytes
	made := total("total_output_audio_duration", "Total Output Audio Duration", "Total Audio Out",
		"output_audio_duration", ProducesAudioOnly|LargerIsBetter)
	made.Unit, made.Display = Nanoseconds, Seconds
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
			Tag: "time_to_first_audio", Header: "Time to First Audio", Short: "TTFA",
			Kind: KindRecord, Unit: Nanoseconds, Display: Milliseconds, Order: 105, Group: GroupDefault,
			Flags: ProducesAudioOnly | PercentileIncludesFailedRequests,
			Doc: "Time from sending the request to the first bytes of sound, streaming or not; the header of a WAV " +
				"file is none.",
			Formula: "first content − start",
			Absent:  "no sound",
			reads:   []record.Field{record.FirstContent}, integer: timeToFirstToken,
		},
		{
			Tag: "real_time_factor", Header: "Real-Time Factor (RTF)", Short: "RTF", ShortHidesUnit: true,
			Kind: KindRecord, Unit: Ratio, Display: Ratio, Order: 851, Group: GroupDefault,
			Flags:    ProducesAudioOnly,
			Doc:      "Seconds of latency per second of the sound that was made; below 1 is faster than real time.",
			Formula:  "request_latency in seconds / output_audio_duration",
			Absent:   "either is missing",
			Requires: []string{"request_latency", "output_audio_duration"},
			reads:    []record.Field{record.LastContent, record.AudioMade}, float: latencyPerSound,
		},
		{
			Tag: "output_audio_duration", Header: "Output Audio Duration", Short: "Audio Out",
			Kind: KindRecord, Unit: Nanoseconds, Display: Seconds, Order: 871, Group: GroupDefault,
			Flags:   ProducesAudioOnly,
			Doc:     "Length of the sound that was made.",
			Formula: "bytes of samples / bytes of a second, by the header of a WAV file or the rate of PCM",
			Absent:  "no sound, or of another format",
			reads:   []record.Field{record.AudioMade}, integer: madeNS,
		},
		{
			Tag: "output_audio_bytes", Header: "Output Audio Size", Short: "Audio Size",
			Kind: KindRecord, Unit: Bytes, Display: Kilobytes, Order: 872, Group: GroupDefault,
			Flags:   ProducesAudioOnly,
			Doc:     "Bytes of the sound that was received, its header included, without base64.",
			Formula: "bytes of the file",
			Absent:  "no sound",
			reads:   []record.Field{record.AudioBytes}, integer: audioBytes,
		},
		{
			Tag: "output_audio_byte_rate", Header: "Output Audio Byte Rate", Short: "Audio Byte Rate",
			Kind: KindRecord, Unit: BytesPerSecond, Display: KilobytesPerSecond, Order: 873, Group: GroupDefault,
			Flags:    ProducesAudioOnly | LargerIsBetter,
			Doc:      "Bytes of sound per second while it streams, from the first to the last of them.",
			Formula:  "(output_audio_bytes − those that came with the first) / (last − first content) in seconds",
			Absent:   "no sound, or it came at once: within 20 µs, or the read lag",
			Requires: []string{"output_audio_bytes"},
			reads: []record.Field{record.AudioBytes, record.FirstAudioBytes, record.FirstContent, record.LastContent,
				record.ReadLag},
			float: audioByteRate,
		},
		sent,
		made,
		{
			Tag: "output_audio_byte_throughput", Header: "Output Audio Byte Throughput", Short: "Audio Bytes/s",
			ShortHidesUnit: true,
			Kind:           KindDerived, Unit: BytesPerSecond, Display: KilobytesPerSecond, Order: 874,
			Group:    GroupDefault,
			Flags:    ProducesAudioOnly | LargerIsBetter,
			Doc:      "Bytes of sound of all requests per second of the benchmark.",
			Formula:  "total_output_audio_bytes / benchmark_duration in seconds",
			Absent:   "either is missing",
			Requires: []string{"total_output_audio_bytes", "benchmark_duration"},
			derive:   ratePerSecond("total_output_audio_bytes"),
		},
		{
			Tag: "output_audio_throughput", Header: "Output Audio Throughput", Short: "Audio s/s",
			ShortHidesUnit: true,
			Kind:           KindDerived, Unit: Ratio, Display: Ratio, Order: 875,
			Group:    GroupDefault,
			Flags:    ProducesAudioOnly | LargerIsBetter,
			Doc:      "Seconds of sound of all requests per second of the benchmark: how many listeners keep up.",
			Formula:  "total_output_audio_duration / benchmark_duration",
			Absent:   "either is missing",
			Requires: []string{"total_output_audio_duration", "benchmark_duration"},
			derive: func(s *scalars) (float64, bool) {
				perSecond, ok := ratePerSecond("total_output_audio_duration")(s)
				return perSecond * nsToSeconds, ok
			},
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

func latencyPerSound(f *record.Facts) (float64, bool) {
	made, ok := madeNS(f)
	ns, timed := requestLatency(f)
	if !ok || !timed || made == 0 {
		return 0, false
	}
	return float64(ns) / float64(made), true
}

// audioByteRate leaves out what came with the first bytes: there was no time in which it came.
func audioByteRate(f *record.Facts) (float64, bool) {
	all, ok := audioBytes(f)
	first, begun := f.Get(record.FirstAudioBytes)
	ns, timed := decodeDuration(f)
	if !ok || !begun || !timed || all <= first || !f.Tells(ns) {
		return 0, false
	}
	return float64(all-first) / (float64(ns) * nsToSeconds), true
}
