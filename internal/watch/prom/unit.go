package prom

import (
	"regexp"
	"strings"
	"sync"
)

// Pieces of the patterns over descriptions. A number is a whole word: neither digits nor a point may
// touch it.
const (
	before = `(?:^|[^\w.])`
	after  = `(?:$|[^\w.]|\.(?:\D|$))`
	zero   = `0(?:\.0)?`
	one    = `1(?:\.0)?`
	full   = `100(?:\.0)?`
	dash   = `\s*(?:[-–—]+|to)\s*`
	inOr   = `(?:\bin\s+|\()`
)

// wording is a pattern over descriptions and the unit that it means.
type wording struct {
	pattern *regexp.Regexp
	unit    string
}

// scales are the patterns of a scale in a description, in the order in which they are tried.
var scales = sync.OnceValue(func() []wording {
	return []wording{
		{regexp.MustCompile(`(?i)` + before + zero + dash + one + after), "ratio"},
		{regexp.MustCompile(`(?i)` + before + one + `\s*(?:means|is|equals?|==?)\s*` + full + `\s*(?:%|percent)`), "ratio"},
		{regexp.MustCompile(`(?i)\(\s*` + zero + dash + full + `\s*\)`), "percent"},
		{regexp.MustCompile(`(?i)\brange\s+` + zero + dash + full + after), "percent"},
		{regexp.MustCompile(`(?i)` + before + zero + dash + full + `\s*%`), "percent"},
	}
})

// symbol is a unit in a description as "(in X)".
var symbol = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(in ([^\s)]+)\)`) })

// symbols are the units that such an X may be, by exact spelling.
var symbols = map[string]string{
	"B": "bytes", "KB": "kilobytes", "MB": "megabytes", "GB": "gigabytes", "TB": "terabytes",
	"KiB": "kilobytes", "MiB": "megabytes", "GiB": "gigabytes",
	"C": "celsius", "°C": "celsius", "F": "fahrenheit", "°F": "fahrenheit", "K": "kelvin",
	"Hz": "hertz", "MHz": "megahertz", "GHz": "gigahertz",
	"W": "watt", "mW": "milliwatt", "J": "joule", "mJ": "millijoule", "MJ": "megajoule",
	"s": "seconds", "sec": "seconds", "ms": "milliseconds", "ns": "nanoseconds",
	"us": "microseconds", "µs": "microseconds", "μs": "microseconds",
	"GB/s": "gb/s", "MB/s": "mb/s", "%": "percent", "percent": "percent",
}

// phrases are the units that a description names in words, in the order in which they are tried.
var phrases = sync.OnceValue(func() []wording {
	return []wording{
		{regexp.MustCompile(`(?i)` + inOr + `seconds?\b`), "seconds"},
		{regexp.MustCompile(`(?i)` + inOr + `(?:milliseconds?|ms)\b`), "milliseconds"},
		{regexp.MustCompile(`(?i)\bin\s+(?:microseconds?|us)\b`), "microseconds"},
		{regexp.MustCompile(`(?i)` + inOr + `(?:nanoseconds?|ns)\b`), "nanoseconds"},
		{regexp.MustCompile(`(?i)` + inOr + `bytes?\b`), "bytes"},
		{regexp.MustCompile(`(?i)` + inOr + `gb/s\b`), "gb/s"},
		{regexp.MustCompile(`(?i)` + inOr + `mb/s\b`), "mb/s"},
		{regexp.MustCompile(`(?i)` + inOr + `tokens?/s(?:ec(?:onds?)?)?\b`), "tokens/s"},
		{regexp.MustCompile(`(?i)` + inOr + `requests?/s(?:ec(?:onds?)?)?\b`), "requests/s"},
		{regexp.MustCompile(`(?i)\bin\s+tokens?\b`), "tokens"},
		// As vLLM describes what it looks up in its caches.
		{regexp.MustCompile(`(?i)\bin terms of number of \w+ tokens\b`), "tokens"},
		{regexp.MustCompile(`(?i)\bin terms of number of \w+ blocks\b`), "blocks"},
	}
})

// suffixes are the units that the end of a name means; the longest one counts.
var suffixes = map[string]string{
	"_seconds": "seconds", "_seconds_total": "seconds",
	"_milliseconds": "milliseconds", "_ms": "milliseconds", "_ms_total": "milliseconds",
	"_microseconds": "microseconds", "_us": "microseconds", "_us_total": "microseconds",
	"_nanoseconds": "nanoseconds", "_ns": "nanoseconds", "_ns_total": "nanoseconds",
	"_bytes": "bytes", "_bytes_total": "bytes",
	"_kilobytes": "kilobytes", "_megabytes": "megabytes", "_gigabytes": "gigabytes",
	"_tokens": "tokens", "_tokens_total": "tokens",
	"_requests": "requests", "_requests_total": "requests", "_reqs": "requests", "request_success": "requests",
	"_errors": "errors", "_errors_total": "errors", "_error_count": "errors", "_error_count_total": "errors",
	"_blocks": "blocks", "_blocks_total": "blocks", "_block_count": "blocks",
	"_total": "count", "_count": "count",
	"_gb_s": "gb/s", "_ratio": "ratio", "_percent": "percent", "_perc": "percent",
	"_celsius": "celsius", "_joules": "joule", "_watts": "watt",
	// Names of vLLM and Dynamo that say more behind the unit. A colon ends the prefix of the server: caches with another
	// name before theirs may count in other units.
	"_bytes_sent": "bytes", "_bytes_received": "bytes", "_bytes_per_gpu": "bytes",
	"_tokens_cached": "tokens", "_tokens_by_source": "tokens", "_tokens_cached_by_source": "tokens",
	"_tokens_per_pos": "tokens", ":prefix_cache_queries": "tokens", ":prefix_cache_hits": "tokens",
	":external_prefix_cache_queries": "tokens", ":external_prefix_cache_hits": "tokens",
	"_requests_started": "requests", "_blocks_lost": "blocks",
	// Gauges of SGLang, TensorRT-LLM and Dynamo whose names do not say the unit, or another one: the share of 100 % is a
	// ratio.
	":gen_throughput": "tokens/s", ":token_usage": "ratio", "_token_usage": "ratio", ":mamba_usage": "ratio",
	":cache_hit_rate": "ratio", "_cache_hit_rate": "ratio", "_kv_hit_rate": "ratio", ":spec_accept_rate": "ratio",
	":spec_accept_length": "tokens", "_kv_cache_utilization": "ratio", "_kv_cache_host_utilization": "ratio",
	"_kv_cache_iter_reuse_rate": "ratio", "gpu_cache_usage_percent": "ratio",
}

// InferUnit returns the unit of a metric by its exported name and its description, "" if neither names it. The
// scale in the description comes first, then its unit, then the end of the name.
func InferUnit(name, description string) string {
	for _, s := range scales() {
		if s.pattern.MatchString(description) {
			return s.unit
		}
	}
	if m := symbol().FindStringSubmatch(description); m != nil {
		if unit, ok := symbols[m[1]]; ok {
			return unit
		}
	}
	for _, p := range phrases() {
		if p.pattern.MatchString(description) {
			return p.unit
		}
	}
	name = strings.ToLower(name)
	longest, unit := 0, ""
	for suffix, u := range suffixes {
		if len(suffix) > longest && strings.HasSuffix(name, suffix) {
			longest, unit = len(suffix), u
		}
	}
	if unit == "" && strings.Contains(name, "num_requests_") {
		return "requests"
	}
	return unit
}
