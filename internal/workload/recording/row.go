package recording

import (
	"encoding/json"
	"time"
)

// Head is the first line of each file of rows.
type Head struct {
	Recording int       `json:"aiperf_recording"`
	StartedAt time.Time `json:"started_at"`
	Keep      Keep      `json:"keep"`
	Tokenizer string    `json:"tokenizer"`
	BlockSize int       `json:"block_size,omitempty"`
	Part      int       `json:"part"`
	// Untimed says that nobody knows when the requests came: their times are 0, and their order is that of the rows.
	Untimed bool `json:"untimed,omitempty"`
}

// NoReply is said in Incomplete of a request whose reply is not known: its length is 0 then.
const NoReply = "no reply"

// Row is a line of the recording: one request. Times are milliseconds, lengths are tokens.
type Row struct {
	// TimestampMS is the time since the recorder began.
	TimestampMS float64 `json:"timestamp_ms"`
	// Endpoint is the endpoint type, "other" for a path that is none's.
	Endpoint string `json:"endpoint"`
	Model    string `json:"model,omitempty"`
	Stream   bool   `json:"stream"`
	Status   int    `json:"status"`
	// Outcome is ok, error (the server refused or failed), unreached, broken (the server left) or cancelled (the client
	// did).
	Outcome string `json:"outcome"`

	SessionID string `json:"session_id"`
	Turn      int    `json:"turn"`
	// ThinkMS is the time since the turn before ended. AfterTools: it was spent on tools, whose results the request carries.
	ThinkMS    *float64 `json:"think_ms,omitempty"`
	AfterTools bool     `json:"after_tools,omitempty"`

	InputLength     int     `json:"input_length"`
	OutputLength    int     `json:"output_length"`
	ReasoningLength int     `json:"reasoning_length,omitempty"`
	HashIDs         []int64 `json:"hash_ids,omitempty"`
	// Usage are the server's own counts.
	UsagePrompt     *int64 `json:"usage_prompt_tokens,omitempty"`
	UsageCompletion *int64 `json:"usage_completion_tokens,omitempty"`
	UsageCached     *int64 `json:"usage_cached_tokens,omitempty"`

	Tools      int                        `json:"tools,omitempty"`
	ToolCalls  int                        `json:"tool_calls,omitempty"`
	Images     int                        `json:"images,omitempty"`
	Sampling   map[string]json.RawMessage `json:"sampling,omitempty"`
	StopReason string                     `json:"stop_reason,omitempty"`

	// TTFTMS is the time to the first content, as it passed; LatencyMS that to the end.
	TTFTMS    *float64 `json:"ttft_ms,omitempty"`
	LatencyMS float64  `json:"latency_ms"`
	// Incomplete says what could not be read of request or reply: lengths are too small then.
	Incomplete string `json:"incomplete,omitempty"`

	Request json.RawMessage `json:"request,omitempty"`
	Reply   *string         `json:"reply,omitempty"`
}

// Lacks notes what could not be read, if yes.
func (r *Row) Lacks(yes bool, what string) {
	switch {
	case !yes:
	case r.Incomplete == "":
		r.Incomplete = what
	default:
		r.Incomplete += ", " + what
	}
}
