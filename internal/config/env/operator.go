package env

import (
	"time"

	"aiperf/internal/config/option"
)

// Operator tunes the operator in Kubernetes, its results server and the controllers of sweeps.
type Operator struct {
	ID, ClusterName, BaseURL, Token string
	MutatingRoutes, ResultsOpen     bool

	ClaimLease, JobTimeout, EndpointTimeout, PreflightTimeout, ClaimTrust, MonitorInterval, InitialDelay time.Duration
	RestartThreshold                                                                                     int

	ResultsDir                                            string
	ResultsPort, ResultsRetries, DownloadConcurrency      int
	MetricsPort                                           int
	ResultsRetryDelay, DownloadTimeout, CleanupInterval   time.Duration
	ResultsTTLDays, RetainRuns                            int
	RetainDays                                            float64
	Compress                                              bool
	ChildPoll, CancelPoll, CancelGrace, ChildMissing      time.Duration
	StaleChildDeletion, SummaryRetryDelay, HeartbeatPause time.Duration
	SummaryRetries                                        int
}

// operatorVariables are read by "aiperf operator" and by the pods that it starts.
func operatorVariables(e *Values) []Variable {
	o := &e.Operator
	const wide = 1e6
	seconds := func(name, def string, l option.Limits, help string) Variable {
		return vFloat(name, def, l, "Seconds "+help).in(time.Second)
	}
	return []Variable{
		vText("OPERATOR_ID", VarString, "", "Name of an operator that claims the namespaces of its benchmarks for "+
			"itself; without one it leaves claimed namespaces alone.").to(&o.ID),
		seconds("OPERATOR_CLAIM_LEASE_SECONDS", "300", option.Between(10, 86400),
			"for which the claim of a namespace holds; it is renewed at a third.").to(&o.ClaimLease),
		seconds("OPERATOR_JOB_TIMEOUT_SECONDS", "0", option.Between(0, 1e8),
			"that a job may take which sets no limit itself; 0 is none.").to(&o.JobTimeout),
		vInt("OPERATOR_POD_RESTART_THRESHOLD", "3", option.Between(0, wide),
			"Restarts of a container from which on each is reported; 0 is never.").to(&o.RestartThreshold),
		seconds("OPERATOR_ENDPOINT_CHECK_TIMEOUT", "10", option.Between(0.1, 600),
			"for the question to the server before a job starts.").to(&o.EndpointTimeout),
		seconds("OPERATOR_PREFLIGHT_TIMEOUT", "30", option.Between(0.1, 600),
			"for the checks of the cluster before a job starts.").to(&o.PreflightTimeout),
		seconds("OPERATOR_COMPLETION_CLAIM_TRUST_WINDOW_SECONDS", "900", option.Between(1, wide),
			"for which another operator may take to store the results of a job.").to(&o.ClaimTrust),
		seconds("OPERATOR_MONITOR_INTERVAL", "10", option.Between(0.1, 3600),
			"between two looks at a job.").to(&o.MonitorInterval),
		seconds("OPERATOR_INITIAL_DELAY", "5", option.Between(0.1, 3600),
			"before the first look at a job.").to(&o.InitialDelay),
		vText("OPERATOR_CLUSTER_NAME", VarString, "", "Name of the cluster that the results server "+
			"shows.").to(&o.ClusterName),
		vText("OPERATOR_BASE_URL", VarString, "http://aiperf-operator.aiperf-system:8081",
			"Address of the results server within the cluster.").to(&o.BaseURL),
		vBool("OPERATOR_RESULTS_OPEN", "false", "Let everybody read who reaches the results server; else it asks for the "+
			"token in the secret aiperf-operator-results.").to(&o.ResultsOpen),
		vBool("OPERATOR_MUTATING_ROUTES_ENABLED", "false",
			"Let the results server create and cancel jobs.").to(&o.MutatingRoutes),
		vText("OPERATOR_MUTATING_ROUTES_TOKEN", VarString, "", "Bearer token that these requests need; without one "+
			"they are refused.").to(&o.Token),
		vText("OPERATOR_RESULTS_DIR", VarPath, "/data", "Folder of the volume of results.").to(&o.ResultsDir),
		vInt("OPERATOR_RESULTS_SERVER_PORT", "8081", option.Between(0, 65535),
			"Port of the results server.").to(&o.ResultsPort),
		vInt("OPERATOR_METRICS_PORT", "9090", option.Between(0, 65535),
			"Port of the operator's own figures for Prometheus, at /metrics; 0 is none.").to(&o.MetricsPort),
		vInt("OPERATOR_RESULTS_MAX_RETRIES", "5", option.Between(1, 1000),
			"Tries to fetch the results of a job.").to(&o.ResultsRetries),
		seconds("OPERATOR_RESULTS_RETRY_DELAY", "2", option.Between(0.1, 600),
			"before the second try; it doubles up to 30.").to(&o.ResultsRetryDelay),
		seconds("OPERATOR_RESULTS_DOWNLOAD_TIMEOUT", "300", option.Between(1, 86400),
			"for one try.").to(&o.DownloadTimeout),
		vInt("OPERATOR_RESULTS_DOWNLOAD_CONCURRENCY", "5", option.Between(1, 100),
			"Files that are fetched at a time.").to(&o.DownloadConcurrency),
		seconds("OPERATOR_RESULTS_CLEANUP_INTERVAL", "86400", option.Between(1, 1e8),
			"between two looks for results that are too old.").to(&o.CleanupInterval),
		vInt("OPERATOR_RESULTS_TTL_DAYS", "30", option.Between(1, 365),
			"Days that results stay of jobs that set no resultsTtlDays.").to(&o.ResultsTTLDays),
		vBool("OPERATOR_RESULTS_COMPRESS_ON_DISK", "true", "Store results with zstd.").to(&o.Compress),
		vInt("OPERATOR_RESULTS_RETAIN_RUNS", "10", option.Between(1, wide),
			"Newest runs of a job that stay whatever their age.").to(&o.RetainRuns),
		vFloat("OPERATOR_RESULTS_RETAIN_DAYS", "0", option.Between(0, 36500),
			"Days that further runs stay; 0 is none.").to(&o.RetainDays),
		seconds("SWEEP_CONTROLLER_CHILD_POLL_INTERVAL", "5", option.Between(0.1, 3600),
			"between two looks of a sweep at its job.").to(&o.ChildPoll),
		seconds("SWEEP_CONTROLLER_CANCEL_POLL_INTERVAL", "10", option.Between(0.1, 3600),
			"between two looks of a sweep for its cancellation.").to(&o.CancelPoll),
		seconds("SWEEP_CONTROLLER_CANCEL_GRACE", "120", option.Between(0, 86400),
			"for the running job of a cancelled sweep to end.").to(&o.CancelGrace),
		seconds("SWEEP_CONTROLLER_CHILD_MISSING_TIMEOUT", "300", option.Between(1, 86400),
			"after which a job of a sweep that has vanished has failed.").to(&o.ChildMissing),
		seconds("SWEEP_CONTROLLER_STALE_CHILD_TIMEOUT", "60", option.Between(1, 86400),
			"for the deletion of an earlier job of the same name.").to(&o.StaleChildDeletion),
		vInt("SWEEP_CONTROLLER_SUMMARY_RETRIES", "15", option.Between(1, 1000),
			"Tries to read the summary of a completed job.").to(&o.SummaryRetries),
		seconds("SWEEP_CONTROLLER_SUMMARY_RETRY_DELAY", "2", option.Between(0.1, 600),
			"between two of these tries.").to(&o.SummaryRetryDelay),
		seconds("K8S_CONTROLLER_HEARTBEAT_INTERVAL_SECONDS", "10", option.Between(0.1, 600),
			"between two signs of life of a job's controller.").to(&o.HeartbeatPause),
	}
}
