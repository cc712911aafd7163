package record

// fieldNames are the facts as files name them. A durable name for each: files of earlier runs are read back.
var fieldNames = [NumFields]string{
	StartWall:               "start_wall",
	CreditIssued:            "credit_issued",
	IntendedSend:            "intended_send",
	Scheduled:               "scheduled",
	CreditDrop:              "credit_drop",
	Ack:                     "ack",
	FirstContent:            "first_content",
	SecondContent:           "second_content",
	FirstOutput:             "first_output",
	LastContent:             "last_content",
	LastResponse:            "last_response",
	End:                     "end",
	Cancelled:               "cancelled",
	Contents:                "contents",
	InputTokens:             "input_tokens",
	OutputTokens:            "output_tokens",
	ReasoningTokens:         "reasoning_tokens",
	RequestedTokens:         "requested_tokens",
	PrefixHits:              "prefix_hits",
	PrefixBlocks:            "prefix_blocks",
	FirstChunkTokens:        "first_chunk_tokens",
	Images:                  "images",
	Audio:                   "audio",
	AudioBytes:              "audio_bytes",
	FirstAudioBytes:         "first_audio_bytes",
	AudioMade:               "audio_made",
	UsagePrompt:             "usage_prompt",
	UsageCompletion:         "usage_completion",
	UsageTotal:              "usage_total",
	UsageReasoning:          "usage_reasoning",
	UsageCacheRead:          "usage_cache_read",
	UsageCacheWrite:         "usage_cache_write",
	UsageCacheMiss:          "usage_cache_miss",
	UsagePromptAudio:        "usage_prompt_audio",
	UsageCompletionAudio:    "usage_completion_audio",
	UsageAcceptedPrediction: "usage_accepted_prediction",
	UsageRejectedPrediction: "usage_rejected_prediction",
	UsageToolUsePrompt:      "usage_tool_use_prompt",
	UsagePromptAudioSeconds: "usage_prompt_audio_seconds_bits",
	InferenceSeconds:        "inference_seconds_bits",
	PeakMemoryMB:            "peak_memory_mb_bits",
	SpecSteps:               "spec_steps",
	SpecDrafted:             "spec_drafted",
	SpecAccepted:            "spec_accepted",
	SpecMeanLength:          "spec_mean_length_bits",
	Blocked:                 "blocked",
	DNSLookup:               "dns_lookup",
	Connecting:              "connecting",
	Sending:                 "sending",
	Waiting:                 "waiting",
	Receiving:               "receiving",
	TraceDuration:           "trace_duration",
	ConnectionReused:        "connection_reused",
	BytesSent:               "bytes_sent",
	ChunksSent:              "chunks_sent",
	BytesReceived:           "bytes_received",
	ChunksReceived:          "chunks_received",
	Job:                     "job",
	JobRequests:             "job_requests",
	After:                   "after",
	JobDelay:                "job_delay",
	JobAgents:               "job_agents",
	JobModel:                "job_model",
	ReadLag:                 "read_lag",
	Good:                    "good",
	Failed:                  "failed",
}

// String returns the fact's name in files.
func (f Field) String() string { return fieldNames[f] }

var fieldsByName = func() map[string]Field {
	m := make(map[string]Field, NumFields)
	for i, name := range fieldNames {
		m[name] = Field(i)
	}
	return m
}()

// FieldNamed returns a fact by its name in files.
func FieldNamed(name string) (Field, bool) {
	f, ok := fieldsByName[name]
	return f, ok
}
