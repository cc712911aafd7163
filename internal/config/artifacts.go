package config

import (
	"path"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config/document"
)

// Artifacts says where files go and which.
type Artifacts struct {
	// NoSummaryJSON leaves the JSON summary out; the CSV is always written.
	NoSummaryJSON bool
	// Dir is the run's folder, as given or derived; relative to the working directory.
	Dir string
	// Derived is true if Dir is the derived one and results of other benchmarks in it are to stay.
	Derived bool
	// Prefix is the stem in front of exported files, possibly with folders relative to Dir; empty
	// means the default names.
	Prefix string
	// ExportLevel is "summary", "records" or "raw"; each includes the one before.
	ExportLevel string
	// HTTPTrace puts the times of each step of a request into the per-request file.
	HTTPTrace bool
	// SliceDuration is the length of a time slice; 0 is off.
	SliceDuration time.Duration
	// RecordsCompress is how the per-request file is compressed: "none" or "zstd".
	RecordsCompress string
	// RecordsParquet asks for the per-request file as Parquet too.
	RecordsParquet bool
	// HTMLReport asks for the report as a page.
	HTMLReport bool
	// Outputs asks for the generated texts in outputs.json.
	Outputs bool
	// Percentiles are the ranks of further percentiles, in (0, 100).
	Percentiles []float64
	// ShowTraceTiming prints a table of these times.
	ShowTraceTiming bool
	// UserFiles are written before the load begins.
	UserFiles []document.UserFile
	// Variables are those of the configuration file, which user files may name.
	Variables artifact.Object
}

// Artifact is a kind of file that a run writes.
type Artifact uint8

// The kinds of artifact.
const (
	SummaryJSON Artifact = iota
	SummaryCSV
	HTMLReport
	RecordsJSONL
	// RecordsZstd takes the place of RecordsJSONL where records are compressed; readers find it by the name of that.
	RecordsZstd
	RecordsParquet
	RawJSONL
	TimeslicesCSV
	TimeslicesJSON
	InputsJSON
	OutputsJSON
	// OutputsSpool holds the entries of outputs.json until the run ends.
	OutputsSpool
	ConsoleText
	LogFile
	GPUTelemetryJSONL
	ServerMetricsJSON
	ServerMetricsCSV
	ServerMetricsJSONL
	ServerMetricsParquet
	ServerMetricsRecording
	ServerMetricsLegacyJSON
	NetworkLatencyJSONL
	RunState
	AccuracyJSONL
	AccuracyCSV
	MLflowJSON
	PhaseManifest
	SearchManifest
	AggregateJSON
	AggregateCSV
	CollatedJSON
	SweepJSON
	SweepCSV
	SamplingDesign
	SweepHTML
	RunConfigJSON
	FleetJSON
	// ResultsReady is written last: all other files of the run are complete.
	ResultsReady
	artifactCount
)

// artifactName is a file's name without a prefix and what follows the prefix; a file with an empty
// suffix keeps its name.
type artifactName struct{ plain, suffix string }

func artifactNames() [artifactCount]artifactName {
	return [artifactCount]artifactName{
		SummaryJSON:             {"profile_export_aiperf.json", ".json"},
		SummaryCSV:              {"profile_export_aiperf.csv", ".csv"},
		HTMLReport:              {"profile_export_aiperf.html", ".html"},
		RecordsJSONL:            {"profile_export.jsonl", ".jsonl"},
		RecordsZstd:             {"profile_export.jsonl.zst", ".jsonl.zst"},
		RecordsParquet:          {"profile_export.parquet", ".parquet"},
		RawJSONL:                {"profile_export_raw.jsonl", "_raw.jsonl"},
		TimeslicesCSV:           {"profile_export_aiperf_timeslices.csv", "_timeslices.csv"},
		TimeslicesJSON:          {"profile_export_aiperf_timeslices.json", "_timeslices.json"},
		InputsJSON:              {"inputs.json", ""},
		OutputsJSON:             {"outputs.json", "_outputs.json"},
		OutputsSpool:            {"outputs_spool.jsonl", "_outputs_spool.jsonl"},
		ConsoleText:             {"profile_export_console.txt", "_console.txt"},
		LogFile:                 {"logs/aiperf.log", ""},
		GPUTelemetryJSONL:       {"gpu_telemetry_export.jsonl", "_gpu_telemetry.jsonl"},
		ServerMetricsJSON:       {"server_metrics_export.json", "_server_metrics.json"},
		ServerMetricsCSV:        {"server_metrics_export.csv", "_server_metrics.csv"},
		ServerMetricsJSONL:      {"server_metrics_export.jsonl", "_server_metrics.jsonl"},
		ServerMetricsParquet:    {"server_metrics_export.parquet", "_server_metrics.parquet"},
		ServerMetricsRecording:  {"server_metrics_recording.json", "_server_metrics_recording.json"},
		ServerMetricsLegacyJSON: {"server_metrics_export_legacy.json", "_server_metrics_legacy.json"},
		NetworkLatencyJSONL:     {"profile_export_network_latency.jsonl", "_network_latency.jsonl"},
		RunState:                {"run_state.json", "_run_state.json"},
		AccuracyJSONL:           {"accuracy_export.jsonl", "_accuracy.jsonl"},
		AccuracyCSV:             {"accuracy_results.csv", ""},
		MLflowJSON:              {"mlflow_export.json", ""},
		PhaseManifest:           {"phase_manifest.json", ""},
		SearchManifest:          {"adaptive_scale_manifest.json", ""},
		AggregateJSON:           {"aggregate/profile_export_aiperf_aggregate.json", ""},
		AggregateCSV:            {"aggregate/profile_export_aiperf_aggregate.csv", ""},
		CollatedJSON:            {"aggregate/profile_export_aiperf_collated.json", ""},
		SweepJSON:               {"sweep_aggregate/profile_export_aiperf_sweep.json", ""},
		SweepCSV:                {"sweep_aggregate/profile_export_aiperf_sweep.csv", ""},
		SamplingDesign:          {"sweep_aggregate/sampling_design.json", ""},
		SweepHTML:               {"sweep_aggregate/profile_export_aiperf_sweep.html", ""},
		RunConfigJSON:           {"run_config.json", ""},
		FleetJSON:               {"fleet.json", "_fleet.json"},
		ResultsReady:            {".aiperf_results_ready.json", ""},
	}
}

// About returns a sentence on a kind for lists, "" for a kind that this release does not write.
func (k Artifact) About() string {
	return map[Artifact]string{
		SummaryJSON:             "All figures of the run, its configuration and what it counted.",
		SummaryCSV:              "All figures of the run as a table.",
		HTMLReport:              "The report as a page with charts.",
		RecordsJSONL:            "A line for each request.",
		RecordsZstd:             "A line for each request, compressed.",
		RecordsParquet:          "The lines of the requests as Parquet.",
		RawJSONL:                "The bodies of the requests and replies.",
		TimeslicesCSV:           "The figures by time slice as a table.",
		TimeslicesJSON:          "The figures by time slice.",
		InputsJSON:              "The payloads of all requests.",
		OutputsJSON:             "The generated texts.",
		ConsoleText:             "The report that the console shows.",
		LogFile:                 "The log of the run.",
		GPUTelemetryJSONL:       "The readings of the GPUs.",
		ServerMetricsJSON:       "The statistics of the servers' metrics.",
		ServerMetricsCSV:        "The statistics of the servers' metrics as a table.",
		ServerMetricsJSONL:      "The samples of the servers' metrics.",
		ServerMetricsParquet:    "The samples of the servers' metrics as Parquet.",
		ServerMetricsRecording:  "What the collectors did, for aiperf server-metrics.",
		ServerMetricsLegacyJSON: "The statistics of the servers' metrics in an older shape.",
		NetworkLatencyJSONL:     "The probes of the network's round trip.",
		RunState:                "What results depend on apart from the records, for aiperf report.",
		AccuracyJSONL:           "A line for each graded answer.",
		AccuracyCSV:             "How many answers of each task were right.",
		MLflowJSON:              "Where the run is on the MLflow server.",
		PhaseManifest:           "The phases of a run that had several.",
		AggregateJSON:           "The figures of a series of runs with their confidence intervals.",
		AggregateCSV:            "The figures of a series of runs as a table.",
		CollatedJSON:            "The figures of all requests of a series of runs.",
		SweepJSON:               "The figures of all cells of a sweep, the best of them and the Pareto front.",
		SweepCSV:                "The figures of all cells of a sweep as a table.",
		SweepHTML:               "The page of a sweep, a search or a capacity.",
		SamplingDesign:          "The points that a sampled sweep tries.",
		FleetJSON:               "The agents of a run: what each sent, its clock, what was lost.",
		ResultsReady:            "The mark that all files of the run are complete; written last.",
	}[k]
}

// Path is where an artifact goes.
func (a Artifacts) Path(kind Artifact) string { return filepath.Join(a.Dir, a.Name(kind)) }

// Name is an artifact's name below the run's folder.
func (a Artifacts) Name(kind Artifact) string {
	n := artifactNames()[kind]
	if a.Prefix == "" || n.suffix == "" {
		return filepath.FromSlash(n.plain)
	}
	return filepath.FromSlash(a.Prefix) + n.suffix
}

// Records returns the kind of the per-request file that a run writes.
func (a Artifacts) Records() Artifact {
	if a.RecordsCompress == "zstd" {
		return RecordsZstd
	}
	return RecordsJSONL
}

// PhaseNames are the names of the summary files in the folder that each of several phases has.
func (a Artifacts) PhaseNames() (json, csv string) {
	return filepath.Base(a.Name(SummaryJSON)), filepath.Base(a.Name(SummaryCSV))
}

// ArtifactKinds lists all kinds.
func ArtifactKinds() []Artifact {
	kinds := make([]Artifact, artifactCount)
	for i := range kinds {
		kinds[i] = Artifact(i)
	}
	return kinds
}

// prefixSuffixes are what a prefix may end in, tried in this order; one of them is taken off.
func prefixSuffixes() []string {
	return []string{
		"_server_metrics.parquet", "_server_metrics.jsonl", "_server_metrics.json", "_server_metrics.csv",
		"_gpu_telemetry.jsonl",
		"_timeslices.csv", "_timeslices.json", "_raw.jsonl", "_console.txt", "_network_latency.jsonl",
		".parquet", ".csv", ".json", ".jsonl",
	}
}

// PrefixStem is the prefix that a value of --profile-export-prefix means: of an absolute path only the
// last element counts, and at most one known suffix or file extension is taken off.
func PrefixStem(value string) string {
	value = strings.TrimSpace(value)
	stem := path.Clean(filepath.ToSlash(value))
	if path.IsAbs(stem) || filepath.IsAbs(value) {
		stem = path.Base(stem)
	}
	for _, suffix := range prefixSuffixes() {
		if rest, ok := strings.CutSuffix(stem, suffix); ok && rest != "" {
			return rest
		}
	}
	if dot := strings.LastIndexByte(stem, '.'); dot > 0 && isExtension(stem[dot+1:]) {
		return stem[:dot]
	}
	return stem
}

// isExtension reports whether s looks like a file extension: 1 to 8 ASCII letters.
func isExtension(s string) bool {
	if len(s) < 1 || len(s) > 8 {
		return false
	}
	for _, c := range []byte(s) {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return false
		}
	}
	return true
}
