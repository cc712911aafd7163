package config

func promptOptions() []Option {
	const data = "datasets.default."
	return []Option{
		opt("conversation-num num-conversations num-sessions", Int, "", 1, "Number of sessions to run; the run stops sending after them.", sweep, limits(atLeast(1)), yaml("phases.profiling.sessions")),
		opt("num-dataset-entries num-prompts", Int, "100", 1, "Number of different conversations to generate.", limits(atLeast(1)), yaml(data+"entries")),
		opt("conversation-turn-mean session-turns-mean", Int, "1", 1, "Turns of a conversation.", sweep, limits(atLeast(1)), yaml(data+"turns.mean")),
		opt("conversation-turn-stddev session-turns-stddev", Int, "0", 2, "Standard deviation of the number of turns.", limits(atLeast(0)), yaml(data+"turns.stddev")),
		opt("conversation-turn-delay-mean session-turn-delay-mean", Float, "0", 2, "Pause before each further turn in milliseconds.", milliseconds, limits(atLeast(0)), yaml(data+"turn_delay.mean")),
		opt("conversation-turn-delay-stddev session-turn-delay-stddev", Float, "0", 2, "Standard deviation of that pause in milliseconds.", milliseconds, limits(atLeast(0)), yaml(data+"turn_delay.stddev")),
		opt("conversation-turn-delay-ratio session-delay-ratio", Float, "1", 2, "Factor on every pause between turns.", limits(atLeast(0)), yaml(data+"turn_delay_ratio")),
		opt("prompt-batch-size batch-size-text batch-size -b", Int, "1", 2, "Texts in one request.", limits(atLeast(0)), yaml(data+"prompts.batch_size")),
		opt("prompt-input-tokens-mean synthetic-input-tokens-mean isl", Int, "550", 1, "Input length in tokens.", sweep, limits(atLeast(0)), yaml(data+"prompts.isl.mean")),
		opt("prompt-input-tokens-stddev synthetic-input-tokens-stddev isl-stddev", Float, "0", 1, "Standard deviation of the input length.", sweep, limits(atLeast(0)), yaml(data+"prompts.isl.stddev")),
		opt("prompt-input-tokens-block-size synthetic-input-tokens-block-size isl-block-size", Int, "", 2, "Tokens that one hash id of a trace stands for.",
			derived("the trace format's own"), limits(atLeast(1)), yaml(data+"prompts.block_size")),
		opt("seq-dist sequence-distribution", String, "", 2, `Mix of input and output lengths with weights in percent, as "256,128:40;512,256:60".`, yaml(data+"prompts.sequence_distribution")),
		opt("random-range-ratio", String, "", 3, "Uniform window around the mean lengths: a number, or JSON with input and output.", yaml(data+"prompts.random_range_ratio")),
		opt("random-range-ratio-mode", Enum, "vllm", 3, "Another name of --random-corpus-style.", values("vllm", "sglang"), yaml(data+"prompts.random_range_ratio_mode")),
		opt("prompt-output-tokens-mean output-tokens-mean osl", Int, "", 1, "Output length asked for, in tokens; without it no limit is sent.", sweep, limits(atLeast(0)), yaml(data+"prompts.osl.mean")),
		opt("prompt-output-tokens-stddev output-tokens-stddev osl-stddev", Float, "0", 1, "Standard deviation of the output length.", sweep, limits(atLeast(0)), yaml(data+"prompts.osl.stddev")),
		opt("prompt-prefix-pool-size prefix-prompt-pool-size num-prefix-prompts", Int, "0", 2, "Number of shared prefixes before first turns; 0 is none.", limits(atLeast(0)), yaml(data+"prefix_prompts.pool_size")),
		opt("prompt-prefix-length prefix-prompt-length", Int, "0", 2, "Length of a shared prefix in tokens, added to the input length.", limits(atLeast(0)), yaml(data+"prefix_prompts.length")),
		opt("shared-system-prompt-length", Int, "", 2, "Length in tokens of one generated system prompt for all conversations.", limits(atLeast(1)), yaml(data+"prefix_prompts.shared_system_length")),
		opt("user-context-prompt-length", Int, "", 2, "Length in tokens of a context that each conversation has for itself.", limits(atLeast(1)), yaml(data+"prefix_prompts.user_context_length")),
	}
}

func mediaOptions() []Option {
	const (
		data = "datasets.default."
	)
	nonNegative, positive := limits(atLeast(0)), limits(atLeast(1))
	return []Option{
		opt("audio-batch-size batch-size-audio", Int, "1", 2, "Audio clips in one request.", nonNegative, yaml(data+"audio.batch_size")),
		opt("audio-length-mean", Float, "0", 2, "Length of an audio clip in seconds; 0 sends none.", seconds, nonNegative, yaml(data+"audio.length.mean")),
		opt("audio-length-stddev", Float, "0", 2, "Standard deviation of that length.", seconds, nonNegative, yaml(data+"audio.length.stddev")),
		opt("audio-format", Enum, "wav", 2, "Format of audio clips.", values("wav", "mp3"), yaml(data+"audio.format")),
		opt("audio-depths", Number, "16", 3, "Bit depths of audio clips.", repeat, limits(above(0)), yaml(data+"audio.depths")),
		opt("audio-sample-rates", Number, "16.0", 3, "Sample rates of audio clips in kHz.", repeat, limits(above(0)), yaml(data+"audio.sample_rates")),
		opt("audio-num-channels", Int, "1", 3, "Channels of audio clips.", limits(between(1, 2)), yaml(data+"audio.channels")),
		opt("image-width-mean", Float, "0", 2, "Width of images in pixels; 0 sends none.", nonNegative, yaml(data+"images.width.mean")),
		opt("image-width-stddev", Float, "0", 2, "Standard deviation of the width.", nonNegative, yaml(data+"images.width.stddev")),
		opt("image-height-mean", Float, "0", 2, "Height of images in pixels; 0 sends none.", nonNegative, yaml(data+"images.height.mean")),
		opt("image-height-stddev", Float, "0", 2, "Standard deviation of the height.", nonNegative, yaml(data+"images.height.stddev")),
		opt("image-batch-size batch-size-image", Int, "1", 2, "Images in one request.", nonNegative, yaml(data+"images.batch_size")),
		opt("image-format", Enum, "png", 2, "Format of images.", values("png", "jpeg", "random"), yaml(data+"images.format")),
		opt("image-source", String, "noise", 3, "Where images come from: noise, assets, or a folder.", yaml(data+"images.source")),
		opt("image-source-sampling", Enum, "random-with-replacement", 3, "Order in which images of a finite source are taken.",
			values("random-with-replacement", "shuffle-cycle", "sequential-cycle"), yaml(data+"images.source_sampling")),
		opt("video-batch-size batch-size-video", Int, "1", 3, "Videos in one request.", nonNegative, yaml(data+"video.batch_size")),
		opt("video-duration", Float, "5.0", 3, "Length of videos in seconds.", seconds, nonNegative, yaml(data+"video.duration")),
		opt("video-fps", Int, "4", 3, "Frames per second of videos.", positive, yaml(data+"video.fps")),
		opt("video-width", Int, "", 3, "Width of videos in pixels; without width and height no video is sent.", positive, yaml(data+"video.width")),
		opt("video-height", Int, "", 3, "Height of videos in pixels.", positive, yaml(data+"video.height")),
		opt("video-synth-type", Enum, "moving_shapes", 3, "What videos show.", values("moving_shapes", "grid_clock", "noise"), yaml(data+"video.synth_type")),
		opt("video-format", Enum, "webm", 3, "Container of videos.", values("webm", "mp4"), yaml(data+"video.format")),
		opt("video-codec", String, "libvpx-vp9", 3, "Codec of videos.", yaml(data+"video.codec")),
		opt("video-audio-sample-rate", Float, "44100", 3, "Sample rate of a video's sound: 8000 to 96000 Hz, or 8 to 96 kHz.", limits(between(8, 96000))),
		opt("video-audio-num-channels", Int, "0", 3, "Channels of a video's sound; 0 is silent.", limits(between(0, 2))),
		opt("video-audio-codec", String, "auto", 3, "Codec of a video's sound.", derived("libvorbis for webm, libopus for mp4")),
		opt("video-audio-depth", Int, "16", 3, "Bit depth of a video's sound: 8, 16, 24 or 32.", limits(between(8, 32))),
		opt("rankings-passages-mean", Int, "1", 2, "Passages to rank.", positive, yaml(data+"rankings.passages.mean")),
		opt("rankings-passages-stddev", Int, "0", 2, "Standard deviation of their number.", nonNegative, yaml(data+"rankings.passages.stddev")),
		opt("rankings-passages-prompt-token-mean", Int, "550", 2, "Tokens of a passage.", positive, yaml(data+"rankings.passage_tokens.mean")),
		opt("rankings-passages-prompt-token-stddev", Int, "0", 2, "Standard deviation of the tokens of a passage.", nonNegative, yaml(data+"rankings.passage_tokens.stddev")),
		opt("rankings-query-prompt-token-mean", Int, "550", 2, "Tokens of a query.", positive, yaml(data+"rankings.query_tokens.mean")),
		opt("rankings-query-prompt-token-stddev", Int, "0", 2, "Standard deviation of the tokens of a query.", nonNegative, yaml(data+"rankings.query_tokens.stddev")),
		opt("synthesis-speedup-ratio", Float, "1.0", 2, "Factor by which a trace is replayed faster.", limits(above(0)), yaml(data+"synthesis.speedup_ratio")),
		opt("synthesis-prefix-len-multiplier", Float, "1.0", 2, "Factor on the length of shared prefixes.", limits(above(0)), yaml(data+"synthesis.prefix_len_multiplier")),
		opt("synthesis-prefix-root-multiplier", Int, "1", 2, "Number of independent copies of the prefix tree.", positive, yaml(data+"synthesis.prefix_root_multiplier")),
		opt("synthesis-prompt-len-multiplier", Float, "1.0", 2, "Factor on the length of what is not shared.", limits(above(0)), yaml(data+"synthesis.prompt_len_multiplier")),
		opt("synthesis-output-len-multiplier", Float, "1.0", 3, "Factor on output lengths.", nonNegative, yaml(data+"synthesis.output_len_multiplier")),
		opt("synthesis-max-isl", Int, "", 2, "Leave out rows with longer input.", positive, yaml(data+"synthesis.max_isl")),
		opt("synthesis-max-osl", Int, "", 2, "Cap on output lengths.", positive, yaml(data+"synthesis.max_osl")),
	}
}
