package config

import (
	"net/url"
	"time"
)

// ServerMetrics says what is collected from the servers alongside the load.
type ServerMetrics struct {
	Enabled bool
	// Given reports that the user asked for them, which also shows them on the console.
	Given bool
	// URLs are endpoints besides those of the endpoint's own URLs, as the user wrote them.
	URLs []string
	// Formats are the files to write: json, csv, jsonl, parquet.
	Formats []string
}

// GPU says what is collected from GPUs alongside the load.
type GPU struct {
	Enabled bool
	// Given reports that the user asked for telemetry, which also shows it on the console.
	Given bool
	// Dashboard shows the pane of the GPUs on the dashboard from the start.
	Dashboard bool
	// Exporters are tried in addition to the default ones.
	Exporters []GPUExporter
	// Collector is "pynvml" or "amdsmi" to read the GPUs of this machine instead of exporters.
	Collector string
	// MetricsFile names further metrics of DCGM; "" for none.
	MetricsFile string
	// PricePerHour is the price of one GPU for an hour in any currency; 0: the cost is not computed. Count is the
	// number of GPUs that serve, 0: as many as telemetry sees.
	PricePerHour float64
	Count        int
}

// GPUExporter is an exporter that the user named.
type GPUExporter struct {
	URL string
	// Collector is "dcgm" or "amd_dme" if the user named it, else "": it is detected from the page.
	Collector string
}

// Network says how the network's round trip is known. Nothing set means that it is not.
type Network struct {
	// Automatic measures it each Interval; else Mean is the round trip, if it is not nil.
	Automatic bool
	Interval  time.Duration
	Mean      *time.Duration
}

// OTel says where the run's figures are pushed as OpenTelemetry metrics.
type OTel struct {
	// URL is nil when nothing is pushed. Its scheme is http, https, grpc or grpcs, or empty where the user gave none;
	// it may hold user information.
	URL *url.URL
	// Metrics asks for the figures of requests, Timing for those of the load.
	Metrics, Timing bool
	// Attributes describe the run to the collector, unique by name.
	Attributes []Attribute
	// Provider is the name of who serves the model, "" = found by the host.
	Provider string
}

// Attribute is a name and a value.
type Attribute struct{ Name, Value string }

// WandB says where the run is uploaded on Weights & Biases.
type WandB struct {
	// Project is empty when it is not. Entity and RunName are empty where the user gave none.
	Project, Entity, RunName string
	// Tags are neither empty nor surrounded by spaces.
	Tags []string
}

// MLflow says where the run is tracked on an MLflow server.
type MLflow struct {
	// URI is nil when it is not. Its scheme is http or https; it may hold user information.
	URI *url.URL
	// Experiment is never empty, RunName is empty where the user gave none.
	Experiment, RunName, ParentRunID string
	Tags                             []Attribute
	// Globs are nil where the user gave none.
	Globs []string
}
