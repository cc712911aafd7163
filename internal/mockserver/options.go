package mockserver

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"aiperf/internal/base/scalar"
	"aiperf/internal/base/suggest"
	"aiperf/internal/workload/tokenizer"
)

// ErrHelp is returned by ParseOptions when the help was asked for.
var ErrHelp = pflag.ErrHelp

// Options are the settings of a server. The zero value serves with no latency and counts tokens
// with the built-in vocabulary; ParseOptions(nil, nil) gives the defaults of the command.
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

// option is a row of the option table.
type option struct {
	name, short string
	value       string // what the help calls the value; "" = a switch
	def         string // as the help shows it and as it is parsed
	help        string
	set         func(*Options, string) error // nil: known, but not built
}

// optionTable is the one list of the command's options; the flag parser, the environment
// (MOCK_SERVER_<NAME>) and the help walk it.
var optionTable = []option{
	{"port", "p", "N", "8000", "port to listen on (0-65535); 0 takes a free one and prints it",
		func(o *Options, v string) error { return setInt(&o.Port, v, 0, 65535) }},
	{"host", "", "ADDR", "127.0.0.1", "address to listen on",
		func(o *Options, v string) error { o.Host = v; return nil }},
	{"unix-socket", "", "PATH", "", "listen on this Unix socket instead",
		func(o *Options, v string) error { o.UnixSocket = v; return nil }},
	{"tls-cert", "", "PATH", "", "PEM file of the certificate to speak TLS with",
		func(o *Options, v string) error { o.TLSCert = v; return nil }},
	{"tls-key", "", "PATH", "", "PEM file of its key",
		func(o *Options, v string) error { o.TLSKey = v; return nil }},
	{"tls-make", "", "PATH", "", "speak TLS with a certificate made for localhost, and write it to this file for --tls-ca-file of clients",
		func(o *Options, v string) error { o.TLSMake = v; return nil }},
	{"tls-client-ca", "", "PATH", "", "PEM file of the authorities of client certificates, which are then demanded",
		func(o *Options, v string) error { o.TLSClientCA = v; return nil }},
	{"workers", "w", "N", "", "processors to use at most (1-32; default all)",
		func(o *Options, v string) error { return setInt(&o.Workers, v, 1, 32) }},
	{"fast", "f", "", "false", "no latencies: answer at once, flood streams",
		func(o *Options, v string) error { return setBool(&o.Fast, v) }},
	{"ttft", "t", "MS", "20", "time to the first token",
		func(o *Options, v string) error { return setMillis(&o.TTFT, v) }},
	{"itl", "", "MS", "5", "time between two tokens",
		func(o *Options, v string) error { return setMillis(&o.ITL, v) }},
	{"ttft-per-input-token", "", "MS", "0", "added to the time to the first token for each prompt token",
		func(o *Options, v string) error { return setMillis(&o.TTFTPerInputToken, v) }},
	{"itl-per-input-token", "", "MS", "0", "added to the time between two tokens for each prompt token",
		func(o *Options, v string) error { return setMillis(&o.ITLPerInputToken, v) }},
	{"embedding-base-latency", "", "MS", "10", "time to answer an embeddings request",
		func(o *Options, v string) error { return setMillis(&o.EmbeddingBase, v) }},
	{"embedding-per-input-latency", "", "MS", "2", "added to that for each text",
		func(o *Options, v string) error { return setMillis(&o.EmbeddingPerInput, v) }},
	{"ranking-base-latency", "", "MS", "10", "time to answer a rankings request",
		func(o *Options, v string) error { return setMillis(&o.RankingBase, v) }},
	{"ranking-per-passage-latency", "", "MS", "1", "added to that for each passage",
		func(o *Options, v string) error { return setMillis(&o.RankingPerPassage, v) }},
	{"image-retrieval-base-latency", "", "MS", "10", "time to answer an image retrieval request",
		func(o *Options, v string) error { return setMillis(&o.ImageInferBase, v) }},
	{"image-retrieval-per-image-latency", "", "MS", "5", "added to that for each image",
		func(o *Options, v string) error { return setMillis(&o.ImageInferPer, v) }},
	{"image-latency", "", "MS", "50", "time to make or edit an image",
		func(o *Options, v string) error { return setMillis(&o.ImageLatency, v) }},
	{"video-latency", "", "MS", "200", "time until a video that was asked for is ready",
		func(o *Options, v string) error { return setMillis(&o.VideoLatency, v) }},
	{"ttft-jitter-cv", "", "CV", "0", "spread of the time to the first token (0-10): lognormal, mean 1",
		func(o *Options, v string) error { return setFloat(&o.TTFTJitterCV, v, 0, 10) }},
	{"itl-jitter-cv", "", "CV", "0", "spread of the time between two tokens (0-10): lognormal, mean 1",
		func(o *Options, v string) error { return setFloat(&o.ITLJitterCV, v, 0, 10) }},
	{"max-batch", "", "N", "0", "requests served at the same time; the others queue (0 = no limit)",
		func(o *Options, v string) error { return setInt(&o.MaxBatch, v, 0, 1<<20) }},
	{"max-queue", "", "N", "-1", "requests in the queue; more are answered with 429 (-1 = no limit)",
		func(o *Options, v string) error { return setInt(&o.MaxQueue, v, -1, 1<<20) }},
	{"scheduler-enabled", "", "", "false", "work in steps that all requests share, instead of --ttft and --itl: the server can be saturated",
		func(o *Options, v string) error { return setBool(&o.Scheduler.Enabled, v) }},
	{"scheduler-step-ms", "", "MS", "5", "time of a step", setStep},
	{"scheduler-max-batch-size", "", "N", "256", "replies that advance by a token in a step; the others wait",
		func(o *Options, v string) error { return setInt(&o.Scheduler.MaxBatch, v, 1, 1<<20) }},
	{"scheduler-prefill-chunk-tokens", "", "N", "512", "prompt tokens that are one piece of work",
		func(o *Options, v string) error { return setInt(&o.Scheduler.PrefillChunk, v, 1, 1<<20) }},
	{"scheduler-max-prefill-chunks-per-step", "", "N", "8", "such pieces in a step",
		func(o *Options, v string) error { return setInt(&o.Scheduler.PrefillChunks, v, 1, 1<<20) }},
	{"scheduler-goodput-collapse", "", "", "false", "let a long queue make the batch smaller",
		func(o *Options, v string) error { return setBool(&o.Scheduler.Collapse, v) }},
	{"scheduler-collapse-threshold", "", "X", "1.5", "waiting replies, in batches, from which on it shrinks",
		func(o *Options, v string) error { return setFloat(&o.Scheduler.Threshold, v, 0, 1e6) }},
	{"scheduler-collapse-slope", "", "X", "0.5", "share of the batch that each further waiting batch takes away",
		func(o *Options, v string) error { return setFloat(&o.Scheduler.Slope, v, 0, 1e6) }},
	{"scheduler-collapse-floor", "", "X", "0.3", "share of the batch that always remains (0-1)",
		func(o *Options, v string) error { return setFloat(&o.Scheduler.Floor, v, 0, 1) }},
	{"output-tokens", "", "N", "0", "length of a reply where the request gives no limit (0 = about the prompt's length)",
		func(o *Options, v string) error { return setInt(&o.OutputTokens, v, 0, 1<<20) }},
	{"random-seed", "", "N", "0", "seed of the replies' text and length, of jitter, errors and faults",
		func(o *Options, v string) error { return setUint(&o.Seed, v) }},
	{"spec-tokens", "", "N", "0", "speculative decoding: tokens that each step drafts (0-8; 0 = none); latencies do not change",
		func(o *Options, v string) error { return setInt(&o.SpecTokens, v, 0, maxSpecTokens) }},
	{"spec-acceptance", "", "SHARE", "0.7", "share of the drafted tokens that are accepted if those before them were (0-1)",
		func(o *Options, v string) error { return setFloat(&o.SpecAcceptance, v, 0, 1) }},
	{"spec-stats", "", "PLACE", "choice", "where replies tell of it: choice (speculative_decoding_stats), root (metrics.speculative_decoding) or none", setSpecStats},
	{"tokenizer", "", "NAME", "builtin", "vocabulary that counts tokens (only builtin: o200k_base)", setTokenizer},
	{"no-tokenizer", "", "", "false", "count by cutting text every four characters",
		func(o *Options, v string) error { return setBool(&o.NoTokenizer, v) }},
	{"model", "", "NAMES", "mock-model", "models that /v1/models lists, separated by commas; requests may name any",
		func(o *Options, v string) error { o.Models = splitList(v); return nil }},
	{"models-ready-delay-seconds", "", "S", "0", "/v1/models answers 503 for that long after the start",
		func(o *Options, v string) error { return setSeconds(&o.ModelsReadyDelay, v) }},
	{"inference-ready-delay-seconds", "", "S", "0", "inference answers 503 for that long after the start",
		func(o *Options, v string) error { return setSeconds(&o.InferReadyDelay, v) }},
	{"disable-models-endpoint", "", "", "false", "/v1/models answers 404",
		func(o *Options, v string) error { return setBool(&o.DisableModels, v) }},
	{"api-key", "", "KEY", "", "key that requests must carry",
		func(o *Options, v string) error { o.APIKey = v; return nil }},
	{"auth-header-name", "", "NAME", "Authorization", "header that carries the key (as Bearer in Authorization)", setAuthHeader},
	{"error-rate", "", "PCT", "0", "share of requests that are answered with 500 (0-100)",
		func(o *Options, v string) error { return setFloat(&o.ErrorRate, v, 0, 100) }},
	{"fault", "", "SPEC", "", "spoil replies; the header X-Mock-Fault does so for one request", setFault},
	{"record-requests", "", "PATH", "", "write one JSON line per request, and PATH.summary.json at the end",
		func(o *Options, v string) error { o.RecordRequests = v; return nil }},
	{"record-bodies", "", "", "false", "add headers (secrets redacted) and body to the record",
		func(o *Options, v string) error { return setBool(&o.RecordBodies, v) }},
	{"record-events", "", "", "false", "add the instant of each stream event to the record",
		func(o *Options, v string) error { return setBool(&o.RecordEvents, v) }},
	{"backend", "", "NAME", "vllm", "whose metrics /metrics shows: vllm, sglang, trtllm, dynamo or triton", setBackend},
	{"metrics-ports", "", "PORTS", "", "ports for the pages that the backend has elsewhere (dynamo: prefill, decode; triton); 0 takes free ones and prints them",
		setMetricsPorts},
	{"metrics-fault", "", "SPEC", "", "spoil the metrics pages", setMetricsFault},
	{"metrics-series", "", "N", "0", "further series on each metrics page, one in five of which moves",
		func(o *Options, v string) error { return setInt(&o.MetricsSeries, v, 0, 1<<20) }},
	{"openmetrics", "", "", "false", "metrics pages in the OpenMetrics format, also for clients that do not ask for it",
		func(o *Options, v string) error { return setBool(&o.OpenMetrics, v) }},
	{"dcgm-gpu-name", "", "NAME", "h200", "GPUs of the DCGM pages: rtx6000, a100, h100, h100-sxm, h200, b200 or gb200", setGPUModel},
	{"dcgm-num-gpus", "", "N", "2", "GPUs of each page (1-8)",
		func(o *Options, v string) error { return setInt(&o.GPU.Count, v, 1, 8) }},
	{"dcgm-auto-load", "", "", "true", "GPUs follow the tokens per second", setAutoLoad(true)},
	{"no-dcgm-auto-load", "", "", "false", "GPUs are idle, or follow --dcgm-load", setAutoLoad(false)},
	{"dcgm-load", "", "CURVE", "", "load of all GPUs instead: from 0 to 1, or SECONDS:LOAD,SECONDS:LOAD… since the start", setGPULoad},
	{"dcgm-min-throughput", "", "N", "100", "least tokens per second that are full load",
		func(o *Options, v string) error { return setFloat(&o.GPU.MinThroughput, v, 0, 1e12) }},
	{"dcgm-window-sec", "", "S", "1", "time over which the tokens per second are taken",
		func(o *Options, v string) error { return setSeconds(&o.GPU.Window, v) }},
	{"dcgm-hostname", "", "NAME", "localhost", "host that the GPU pages name",
		func(o *Options, v string) error { o.GPU.Hostname = v; return nil }},
	{"dcgm-seed", "", "N", "0", "seed of the GPUs' identities and differences",
		func(o *Options, v string) error { return setUint(&o.GPU.Seed, v) }},
	{"dcgm-fault", "", "SPEC", "", "spoil the GPU pages", setGPUFault},
	{"access-logs", "", "", "false", "log one line per request",
		func(o *Options, v string) error { return setBool(&o.AccessLogs, v) }},
	{"log-level", "", "LEVEL", "INFO", "TRACE, DEBUG, INFO, WARNING, ERROR or CRITICAL", setLogLevel},
	{"verbose", "v", "", "false", "the same as --log-level DEBUG", setVerbose},

	{name: "tokenizer-revision", value: "NAME"}, {name: "tokenizer-trust-remote-code"},
}

// env is the option's name in the environment.
func (r *option) env() string {
	return "MOCK_SERVER_" + strings.ToUpper(strings.ReplaceAll(r.name, "-", "_"))
}

// ParseOptions reads the command line of the server over its environment over the defaults. env
// looks a variable up and may be nil. It returns ErrHelp when args ask for help.
func ParseOptions(args []string, env func(string) (string, bool)) (Options, error) {
	var o Options
	for i := range optionTable {
		if r := &optionTable[i]; r.set != nil && r.def != "" {
			if err := r.set(&o, r.def); err != nil {
				return Options{}, fmt.Errorf("default of --%s: %w", r.name, err)
			}
		}
	}
	if env != nil {
		for i := range optionTable {
			r := &optionTable[i]
			if v, ok := env(r.env()); ok && v != "" {
				if err := r.apply(&o, v); err != nil {
					return Options{}, fmt.Errorf("%s: %w", r.env(), err)
				}
			}
		}
	}
	flags := flagSet(&o)
	if err := flags.Parse(args); err != nil {
		return Options{}, explain(err)
	}
	if flags.NArg() > 0 {
		return Options{}, fmt.Errorf("unexpected argument %q: mock-server takes only options", flags.Arg(0))
	}
	if o.RecordRequests == "" && (o.RecordBodies || o.RecordEvents) {
		return Options{}, errors.New("--record-bodies and --record-events need --record-requests PATH")
	}
	if err := o.checkTLS(); err != nil {
		return Options{}, err
	}
	return o, nil
}

func (r *option) apply(o *Options, v string) error {
	if r.set == nil {
		return fmt.Errorf("--%s is not supported by this version of the mock server", r.name)
	}
	return r.set(o, v)
}

// tableValue makes a row of the table a flag value.
type tableValue struct {
	row *option
	o   *Options
}

func (v tableValue) String() string     { return v.row.def }
func (v tableValue) Set(s string) error { return v.row.apply(v.o, s) }
func (v tableValue) Type() string       { return v.row.value }

func flagSet(o *Options) *pflag.FlagSet {
	flags := pflag.NewFlagSet("mock-server", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	for i := range optionTable {
		r := &optionTable[i]
		f := flags.VarPF(tableValue{r, o}, r.name, r.short, r.help)
		if r.value == "" {
			f.NoOptDefVal = "true"
		}
	}
	return flags
}

// explain words the parser's errors; an unknown option gets a suggestion.
func explain(err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if near := nearest(unknown.GetSpecifiedName()); near != "" {
			return fmt.Errorf("%w (did you mean --%s?)", err, near)
		}
		return err
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
	}
	return err
}

// nearest is the built option whose name is at most two edits away, "" if there is none.
func nearest(name string) string {
	var names []string
	for _, r := range optionTable {
		if r.set != nil {
			names = append(names, r.name)
		}
	}
	return suggest.Nearest(name, names)
}

// Help is the text of the options, one paragraph of a line or two each.
func Help() string {
	var b strings.Builder
	b.WriteString("Options (each also as MOCK_SERVER_<NAME> in the environment):\n")
	for i := range optionTable {
		r := &optionTable[i]
		if r.set == nil {
			continue
		}
		left := "      --" + r.name
		if r.short != "" {
			left = "  -" + r.short + ", --" + r.name
		}
		if r.value != "" {
			left += " " + r.value
		}
		def := ""
		if r.value != "" && r.def != "" {
			def = " (default " + r.def + ")"
		}
		fmt.Fprintf(&b, "%-40s  %s%s\n", left, r.help, def)
	}
	b.WriteString("\nFaults (--fault SPEC and X-Mock-Fault: SPEC), separated by semicolons, in any combination:\n" +
		"  status=503 delay_ms=100 cut_after_events=3 cut_mid_event error_200 malformed_json\n" +
		"  slow_headers_ms=500 never content_type=text/html drop_after_bytes=1000 stall reset close_idle_ms=5\n" +
		"  rate=0.1\n" +
		"\nFaults of metrics pages (--metrics-fault SPEC):\n" +
		"  html json binary truncated status=500 content_type=text/html huge huge=500 slow slow=10 delay_ms=100 never\n" +
		"  drop_after_bytes=1000 gzip nan inf duplicate labels=10000 constant reset_after_s=5 relayout_after_s=5\n" +
		"  retype_after_s=5 die_after_s=5 rate=0.1\n" +
		"\nFurther faults of GPU pages (--dcgm-fault SPEC):\n" +
		"  die_after_s=5;back_after_s=9 gpu_gone_after_s=5 gpu_back_after_s=9 no_energy\n")
	return b.String()
}

func setBool(field *bool, v string) (err error) {
	*field, err = scalar.Bool(v)
	return err
}

func setUint(field *uint64, v string) error {
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number of at least 0", v)
	}
	*field = n
	return nil
}

func setTokenizer(_ *Options, v string) error {
	if v != "builtin" {
		return fmt.Errorf("%q is not available: the mock server counts with builtin", v)
	}
	return nil
}

func setAuthHeader(o *Options, v string) error {
	if !isToken([]byte(v)) {
		return fmt.Errorf("%q is not the name of a header", v)
	}
	o.AuthHeader = v
	return nil
}

func setFault(o *Options, v string) error {
	_, err := parseFault(v)
	o.Fault = v
	return err
}

var logLevels = []struct {
	name  string
	level slog.Level
}{
	{"TRACE", slog.LevelDebug - 4}, {"DEBUG", slog.LevelDebug}, {"INFO", slog.LevelInfo},
	{"WARNING", slog.LevelWarn}, {"ERROR", slog.LevelError}, {"CRITICAL", slog.LevelError + 4},
}

func setLogLevel(o *Options, v string) error {
	for _, l := range logLevels {
		if strings.EqualFold(l.name, v) {
			o.LogLevel = l.level
			return nil
		}
	}
	return fmt.Errorf("%q is not a log level: TRACE, DEBUG, INFO, WARNING, ERROR, CRITICAL", v)
}

func setVerbose(o *Options, v string) error {
	verbose := false
	if err := setBool(&verbose, v); err != nil {
		return err
	}
	if verbose {
		o.LogLevel = slog.LevelDebug
	}
	return nil
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
