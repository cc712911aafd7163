package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"aiperf/internal/cluster/kube/crd"
)

// maxReply bounds what is read of a controller's replies, in bytes.
const maxReply = 8 << 20

// controllerTimeout bounds a question to a controller.
const controllerTimeout = 5 * time.Second

// progress is what a controller says of its run.
type progress struct {
	// answered reports that the controller has answered at all.
	answered bool
	phases   map[string]crd.PhaseProgress
	current  string
	state    string
	exported bool
	metrics  crd.Object
}

// profiling reports whether requests are sent, or were.
func (p progress) profiling() bool {
	for _, x := range p.phases {
		if x.RequestsSent > 0 {
			return true
		}
	}
	return p.state == "profiling" || p.state == "processing"
}

// report copies the progress into a status.
func (p progress) report(s *crd.JobStatus) {
	if !p.answered {
		return
	}
	s.SubPhase, s.CurrentPhase = p.state, p.current
	if len(p.phases) > 0 {
		s.Phases = p.phases
	}
	if p.metrics != nil {
		s.LiveMetrics = p.metrics
	}
	if p.exported {
		s.ResultsExported = &p.exported
	}
}

// progress asks a controller.
func (o *Operator) progress(ctx context.Context, controller *podObject) (p progress) {
	if controller == nil || controller.Status.PodIP == "" || controller.Status.Phase != "Running" {
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, controllerTimeout)
	defer cancel()
	var reply struct {
		Phases   map[string]crd.Object `json:"phases"`
		State    string                `json:"system_state"`
		Exported bool                  `json:"results_exported"`
		Current  string                `json:"current_phase"`
	}
	if err := o.ask(ctx, controller, crd.PortAPI, "/api/progress", &reply); err != nil {
		return p
	}
	p = progress{answered: true, state: reply.State, exported: reply.Exported, current: reply.Current,
		phases: map[string]crd.PhaseProgress{}}
	for name, stats := range reply.Phases {
		if x, ok := phaseProgress(name, stats); ok {
			p.phases[name] = x
			if p.current == "" && !x.IsRecordsComplete && x.RequestsSent > 0 {
				p.current = name
			}
		}
	}
	var live struct {
		Metrics map[string]crd.Object `json:"metrics"`
	}
	if err := o.ask(ctx, controller, crd.PortAPI, "/api/metrics", &live); err == nil {
		p.metrics = liveMetrics(live.Metrics, p.phases)
	}
	return p
}

// ask reads a document of a pod.
func (o *Operator) ask(ctx context.Context, pod *podObject, port int, path string, into any) error {
	reply, err := o.o.Pods.Do(ctx, http.MethodGet, pod.ref(), port, path)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, reply.Status)
	}
	return json.NewDecoder(io.LimitReader(reply.Body, maxReply)).Decode(into)
}

// phaseProgress is the progress of a phase; ok is false where the phase expects nothing and has sent nothing.
func phaseProgress(name string, stats crd.Object) (p crd.PhaseProgress, ok bool) {
	count := func(names ...string) int64 {
		for _, n := range names {
			if v, ok := stats[n].(float64); ok {
				return int64(v)
			}
		}
		return 0
	}
	optional := func(key string, decimals int) *float64 {
		v, ok := stats[key].(float64)
		if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		v = rounded(v, decimals)
		return &v
	}
	index := func(key string) *int {
		v, ok := stats[key].(float64)
		if !ok {
			return nil
		}
		n := int(v)
		return &n
	}
	flag := func(key string) bool { b, _ := stats[key].(bool); return b }
	text := func(key, otherwise string) string {
		if v, ok := stats[key].(string); ok && v != "" {
			return v
		}
		return otherwise
	}
	kind := "profiling"
	if strings.Contains(name, "warmup") {
		kind = "warmup"
	}
	p = crd.PhaseProgress{
		PhaseName: text("phase_name", name), PhaseKind: text("phase_kind", kind), PhaseIndex: index("phase_index"),
		ProfilingIndex: index("profiling_index"), RequestsSent: count("requests_sent"),
		RequestsCompleted: count("requests_completed"), RequestsCancelled: count("requests_cancelled"),
		RequestsErrors: count("request_errors"), RequestsInFlight: count("in_flight_requests"),
		RequestsPerSecond:       optional("requests_per_second", 2),
		RequestsProgressPercent: optional("requests_progress_percent", 2), SessionsSent: count("sent_sessions"),
		SessionsCompleted: count("completed_sessions"), SessionsCancelled: count("cancelled_sessions"),
		SessionsInFlight: count("in_flight_sessions"), RecordsSuccess: count("success_records"),
		RecordsError: count("error_records"), RecordsPerSecond: optional("records_per_second", 2),
		RecordsProgressPercent: optional("records_progress_percent", 2),
		SendingComplete:        stats["sent_end_ns"] != nil, IsRequestsComplete: stats["requests_end_ns"] != nil,
		IsRecordsComplete: stats["records_end_ns"] != nil, TimeoutTriggered: flag("timeout_triggered"),
		WasCancelled: flag("was_cancelled"), RequestsETASeconds: optional("requests_eta_sec", 2),
		RecordsETASeconds:       optional("records_eta_sec", 2),
		ExpectedDurationSeconds: optional("expected_duration_sec", 2),
		ElapsedTimeSeconds:      optional("requests_elapsed_time", 1),
	}
	if v, has := stats["total_expected_requests"].(float64); has {
		n := int64(v)
		p.RequestsTotal = &n
	}
	if p.PhaseKind == "warmup" {
		p.ProfilingIndex = nil
	}
	return p, p.RequestsSent > 0 || p.RequestsTotal != nil || p.ExpectedDurationSeconds != nil
}

func rounded(v float64, decimals int) float64 {
	scale := math.Pow(10, float64(decimals))
	if r := math.Round(v*scale) / scale; !math.IsInf(r, 0) && !math.IsNaN(r) {
		return r
	}
	return v
}

// liveTags are the metrics that a status shows, beside those whose names begin with livePrefix.
var liveTags = map[string]bool{}

// livePrefix begins the names of the metrics of connections.
const livePrefix = "http_req_"

func init() {
	for tag := range strings.FieldsSeq(`request_throughput request_count error_request_count good_request_count goodput
		output_token_throughput output_token_throughput_per_user prefill_throughput_per_user total_token_throughput
		output_token_throughput_no_reasoning request_latency time_to_first_token time_to_second_token
		time_to_first_output_token inter_token_latency inter_chunk_latency input_sequence_length output_sequence_length
		output_token_count reasoning_token_count total_input_sequence_length total_isl total_output_sequence_length
		total_osl total_output_tokens total_reasoning_tokens total_token_count usage_prompt_tokens
		usage_completion_tokens usage_total_tokens usage_reasoning_tokens total_usage_prompt_tokens
		total_usage_completion_tokens total_usage_total_tokens benchmark_duration benchmark_token_count
		image_throughput image_latency num_images video_inference_time video_peak_memory stream_setup_latency
		stream_prefill_latency credit_drop_latency thinking_efficiency time_to_first_audio real_time_factor
		output_audio_duration output_audio_byte_rate output_audio_byte_throughput output_audio_throughput`) {
		liveTags[tag] = true
	}
}

// liveMetrics is what a status shows of the metrics: numbers with two decimals, the share of errors with nine; what is
// not finite is left out.
func liveMetrics(all map[string]crd.Object, phases map[string]crd.PhaseProgress) crd.Object {
	shown := crd.Object{}
	for tag, m := range all {
		if !liveTags[tag] && !strings.HasPrefix(tag, livePrefix) {
			continue
		}
		if entry, finite := roundedEntry(m); finite {
			shown[tag] = entry
		}
	}
	var done, errors int64
	for _, p := range phases {
		if p.PhaseKind == "profiling" {
			done += p.RequestsCompleted
			errors += p.RequestsErrors
		}
	}
	live := crd.Object{"metrics": shown, "total_requests": done, "error_rate": 0.0}
	if done > 0 {
		live["error_rate"] = rounded(float64(errors)/float64(done), 9)
	}
	return live
}

// roundedEntry rounds the numbers of a metric. An entry with a number that is not finite is no entry.
func roundedEntry(m crd.Object) (crd.Object, bool) {
	out := crd.Object{}
	for name, value := range m {
		if f, ok := value.(float64); ok {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, false
			}
			out[name] = rounded(f, 2)
			continue
		}
		if text, ok := value.(string); ok {
			switch text {
			case "NaN", "Infinity", "-Infinity":
				return nil, false
			}
		}
		out[name] = value
	}
	return out, true
}

func shortHash(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return fmt.Sprintf("%016x", h.Sum64())
}
