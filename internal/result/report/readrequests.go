package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"aiperf/internal/base/bounded"
)

// Request is what a line of the per-request file, of this program or of the original, says of when a
// request ran and for whom.
type Request struct {
	SessionNum     int64    `json:"session_num"`
	RequestID      string   `json:"x_request_id"`
	CorrelationID  string   `json:"x_correlation_id"`
	ConversationID string   `json:"conversation_id"`
	TurnIndex      int      `json:"turn_index"`
	StartNS        int64    `json:"request_start_ns"`
	EndNS          int64    `json:"request_end_ns"`
	Phase          string   `json:"benchmark_phase"`
	WasCancelled   bool     `json:"was_cancelled"`
	WasCutOff      bool     `json:"was_cut_off"`
	AgentDepth     int      `json:"agent_depth"`
	ParentID       string   `json:"parent_correlation_id"`
	RootID         string   `json:"root_correlation_id"`
	FirstTokenMS   *float64 `json:"-"`
	InputTokens    *float64 `json:"-"`
	OutputTokens   *float64 `json:"-"`
	// Failure is the error's message, or its type; empty for a success.
	Failure string `json:"-"`
}

// Session names the session of the request.
func (r *Request) Session() string {
	if r.CorrelationID != "" {
		return r.CorrelationID
	}
	return r.ConversationID
}

// requestLine is a line of either file of requests.
type requestLine struct {
	Metadata Request `json:"metadata"`
	Metrics  map[string]struct {
		Value json.RawMessage `json:"value"`
	} `json:"metrics"`
	Error *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// request takes what stands beside the metadata into them.
func (l *requestLine) request() *Request {
	r := &l.Metadata
	for tag, into := range map[string]**float64{
		"time_to_first_token": &r.FirstTokenMS, "input_sequence_length": &r.InputTokens, "output_sequence_length": &r.OutputTokens,
	} {
		if m, ok := l.Metrics[tag]; ok {
			_ = json.Unmarshal(m.Value, into) // what is no number is not there
		}
	}
	if l.Error != nil {
		if r.Failure = l.Error.Message; r.Failure == "" {
			r.Failure = l.Error.Type
		}
		if r.Failure == "" {
			r.Failure = "failed"
		}
	}
	return r
}

// ReadRequests hands the requests of a per-request file to take, in their order. A last line that is not
// whole, of a run that was killed, is left out.
func ReadRequests(path string, take func(*Request)) error {
	return eachLine(path, func(text []byte) error {
		var l requestLine
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		take(l.request())
		return nil
	})
}

// eachLine hands the whole lines of a file to take; an error of it names the line. One in the last line is that of a
// run that was killed, and passed over.
func eachLine(path string, take func([]byte) error) error {
	file, err := bounded.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(bounded.NewLines(file, bounded.MaxLine, ""), 1<<20)
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if err := take(text); err != nil {
			if _, more := in.Peek(1); more == io.EOF {
				return nil
			}
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
}

// RawRequest is what a line of the raw export says.
type RawRequest struct {
	Request
	// Payload is the body; nil where it is not wanted.
	Payload json.RawMessage
}

// ReadRawRequests hands the requests of a raw export to take, in their order, with the bodies of the sessions that are
// wanted; the others are told all the same.
func ReadRawRequests(path string, wanted func(session string) bool, take func(*RawRequest)) error {
	return eachLine(path, func(text []byte) error {
		var l requestLine
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		r := RawRequest{Request: *l.request()}
		if wanted(r.Session()) {
			var body struct {
				Payload json.RawMessage `json:"payload"`
			}
			if err := json.Unmarshal(text, &body); err != nil {
				return err
			}
			r.Payload = body.Payload
		}
		take(&r)
		return nil
	})
}

// ReadReplies returns the texts of outputs.json of the requests that are wanted, by their ids.
func ReadReplies(path string, wanted map[string]bool) (map[string]string, error) {
	file, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := map[string]string{}
	d := json.NewDecoder(bufio.NewReaderSize(file, 1<<20))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if token != json.Delim('[') {
			continue
		}
		for d.More() {
			var entry struct {
				ID   string  `json:"x_request_id"`
				Text *string `json:"response_text"`
			}
			if err := d.Decode(&entry); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if entry.Text != nil && wanted[entry.ID] {
				out[entry.ID] = *entry.Text
			}
		}
	}
}
