package mock

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/cli/command"
	"aiperf/internal/config/flags"
	"aiperf/internal/mockserver"
)

const mockServerHelp = `Usage: aiperf mock-server [options]

Serves exact, known answers like an OpenAI-compatible inference server, until it is interrupted.

Options (each also as MOCK_SERVER_<NAME> in the environment):
`

// Options are the flags of aiperf mock-server.
type Options struct {
	mockserver.Options
	// tokenizer is the name of the tokenizer, revision its version on the hub.
	tokenizer, revision string
}

// Table returns the flags of the server with their defaults.
func (o *Options) Table() *flags.Table {
	return &flags.Table{Command: "mock-server", About: mockServerHelp, Footer: mockserver.FaultsHelp,
		Column: 42, Aligned: true, Clustered: true, Flags: negated(o.flags())}
}

// negated gives each switch a name that turns it off, unless that is an option of its own.
func negated(list []flags.Flag) []flags.Flag {
	for i := range list {
		off := "no-" + list[i].Name
		if list[i].Value == "" && !strings.HasPrefix(list[i].Name, "no-") &&
			!slices.ContainsFunc(list, func(f flags.Flag) bool { return f.Name == off }) {
			list[i].Negation = off
		}
	}
	return list
}

func (o *Options) flags() []flags.Flag {
	return []flags.Flag{
		set("port -p", "N", "8000", "port to listen on (0-65535); 0 takes a free one and prints it",
			command.Integer(&o.Port, 0, 65535)),
		set("host", "ADDR", "127.0.0.1", "address to listen on", flags.Text(&o.Host)),
		set("unix-socket", "PATH", "", "listen on this Unix socket instead", flags.Text(&o.UnixSocket)),
		set("tls-cert", "PATH", "", "PEM file of the server's TLS certificate", flags.Text(&o.TLSCert)),
		set("tls-key", "PATH", "", "PEM file of its key", flags.Text(&o.TLSKey)),
		set("tls-make", "PATH", "", "use TLS with a certificate made for localhost, and write it to this file for "+
			"--tls-ca-file of clients",
			flags.Text(&o.TLSMake)),
		set("tls-client-ca", "PATH", "", "PEM file of the authorities of client certificates, which are then demanded",
			flags.Text(&o.TLSClientCA)),
		set("workers -w", "N", "", "processors to use at most (1-32; default all)", command.Integer(&o.Workers, 1, 32)),
		set("fast -f", "", "false", "no latencies: answer at once, flood streams", flags.Bool(&o.Fast)),
		set("ttft -t", "MS", "20", "time to the first token", millis(&o.TTFT)),
		set("itl", "MS", "5", "time between two tokens", millis(&o.ITL)),
		set("ttft-per-input-token ttft-per-isl-token-ms", "MS", "0",
			"added to the time to the first token for each prompt token",
			millis(&o.TTFTPerInputToken)),
		set("itl-per-input-token", "MS", "0", "added to the time between two tokens for each prompt token",
			millis(&o.ITLPerInputToken)),
		set("itl-per-osl-token-ms", "MS", "0", "added to the time between two tokens for each token of the reply",
			millis(&o.ITLPerOutputToken)),
		set("ttft-concurrency-quad-ms", "MS", "0", "added to the time to the first token for the square of the requests "+
			"in flight", millis(&o.TTFTPerSquare)),
		set("itl-concurrency-lin-ms", "MS", "0", "added to the time between two tokens for each request in flight",
			millis(&o.ITLPerRequest)),
		set("embedding-base-latency", "MS", "10", "time to answer an embeddings request", millis(&o.EmbeddingBase)),
		set("embedding-per-input-latency", "MS", "2", "added to that for each text", millis(&o.EmbeddingPerInput)),
		set("ranking-base-latency", "MS", "10", "time to answer a rankings request", millis(&o.RankingBase)),
		set("ranking-per-passage-latency", "MS", "1", "added to that for each passage", millis(&o.RankingPerPassage)),
		set("image-retrieval-base-latency", "MS", "10", "time to answer an image retrieval request",
			millis(&o.ImageInferBase)),
		set("image-retrieval-per-image-latency", "MS", "5", "added to that for each image", millis(&o.ImageInferPer)),
		set("image-latency", "MS", "50", "time to make or edit an image", millis(&o.ImageLatency)),
		set("video-latency", "MS", "200", "time until a requested video is ready", millis(&o.VideoLatency)),
		set("ttft-jitter-cv", "CV", "0", "spread of the time to the first token (0-10): lognormal, mean 1",
			command.Number(&o.TTFTJitterCV, 0, 10)),
		set("itl-jitter-cv", "CV", "0", "spread of the time between two tokens (0-10): lognormal, mean 1",
			command.Number(&o.ITLJitterCV, 0, 10)),
		set("max-batch", "N", "0", "requests served at the same time; the others queue (0 = no limit)",
			command.Integer(&o.MaxBatch, 0, 1<<20)),
		set("max-queue", "N", "-1", "requests in the queue; more are answered with 429 (-1 = no limit)",
			command.Integer(&o.MaxQueue, -1, 1<<20)),
		set("scheduler-enabled", "", "false", "work in steps that all requests share, instead of --ttft and --itl: "+
			"the server can be saturated",
			flags.Bool(&o.Scheduler.Enabled)),
		set("scheduler-step-ms", "MS", "5", "time of a step", o.SetStep),
		set("scheduler-max-batch-size", "N", "256", "replies that advance by a token in a step; the others wait",
			command.Integer(&o.Scheduler.MaxBatch, 1, 1<<20)),
		set("scheduler-prefill-chunk-tokens", "N", "512", "prompt tokens that are one piece of work",
			command.Integer(&o.Scheduler.PrefillChunk, 1, 1<<20)),
		set("scheduler-max-prefill-chunks-per-step", "N", "8", "such pieces in a step",
			command.Integer(&o.Scheduler.PrefillChunks, 1, 1<<20)),
		set("scheduler-prefill-us-per-token", "US", "0", "added to a step for each prompt token that it works on",
			micros(&o.Scheduler.PrefillTime)),
		set("scheduler-decode-us-per-reply", "US", "0", "added to a step for each reply that it advances",
			micros(&o.Scheduler.DecodeTime)),
		set("scheduler-draft-ms", "MS", "0", "added to a step that advances replies: drafting for speculative decoding",
			millis(&o.Scheduler.DraftTime)),
		set("kv-cache-blocks", "N", "0", "blocks of 16 tokens in the KV cache; with the scheduler replies wait for them and "+
			"lose them again (0 = 8192 on the pages, never full)",
			command.Integer(&o.KVBlocks, 0, 1<<24)),
		set("prefix-caching", "", "false", "the beginnings of prompts that were seen before cost no work",
			flags.Bool(&o.PrefixCaching)),
		set("cold-start-ms", "MS", "0", "nothing is worked on for so long after the first request, as while an engine "+
			"compiles",
			millis(&o.ColdStart)),
		set("frontend-ms", "MS", "0", "time that the frontend takes for each request, one after the other, before the "+
			"engine has it",
			millis(&o.Frontend)),
		set("scheduler-goodput-collapse scheduler-goodput-collapse-enabled", "", "false",
			"let a long queue make the batch smaller",
			flags.Bool(&o.Scheduler.Collapse)),
		set("scheduler-collapse-threshold scheduler-goodput-collapse-threshold", "X", "1.5",
			"waiting replies, in batches, from which on it shrinks",
			command.Number(&o.Scheduler.Threshold, 0, 1e6)),
		set("scheduler-collapse-slope scheduler-goodput-collapse-slope", "X", "0.5",
			"share of the batch that each further waiting batch takes away",
			command.Number(&o.Scheduler.Slope, 0, 1e6)),
		set("scheduler-collapse-floor scheduler-goodput-collapse-floor", "X", "0.3",
			"share of the batch that always remains (0-1)",
			command.Number(&o.Scheduler.Floor, 0, 1)),
		set("output-tokens", "N", "0", "length of a reply where the request gives no limit (0 = about the prompt's "+
			"length)",
			command.Integer(&o.OutputTokens, 0, 1<<20)),
		set("replies", "FILE", "", "replies to prompts, as JSON Lines with prompt (or contains), reply, reasoning and above; other "+
			"prompts get generated text",
			o.SetReplies),
		set("random-seed", "N", "0", "seed of the replies' text and length, of jitter, errors and faults",
			unsigned(&o.Seed)),
		set("spec-tokens", "N", "0", "speculative decoding: tokens that each step drafts (0-8; 0 = none); latencies "+
			"change with the scheduler only",
			command.Integer(&o.SpecTokens, 0, 8)),
		set("spec-acceptance", "SHARE", "0.7", "share of the drafted tokens that are accepted if those before them "+
			"were (0-1)",
			command.Number(&o.SpecAcceptance, 0, 1)),
		among(mockserver.SpecPlaces(), "spec-stats", "PLACE", "choice", "where replies report it: choice "+
			"(speculative_decoding_stats), root (metrics.speculative_decoding) or none",
			flags.OneOf(&o.SpecStats, mockserver.SpecPlaces()...)),
		set("tokenizer", "NAME", "builtin", "tokenizer that counts tokens: builtin (o200k_base), a folder, a file, or "+
			"the id of a repository on the hub",
			flags.Text(&o.tokenizer)),
		set("tokenizer-revision", "NAME", "main", "its branch, tag or commit", flags.Text(&o.revision)),
		set("tokenizer-trust-remote-code", "", "false", "no effect: code of a repository is never run",
			command.Truth(func(bool) {})),
		set("no-tokenizer", "", "false", "count one token per four characters", flags.Bool(&o.NoTokenizer)),
		set("model default-model", "NAMES", "mock-model", "models that /v1/models lists, separated by commas; requests may name any",
			o.SetModels),
		set("models-ready-delay-seconds", "S", "0", "/v1/models answers 503 for that long after the start",
			seconds(&o.ModelsReadyDelay)),
		set("inference-ready-delay-seconds", "S", "0", "inference answers 503 for that long after the start",
			seconds(&o.InferReadyDelay)),
		set("disable-models-endpoint", "", "false", "/v1/models answers 404", flags.Bool(&o.DisableModels)),
		set("api-key", "KEY", "", "key that requests must carry", flags.Text(&o.APIKey)),
		set("auth-header-name", "NAME", "Authorization", "header that carries the key (as Bearer in Authorization)",
			o.SetAuthHeader),
		set("error-rate", "PCT", "0", "share of requests that are answered with 500 (0-100)",
			command.Number(&o.ErrorRate, 0, 100)),
		set("fault", "SPEC", "", "distort replies; the header X-Mock-Fault does so for one request", o.SetFault),
		set("record-requests", "PATH", "", "write one JSON line per request, and PATH.summary.json at the end",
			flags.Text(&o.RecordRequests)),
		set("record-bodies", "", "false", "add headers (secrets redacted) and body to the record",
			flags.Bool(&o.RecordBodies)),
		set("record-events", "", "false", "add the instant of each stream event to the record",
			flags.Bool(&o.RecordEvents)),
		set("sessions", "", "false", "replies set the cookie mock-session and the header X-Session-Token; the record "+
			"says which of them a request brought back", flags.Bool(&o.Sessions)),
		among(mockserver.Backends(), "backend", "NAME", "vllm", "whose metrics /metrics shows: vllm, sglang, "+
			"trtllm, dynamo or triton",
			o.SetBackend),
		set("metrics-ports", "PORTS", "", "ports for the pages that the backend has elsewhere (dynamo: prefill, "+
			"decode; triton); 0 takes free ones and prints them",
			o.SetMetricsPorts),
		set("metrics-fault", "SPEC", "", "distort the metrics pages", o.SetMetricsFault),
		set("prefix-cache-share", "SHARE", "0", "share of the prompt tokens that the metrics pages show as served by the "+
			"prefix cache (0-1); latencies do not change",
			command.Number(&o.CachedShare, 0, 1)),
		set("metrics-series", "N", "0", "further series on each metrics page, one in five of which moves",
			command.Integer(&o.MetricsSeries, 0, 1<<20)),
		set("openmetrics", "", "false", "metrics pages in the OpenMetrics format, also for clients that do not ask "+
			"for it",
			flags.Bool(&o.OpenMetrics)),
		among(mockserver.GPUs(), "dcgm-gpu-name", "NAME", "h200", "GPUs of the DCGM pages: rtx6000, a100, h100, "+
			"h100-sxm, h200, b200 or gb200",
			o.SetGPUModel),
		set("dcgm-num-gpus", "N", "2", "GPUs of each page (1-8)", command.Integer(&o.GPU.Count, 1, 8)),
		set("dcgm-auto-load", "", "true", "GPUs follow the tokens per second", command.Truth(o.SetAutoLoad)),
		set("no-dcgm-auto-load", "", "false", "GPUs are idle, or follow --dcgm-load", command.Truth(func(idle bool) {
			if idle {
				o.SetAutoLoad(false)
			}
		})),
		set("dcgm-load", "CURVE", "", "load of all GPUs instead: from 0 to 1, or SECONDS:LOAD,SECONDS:LOAD… since "+
			"the start",
			o.SetGPULoad),
		set("dcgm-min-throughput", "N", "100", "minimum tokens per second that count as full load",
			command.Number(&o.GPU.MinThroughput, 0, 1e12)),
		set("dcgm-window-sec", "S", "1", "time over which the tokens per second are taken", seconds(&o.GPU.Window)),
		set("dcgm-memory-used", "SHARE", "0", "share of the memory in use (0-1; 0 = by the load)",
			command.Number(&o.GPU.MemoryUsed, 0, 1)),
		set("dcgm-throttle", "REASON=SHARE[@S]", "", "slow the GPUs, and the server, down to that share of their "+
			"speed, S seconds after the start; REASON is power, heat or clocks",
			o.SetThrottle),
		set("dcgm-hostname", "NAME", "localhost", "host that the GPU pages name", flags.Text(&o.GPU.Hostname)),
		set("dcgm-seed", "N", "0", "seed of the GPUs' identities and differences", unsigned(&o.GPU.Seed)),
		set("dcgm-fault", "SPEC", "", "spoil the GPU pages", o.SetGPUFault),
		set("access-logs", "", "false", "log one line per request", flags.Bool(&o.AccessLogs)),
		among(logLevelNames(), "log-level", "LEVEL", "INFO", "TRACE, DEBUG, INFO, WARNING, ERROR or CRITICAL",
			o.setLogLevel),
		set("verbose -v", "", "false", "the same as --log-level DEBUG", command.Truth(func(on bool) {
			if on {
				o.LogLevel = slog.LevelDebug
			}
		})),
	}
}

// set is a flag with a default.
func set(names, value, def, help string, set func(string) error) flags.Flag {
	f := flags.Value(names, value, help, set)
	f.Default = def
	return f
}

// among is a flag with a default whose values are known.
func among(values []string, names, value, def, help string, to func(string) error) flags.Flag {
	f := set(names, value, def, help, to)
	f.Values = values
	return f
}

func millis(to *time.Duration) func(string) error {
	return func(v string) error { return scalar.SetTime(to, v, time.Millisecond, mockserver.MaxWait) }
}

func micros(to *time.Duration) func(string) error {
	return func(v string) error { return scalar.SetTime(to, v, time.Microsecond, time.Minute) }
}

func seconds(to *time.Duration) func(string) error {
	return func(v string) error { return scalar.SetTime(to, v, time.Second, mockserver.MaxWait) }
}

func unsigned(to *uint64) func(string) error {
	return func(v string) error {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a whole number of at least 0", v)
		}
		*to = n
		return nil
	}
}

var logLevels = []struct {
	name  string
	level slog.Level
}{
	{"TRACE", slog.LevelDebug - 4}, {"DEBUG", slog.LevelDebug}, {"INFO", slog.LevelInfo},
	{"WARNING", slog.LevelWarn}, {"ERROR", slog.LevelError}, {"CRITICAL", slog.LevelError + 4},
}

func logLevelNames() (names []string) {
	for _, l := range logLevels {
		names = append(names, l.name)
	}
	return names
}

func (o *Options) setLogLevel(v string) error {
	for _, l := range logLevels {
		if strings.EqualFold(l.name, v) {
			o.LogLevel = l.level
			return nil
		}
	}
	return fmt.Errorf("%q is not a log level: %s", v, strings.Join(logLevelNames(), ", "))
}

// Parse reads arguments over the environment over the defaults.
func (o *Options) Parse(args []string, env func(string) (string, bool)) error {
	t := o.Table()
	for _, f := range t.Flags {
		if f.Default != "" {
			if err := f.Set(f.Default); err != nil {
				return fmt.Errorf("default of --%s: %w", f.Name, err)
			}
		}
	}
	for _, f := range t.Flags {
		for _, flag := range append(slices.Clone(f.Aliases), f.Name) {
			name := "MOCK_SERVER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
			if v, ok := env(name); ok && v != "" {
				if err := f.Set(v); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	words, err := t.Parse(args)
	switch {
	case err != nil:
		return err
	case len(words) > 0:
		return fmt.Errorf("unexpected argument %q: mock-server takes only options", words[0])
	}
	return o.Check()
}

// runMockServer serves until it is interrupted.
func runMockServer(e *command.Env, args []string) error {
	var options Options
	if flags.WantsHelp(args) {
		e.Terminal.Fitted(options.Table().Help())
		return nil
	}
	if err := options.Parse(args, e.LookupEnv); err != nil {
		return err
	}
	options.Log = e.Terminal.Err
	if options.tokenizer != "builtin" && !options.NoTokenizer {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		tok, err := e.FindTokenizer(ctx, options.tokenizer, options.revision)
		stop()
		if err != nil {
			return fmt.Errorf("--tokenizer %s: %w", options.tokenizer, err)
		}
		options.Tokenizer = tok
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if _, ok := e.LookupEnv(mockserver.StopWithStdin); ok {
		// A parent's signals may reach its whole process group; the parent decides when the server ends.
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(context.Background())
		go func() {
			io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	return mockserver.Run(ctx, options.Options, e.Terminal.Out)
}
