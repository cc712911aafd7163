package env

import (
	"time"

	"aiperf/internal/config/option"
)

// clusterVariables describe how several processes and machines share one run. One process needs none of them.
func clusterVariables() []Variable {
	const wide = 100000
	long, short := option.AboveUpTo(0, wide), option.AboveUpTo(0, 60)
	some := option.AtLeast(0)
	seconds := func(name, def string, l option.Limits, help string) Variable {
		return vFloat(name, def, l, "Seconds "+help).in(time.Second)
	}
	vars := []Variable{
		seconds("API_SERVER_GET_POD_STATES_TIMEOUT", "2", option.Between(0.1, 60),
			"for the question of the HTTP API about its pods."),

		vBool("DATASET_MMAP_PREFAULT", "true", "Touch the pages of a memory-mapped data set when it is opened."),
		seconds("DATASET_REBROADCAST_INTERVAL", "2", short, "between two announcements that the data set is ready."),
		seconds("DATASET_REBROADCAST_WINDOW", "120", option.Between(0, 3600),
			"for which that is announced again; 0 is off."),
		seconds("DATASET_CATCH_UP_REQUEST_TIMEOUT", "10", option.Between(0.1, wide),
			"for the question of a late process about the data set."),
		seconds("DATASET_STATE_POLL_INTERVAL", "1", short, "between two looks of a late process at the data set."),
		vInt("DATASET_DOWNLOAD_MAX_RETRIES", "20", option.Between(0, 1000),
			"Further tries of a pod to fetch the data set."),
		seconds("DATASET_DOWNLOAD_RETRY_DELAY", "2", option.Between(0.1, 60), "before the first further try."),
		seconds("DATASET_DOWNLOAD_MAX_BACKOFF_SECONDS", "8", option.AboveUpTo(0, 300),
			"between two further tries at most."),

		seconds("POD_MONITOR_INTERVAL", "5", option.Between(0.1, wide), "between two checks of the pods."),
		vFloat("POD_FAILURE_ABORT_THRESHOLD_PERCENT", "50", option.Between(0, 100),
			"Percent of failed pods that end a run; 0 is never."),

		seconds("RECORD_CHECKPOINT_INTERVAL", "30", option.Between(0, 3600), "between two partial results; 0 is off."),

		seconds("SERVER_METRICS_CANCEL_RESULT_WAIT_SEC", "5", some, "to wait for server metrics after an interrupt."),
		seconds("SERVER_METRICS_PROFILE_COMPLETE_RELAY_TIMEOUT", "60", option.Between(1, 600),
			"for the news of the end of the load to reach the collector."),
		seconds("SERVER_METRICS_REALTIME_PUBLISH_INTERVAL_SECONDS", "1", option.Between(1e-9, 300),
			"between two live figures of server metrics."),
		vInt("SERVER_METRICS_CR_PROJECTION_MAX_SERIES", "256", option.Between(1, 10000),
			"Series of server metrics in a status in Kubernetes at most."),
		vInt("SERVER_METRICS_CR_PROJECTION_MAX_BYTES", "262144", option.Between(1024, 1048576),
			"Bytes of them at most."),
		vInt("SERVER_METRICS_CR_PROJECTION_MAX_LABELS", "16", option.Between(1, 1000),
			"Labels of each of them at most."),

		vInt("SERVICE_HEARTBEAT_MISSED_THRESHOLD", "3", option.Between(1, 100),
			"Missed signs of life from which a process counts as lost."),
		vInt("SERVICE_HEARTBEAT_STALE_CONFIRMATION_TICKS", "2", option.Between(1, 100),
			"Checks that must agree on that."),
		vFloat("SERVICE_HEARTBEAT_WATCHDOG_DELAY_FACTOR", "2.0", option.Between(1, 100),
			"Initial factor on the interval of these checks."),
		seconds("SERVICE_CONTROLLER_FAILURE_SHUTDOWN_TIMEOUT", "600", option.Between(1, wide),
			"for the controller to end after a failure."),
		seconds("SERVICE_FAILURE_SHUTDOWN_TIMEOUT", "30", option.Between(1, 300),
			"for another process to end after a failure."),
		seconds("SERVICE_REGISTRATION_PROGRESS_LOG_INTERVAL", "5", option.Between(0.1, wide),
			"between two log lines about processes that have not come up."),
		seconds("SERVICE_GROUP_HELLO_ATTEMPT_TIMEOUT", "2", long, "for one greeting in a group of workers."),
		seconds("SERVICE_GROUP_HELLO_TOTAL_TIMEOUT", "120", long, "for all greetings in a group of workers."),
		seconds("SERVICE_GROUP_HELLO_RETRY_BACKOFF_SECONDS", "0.25", long, "between two greetings."),
		seconds("SERVICE_GROUP_PEER_POLL_INTERVAL_SECONDS", "0.2", long,
			"between two checks for the other members of a group."),

		vInt("TOKENIZER_BUNDLE_MAX_BYTES", "52428800", option.AtLeast(1),
			"Size of a tokenizer that is handed to pods at most."),
		seconds("TOKENIZER_BUNDLE_BUILD_WARN_SECONDS", "5", some,
			"after which packing a tokenizer for pods draws a warning."),
		vInt("TOKENIZER_DOWNLOAD_MAX_RETRIES", "20", option.AtLeast(0),
			"Further tries of a pod to fetch the tokenizer."),
		seconds("TOKENIZER_DOWNLOAD_INITIAL_BACKOFF_SECONDS", "0.5", long, "before the first further try."),
		seconds("TOKENIZER_DOWNLOAD_MAX_BACKOFF_SECONDS", "8", long, "between two further tries at most."),
		seconds("TOKENIZER_DOWNLOAD_REQUEST_TIMEOUT_SECONDS", "300", long, "for one of these tries."),

		seconds("WORKER_RAW_RECORD_UPLOAD_TIMEOUT", "60", long, "for a pod to hand over its raw records."),
		vInt("WORKER_DEFAULT_WORKERS_PER_POD", "10", option.AtLeast(1), "Workers of a pod."),
		seconds("WORKER_DISPATCHABLE_POD_GRACE_PERIOD_SECONDS", "5", some,
			"in which a pod that cannot be reached may come back."),
		seconds("WORKER_RETURN_PROBE_BUDGET", "30", long, "to find the way back from a worker."),
		seconds("WORKER_RETURN_PROBE_RETRY_DELAY", "0.1", long, "between two tries of that."),
		vFloat("WORKER_ROUTER_STALE_EVICTION_MULTIPLIER", "3", option.AtLeast(1),
			"Multiple of the heartbeat after which a silent worker gets no more requests."),
		vFloat("WORKER_ROUTER_STALE_SWEEP_DELAY_FACTOR", "2", option.Above(0),
			"Initial factor on the interval of checks for silent workers."),
		vInt("WORKER_SESSION_CACHE_MAX_ENTRIES", "100000", option.AtLeast(1), "Sessions that a worker keeps."),

		seconds("ZMQ_PUSH_DRAIN_TIMEOUT", "2", some, "for the last messages of a socket."),
		seconds("ZMQ_PROXY_TERMINATE_TIMEOUT", "5", some, "for a proxy to end."),
		vInt("ZMQ_RECONNECT_IVL", "100", option.AtLeast(0),
			"Milliseconds before a socket connects again.").in(time.Millisecond),
		vInt("ZMQ_RECONNECT_IVL_MAX", "5000", option.AtLeast(0),
			"Milliseconds of that wait at most.").in(time.Millisecond),
	}
	for i := range vars {
		vars[i].Group = VarInternal
	}
	return vars
}
