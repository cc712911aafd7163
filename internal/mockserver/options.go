package mockserver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/mockserver/api"
	"aiperf/internal/mockserver/httpd"
	"aiperf/internal/mockserver/page"
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
	// ITLPerOutputToken is for each token of the reply; TTFTPerSquare for the square of the requests in flight,
	// ITLPerRequest for each of them.
	ITLPerOutputToken, TTFTPerSquare, ITLPerRequest time.Duration
	TTFTJitterCV, ITLJitterCV                       float64
	MaxBatch                                        int // requests served at a time; 0 = any number
	MaxQueue                                        int // requests waiting for that; -1 = any number
	Scheduler                                       SchedulerOptions
	// PrefixCaching: the beginnings of prompts that were seen before cost no work.
	PrefixCaching bool
	// KVBlocks is the size of the KV cache in blocks of 16 tokens; 0 = that of the pages, never full.
	KVBlocks int
	// ColdStart is how long after the first request the work begins; Frontend the time that a frontend takes for each
	// request, one after the other, before the engine has it.
	ColdStart, Frontend time.Duration
	scripted            []api.Scripted // of SetReplies
	OutputTokens        int            // length where the request gives none; 0 = by the prompt
	Seed                uint64
	// SpecTokens is how many tokens each step drafts, 0 = none; SpecAcceptance the share of them that is accepted where
	// those before it were; SpecStats where replies report it.
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
	// Sessions: replies set a cookie and a header with a token, as routers with sticky sessions do; the record says
	// which of them a request brought back.
	Sessions bool
	// Backend is the server whose metrics /metrics shows; "" = vllm.
	Backend string
	// MetricsPorts are ports for the pages that the backend has on ports of their own, in turn;
	// a single 0 stands for one free port each.
	MetricsPorts  []int
	MetricsFault  string
	MetricsSeries int // further series on each page
	// CachedShare is the part of the prompt tokens that the pages show as served by the prefix cache; latencies do not
	// change.
	CachedShare float64
	OpenMetrics bool // whatever the client accepts
	GPU         GPUOptions
	AccessLogs  bool
	LogLevel    slog.Level
	// Log takes the log lines; nil = nowhere.
	Log io.Writer
	// ShutdownGrace bounds how long running requests may go on after the stop; 0 = 5 s.
	ShutdownGrace time.Duration
}

// What the rooms below take.
type (
	// GPUOptions configures the pages of GPU exporters.
	GPUOptions = page.GPUOptions
	// LoadCurve is the load of GPUs over time.
	LoadCurve = page.LoadCurve
)

const (
	// MaxWait bounds every configured time.
	MaxWait = httpd.MaxFaultWait
	// FaultsHelp lists the faults in a help text.
	FaultsHelp = httpd.FaultHelp
)

// SpecPlaces returns the values of Options.SpecStats.
func SpecPlaces() []string { return api.SpecPlaces() }

// Backends returns the names that SetBackend takes.
func Backends() []string { return page.Backends() }

// GPUs returns the names that SetGPUModel takes.
func GPUs() []string { return page.GPUs() }

// Check returns an error if options exclude each other or one lacks another.
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
	if !httpd.IsToken([]byte(v)) {
		return fmt.Errorf("%q is not the name of a header", v)
	}
	o.AuthHeader = v
	return nil
}

// SetFault sets the fault specification.
func (o *Options) SetFault(v string) error {
	_, err := httpd.ParseReplyFault(v)
	o.Fault = v
	return err
}

// SetMetricsFault sets the fault specification of the metrics pages.
func (o *Options) SetMetricsFault(v string) error {
	_, err := httpd.ParsePageFault(v)
	o.MetricsFault = v
	return err
}

// SetBackend sets the server whose metrics are shown.
func (o *Options) SetBackend(v string) error {
	o.Backend = v
	return page.CheckBackend(v)
}

// SetMetricsPorts sets the ports of further pages from a comma list.
func (o *Options) SetMetricsPorts(v string) error {
	o.MetricsPorts = nil
	for _, item := range splitList(v) {
		port := 0
		if err := scalar.SetInt(&port, item, 0, 65535); err != nil {
			return err
		}
		o.MetricsPorts = append(o.MetricsPorts, port)
	}
	return nil
}

// SetReplies reads a file of replies.
func (o *Options) SetReplies(path string) (err error) {
	o.scripted = nil
	if path != "" {
		o.scripted, err = api.ReadScripted(path)
	}
	return err
}

// SetGPUModel sets the GPU by its short name.
func (o *Options) SetGPUModel(v string) error {
	o.GPU.Model = v
	return page.CheckGPU(v)
}

// SetAutoLoad sets whether the GPUs follow the throughput. If not, they are idle unless SetGPULoad gives them a load.
func (o *Options) SetAutoLoad(on bool) {
	if on {
		o.GPU.Load = nil
	} else {
		o.GPU.Load = cmp.Or(o.GPU.Load, &LoadCurve{page.LoadPoint{}})
	}
}

// SetGPULoad sets the load of all GPUs over time.
func (o *Options) SetGPULoad(v string) error {
	curve, err := page.ParseLoadCurve(v)
	if err == nil {
		o.GPU.Load = &curve
	}
	return err
}

// SetGPUFault sets the fault specification of the GPU pages.
func (o *Options) SetGPUFault(v string) error {
	_, err := httpd.ParseGPUPageFault(v)
	o.GPU.Fault = v
	return err
}

// SetThrottle sets what slows the GPUs, and the server with them, down; "" = nothing.
func (o *Options) SetThrottle(v string) (err error) {
	o.GPU.Throttle = page.Throttle{}
	if v != "" {
		o.GPU.Throttle, err = page.ParseThrottle(v)
	}
	return err
}

// SetStep sets the time of a step of the scheduler, in milliseconds.
func (o *Options) SetStep(v string) error {
	step := time.Duration(0)
	err := scalar.SetTime(&step, v, time.Millisecond, time.Minute)
	if err != nil || step < time.Millisecond/10 {
		return fmt.Errorf("%q is not a number from 0.1 to 60000", v)
	}
	o.Scheduler.Step = step
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

// generator returns what the replies are made from.
func (o *Options) generator() api.Options {
	g := api.Options{
		Tokenizer: o.Tokenizer, NoTokenizer: o.NoTokenizer, Seed: o.Seed, OutputTokens: o.OutputTokens,
		Scripted:     o.scripted,
		Speculation:  api.SpeculationOptions{Tokens: o.SpecTokens, Acceptance: o.SpecAcceptance, Place: o.SpecStats},
		VideoLatency: o.VideoLatency,
	}
	if o.Fast {
		g.VideoLatency = 0
	}
	return g
}

// exporter returns what the metrics pages show.
func (o *Options) exporter() page.Options {
	p := page.Options{
		Backend: o.Backend, SpecTokens: o.SpecTokens, CachedShare: o.CachedShare, Series: o.MetricsSeries, OpenMetrics: o.OpenMetrics,
		KVBlocks: o.KVBlocks, PrefixCaching: o.PrefixCaching, Ports: len(o.MetricsPorts) > 0,
		Fault: o.MetricsFault, GPU: o.GPU,
	}
	if len(o.Models) > 0 {
		p.Model = o.Models[0]
	}
	return p
}
