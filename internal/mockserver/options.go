package mockserver

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"aiperf/internal/workload/tokenizer"
)

// Options are the settings of a server. The zero value serves with no latency and counts tokens
// with the built-in vocabulary.
type Options struct {
	Host string
	Port int // 0 = any free one
	// UnixSocket is the path of a socket to listen on instead of the port; "" = none.
	UnixSocket string
	// PEM files of the server's certificate and key, of the authority of clients that must have one too, and the
	// file for a certificate that the server makes itself; "" = none. TLS is spoken with a certificate only.
	TLSCert, TLSKey, TLSClientCA, TLSMake string
	// Workers limits the processors that Run lets the process use; 0 = all.
	Workers int

	Fast                                bool
	TTFT, ITL                           time.Duration
	TTFTPerInputToken, ITLPerInputToken time.Duration
	TTFTJitterCV, ITLJitterCV           float64
	MaxBatch                            int // requests served at a time; 0 = any number
	MaxQueue                            int // requests waiting for that; -1 = any number
	Scheduler                           SchedulerOptions
	OutputTokens                        int // length where the request gives none; 0 = by the prompt
	Seed                                uint64
	// SpecTokens is how many tokens each step drafts, 0 = none; SpecAcceptance the share of them that is accepted where
	// those before it were; SpecStats where replies tell of it.
	SpecTokens     int
	SpecAcceptance float64
	SpecStats      string
	// How long the work of APIs takes that have no tokens to wait for: base, and for each input.
	EmbeddingBase, EmbeddingPerInput time.Duration
	RankingBase, RankingPerPassage   time.Duration
	ImageInferBase, ImageInferPer    time.Duration
	ImageLatency, VideoLatency       time.Duration

	Tokenizer   tokenizer.Tokenizer // nil = the built-in one
	NoTokenizer bool                // cut text every four characters instead

	Models                            []string // listed by /v1/models; requests may name any
	ModelsReadyDelay, InferReadyDelay time.Duration
	DisableModels                     bool
	APIKey                            string
	AuthHeader                        string  // "" = Authorization
	ErrorRate                         float64 // per cent
	Fault                             string  // a fault specification
	RecordRequests                    string  // path
	RecordBodies, RecordEvents        bool
	// Backend is the server whose metrics /metrics shows; "" = vllm.
	Backend string
	// MetricsPorts are ports for the pages that the backend has on ports of their own, in turn;
	// a single 0 stands for one free port each.
	MetricsPorts  []int
	MetricsFault  string
	MetricsSeries int  // further series on each page
	OpenMetrics   bool // whatever the client accepts
	GPU           GPUOptions
	AccessLogs    bool
	LogLevel      slog.Level
	// Log takes the log lines; nil = nowhere.
	Log io.Writer
	// ShutdownGrace bounds how long running requests may go on after the stop; 0 = 5 s.
	ShutdownGrace time.Duration
}

// Check says which options do not go together.
func (o *Options) Check() error {
	if o.RecordRequests == "" && (o.RecordBodies || o.RecordEvents) {
		return errors.New("--record-bodies and --record-events need --record-requests PATH")
	}
	return o.checkTLS()
}

// SetModels sets the models from a comma list.
func (o *Options) SetModels(v string) error {
	o.Models = splitList(v)
	return nil
}

// SetAuthHeader sets the name of the header that carries the key.
func (o *Options) SetAuthHeader(v string) error {
	if !isToken([]byte(v)) {
		return fmt.Errorf("%q is not the name of a header", v)
	}
	o.AuthHeader = v
	return nil
}

// SetFault sets the fault specification.
func (o *Options) SetFault(v string) error {
	_, err := parseFault(v)
	o.Fault = v
	return err
}

func splitList(v string) []string {
	var list []string
	for item := range strings.SplitSeq(v, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
