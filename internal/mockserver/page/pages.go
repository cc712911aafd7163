package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/jsonscan"
	"aiperf/internal/mockserver/api"
)

// page is the metrics page of one server process.
type page struct {
	name     string
	path     string // where it can always be read
	style    style
	labels   labels // of every family that names no others
	families []family
}

// backend is a server that this one can look like.
type backend struct {
	name string
	// page is what /metrics shows, before the server's own families.
	page string
	// ports are the pages that the server shows on ports of their own.
	ports []string
	// apart reports whether it shows them nowhere else when such ports are given.
	apart bool
}

var backends = []backend{
	{name: "vllm", page: "vllm", ports: []string{"vllm"}},
	{name: "sglang", page: "sglang", ports: []string{"sglang"}},
	{name: "trtllm", page: "trtllm", ports: []string{"trtllm"}},
	{name: "dynamo", page: "dynamo_frontend", ports: []string{"prefill", "decode"}},
	{name: "triton", page: "triton", ports: []string{"triton"}, apart: true},
}

func backendNamed(name string) *backend {
	i := slices.IndexFunc(backends, func(b backend) bool { return b.name == name })
	if i < 0 {
		return nil
	}
	return &backends[i]
}

// Backends returns the names of the backends.
func Backends() []string {
	names := make([]string, len(backends))
	for i, b := range backends {
		names[i] = b.name
	}
	return names
}

// CheckBackend returns an error unless v is the name of a backend.
func CheckBackend(v string) error {
	if backendNamed(v) != nil {
		return nil
	}
	return fmt.Errorf("%q is not a backend: %s", v, strings.Join(Backends(), ", "))
}

const (
	// Path is the path of the page of the backend.
	Path           = "/metrics"
	prometheusPath = "/prometheus/metrics"
)

// The sizes of the server that the pages show.
const (
	modelLength = 8192
	// BlockTokens is how many tokens a block of the KV cache has, KVBlocks how many blocks it has by default.
	BlockTokens = 16
	KVBlocks    = 8192
	// dynamoBlocks and dynamoBlocksPerRequest generate the memory of a Dynamo component.
	dynamoBlocks           = 1024
	dynamoBlocksPerRequest = 10
)

// memory is how the KV cache is set up.
type memory struct {
	blocks int
	caches bool // prefixes
}

// newPages lists all pages; own is the one of the server's own families.
func newPages(kv memory) []page {
	return []page{
		{name: "own", families: ownFamilies()},
		{name: "vllm", path: "/vllm/metrics", style: style{floats: true, created: true},
			labels: labels{{"model_name", "$model"}, {"engine", "0"}}, families: vllmFamilies(kv)},
		{name: "sglang", path: "/sglang/metrics", style: style{floats: true, created: true},
			labels: labels{{"model_name", "$model"}, {"engine_type", "unified"}}, families: sglangFamilies(kv)},
		{name: "trtllm", path: prometheusPath, style: style{floats: true, created: true},
			labels: labels{{"model_name", "$model"}, {"engine_type", "trtllm"}}, families: trtllmFamilies("trtllm_", kv)},
		{name: "trtllm-old", path: "/trtllm/metrics", style: style{floats: true},
			labels: labels{{"model_name", "$model"}, {"engine_type", "trtllm"}}, families: trtllmFamilies("trtllm:", kv)},
		{name: "dynamo_frontend", path: "/dynamo_frontend/metrics",
			labels: labels{{"model", "$model"}}, families: dynamoFrontendFamilies()},
		{name: "prefill", path: "/dynamo_component/prefill/metrics",
			labels: dynamoComponentLabels("prefill", "1"), families: dynamoComponentFamilies(qTTFT, prefilling)},
		{name: "decode", path: "/dynamo_component/decode/metrics",
			labels: dynamoComponentLabels("backend", "2"), families: dynamoComponentFamilies(qDecode, decoding)},
		{name: "triton", path: "/triton/metrics", style: style{bareCounters: true},
			labels: labels{{"model", "$model"}, {"version", "1"}}, families: tritonFamilies()},
	}
}

// boundsOf collects, for each quantity, the bounds of all pages, so that each layout is counted exactly,
// and some that no page has, for layouts that change.
func boundsOf(pages []page) *[quantities][]int64 {
	var bounds [quantities][]int64
	for i := range pages {
		for j := range pages[i].families {
			f := &pages[i].families[j]
			for _, s := range f.series {
				if f.kind == kHistogram {
					bounds[s.of] = mergedBounds(bounds[s.of], f.unitBounds(s.of))
				}
			}
		}
	}
	for q := range bounds {
		var spare []int64
		for i := 2; i < len(bounds[q]); i += 4 {
			spare = append(spare, (bounds[q][i-1]+bounds[q][i])/2)
		}
		bounds[q] = mergedBounds(bounds[q], spare)
	}
	return &bounds
}

// ownFamilies returns the families of this server itself.
func ownFamilies() []family {
	families := []family{
		{name: "aiperf_mock_requests", kind: kCounter, help: "Requests answered, by route and status.",
			dynamic: ownRequests},
		gauge("aiperf_mock_requests_in_progress", "Requests being worked on.", activeRequests),
		hist("aiperf_mock_request_latency_seconds", "Arrival to the end of the reply.", qFrontE2E, ownTimes),
		total("aiperf_mock_prompt_tokens", "Prompt tokens.", sum(cPrompt)),
		total("aiperf_mock_completion_tokens", "Tokens generated.", sum(cGenerated)),
		split("aiperf_mock_tokens_per_request", kSummary, "Tokens of a reply.", series{of: qOutput}),
		total("aiperf_mock_streaming_requests", "Requests that stream.", sum(cStreaming)),
		total("aiperf_mock_tokens_streamed", "Tokens sent in streams.", sum(cStreamed)),
		hist("aiperf_mock_time_to_first_token_seconds", "Arrival to the first token.", qFrontTTFT, ownTimes),
		hist("aiperf_mock_inter_token_latency_seconds", "Time between two tokens.", qITL, ownTimes),
		{name: "aiperf_mock_errors", kind: kCounter, help: "Requests without a whole reply.", dynamic: ownErrors},
		{name: "aiperf_mock_requests_by_model", kind: kCounter, help: "Requests by the model they name.",
			dynamic: ownModels},
		gauge("aiperf_mock_uptime_seconds", "Time since the start.", func(t *totals) float64 { return t.uptime }),
		total("aiperf_mock_request_bytes", "Bytes of request bodies.", sum(cBytesIn)),
		total("aiperf_mock_response_bytes", "Bytes of replies, heads included.", sum(cBytesOut)),
	}
	for _, what := range []string{"embeddings_generated", "rankings_generated", "passages_ranked", "images_processed"} {
		families = append(families, total("aiperf_mock_"+what, "Always 0: there is no such route.", constant(0)))
	}
	return families
}

func activeRequests(t *totals) float64 { return float64(t.level[lActive]) }

func ownRequests(t *totals, emit func(labels, float64)) {
	byStatus := map[[2]string]int64{}
	for a := range api.API(api.Count) {
		n := t.count[cDoneOf(a, false)] + t.count[cDoneOf(a, true)]
		if n > 0 || a <= api.Completions {
			byStatus[[2]string{a.Path(), "200"}] += n
		}
	}
	for f, n := range t.failures {
		if f.status != 0 {
			byStatus[[2]string{f.api.Path(), strconv.Itoa(f.status)}] += n
		}
	}
	for key, n := range byStatus {
		emit(labels{{"endpoint", key[0]}, {"method", "POST"}, {"status", key[1]}}, float64(n))
	}
}

func ownErrors(t *totals, emit func(labels, float64)) {
	byType := map[[2]string]int64{}
	for f, n := range t.failures {
		byType[[2]string{f.api.Path(), f.kind()}] += n
	}
	for key, n := range byType {
		emit(labels{{"endpoint", key[0]}, {"error_type", key[1]}}, float64(n))
	}
}

// kind names the failure.
func (f failure) kind() string {
	switch {
	case f.gone:
		return "client_gone"
	case f.status == 0:
		return "spoilt_reply"
	}
	return api.ErrorType(f.status)
}

func ownModels(t *totals, emit func(labels, float64)) {
	for name, n := range t.models {
		emit(labels{{"model", jsonscan.Text([]byte(name))}}, float64(n))
	}
}

func kvUsage(t *totals) float64 {
	if t.followed {
		return min(float64(t.usedBlocks)/float64(t.kvBlocks), 1)
	}
	return min(float64(t.level[lHeld])/float64(t.kvBlocks*BlockTokens), 1)
}

func usedBlocks(t *totals) float64 {
	used := int((t.level[lHeld] + BlockTokens - 1) / BlockTokens)
	if t.followed {
		used = t.usedBlocks
	}
	return float64(min(used, t.kvBlocks))
}

func waitingRequests(t *totals) float64 { return float64(t.level[lWaiting]) }

// hitRate returns the share of the prompt that came from the prefix cache, so far.
func hitRate(t *totals) float64 {
	if t.count[cPrompt] == 0 {
		return 0
	}
	return t.cached() / float64(t.count[cPrompt])
}
