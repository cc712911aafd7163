package otlp

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"golang.org/x/net/http/httpguts"

	"aiperf/internal/base/pemfile"
)

// Environment holds the OTEL_ variables that this program reads. The form of a variable for metrics alone has priority.
type Environment struct {
	// grpc reports that the protocol is gRPC, for URLs without one.
	grpc        bool
	headers     map[string]string
	tls         *tls.Config
	compress    bool
	timeout     time.Duration // 0 = not given
	temporality metric.TemporalitySelector
	delta       bool
	exponential bool
	attributes  []attribute.KeyValue
}

// ReadEnvironment reads the OTEL_ variables. Its error names the variable.
func ReadEnvironment(lookup func(string) (string, bool)) (Environment, error) {
	e := Environment{headers: map[string]string{}, temporality: metric.CumulativeTemporalitySelector}
	r := environmentReader{lookup: lookup}
	r.read("PROTOCOL", e.setProtocol)
	r.readAll("HEADERS", e.addHeaders)
	r.read("COMPRESSION", e.setCompression)
	r.read("TIMEOUT", e.setTimeout)
	r.one("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", e.setTemporality)
	r.one("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", e.setAggregation)
	r.one("OTEL_RESOURCE_ATTRIBUTES", e.addAttributes)
	r.one("OTEL_SERVICE_NAME", func(name string) error {
		e.attributes = append(e.attributes, attribute.String("service.name", name))
		return nil
	})
	e.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	r.read("CERTIFICATE", e.setAuthority)
	var certificate, key string
	r.read("CLIENT_CERTIFICATE", func(path string) error { certificate = path; return nil })
	r.read("CLIENT_KEY", func(path string) error { key = path; return nil })
	if r.err == nil && (certificate != "" || key != "") {
		r.err = e.setIdentity(certificate, key)
	}
	return e, r.err
}

// Timeout returns the timeout of a push, own where the environment sets none.
func (e *Environment) Timeout(own time.Duration) time.Duration { return cmp.Or(e.timeout, own) }

// environmentReader reads variables and keeps the first error.
type environmentReader struct {
	lookup func(string) (string, bool)
	err    error
}

// one reads a variable; an empty one counts as not set.
func (r *environmentReader) one(name string, set func(string) error) bool {
	text, ok := r.lookup(name)
	if text = strings.TrimSpace(text); !ok || text == "" || r.err != nil {
		return false
	}
	if err := set(text); err != nil {
		r.err = fmt.Errorf("environment variable %s: %w", name, err)
	}
	return true
}

// read reads the form for metrics, else the general one.
func (r *environmentReader) read(name string, set func(string) error) {
	if !r.one("OTEL_EXPORTER_OTLP_METRICS_"+name, set) {
		r.one("OTEL_EXPORTER_OTLP_"+name, set)
	}
}

// readAll reads the general form and then that for metrics.
func (r *environmentReader) readAll(name string, set func(string) error) {
	r.one("OTEL_EXPORTER_OTLP_"+name, set)
	r.one("OTEL_EXPORTER_OTLP_METRICS_"+name, set)
}

func (e *Environment) setProtocol(text string) error {
	switch strings.ToLower(text) {
	case "grpc":
		e.grpc = true
	case "http/protobuf":
	default:
		return fmt.Errorf("%q is not supported; use grpc or http/protobuf", text)
	}
	return nil
}

// addHeaders has no error that repeats what it read: it may be secret.
func (e *Environment) addHeaders(text string) error {
	pairs, err := parsePairs(text)
	for _, p := range pairs {
		if !httpguts.ValidHeaderFieldName(p.name) || !httpguts.ValidHeaderFieldValue(p.value) {
			return errors.New("an item is not a valid header; write name=value,name=value")
		}
		e.headers[strings.ToLower(p.name)] = p.value
	}
	return err
}

func (e *Environment) setCompression(text string) error {
	switch strings.ToLower(text) {
	case "gzip":
		e.compress = true
	case "none":
	default:
		return fmt.Errorf("%q is not known; use gzip or none", text)
	}
	return nil
}

// maxTimeout bounds a push, and with it the end of a run.
const maxTimeout = time.Hour

func (e *Environment) setTimeout(text string) error {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 1 || ms > maxTimeout.Milliseconds() {
		return fmt.Errorf("%q is not a number of milliseconds from 1 to %d", text, maxTimeout.Milliseconds())
	}
	e.timeout = time.Duration(ms) * time.Millisecond
	return nil
}

func (e *Environment) setTemporality(text string) error {
	switch strings.ToLower(text) {
	case "cumulative":
	case "delta":
		e.temporality, e.delta = metric.DeltaTemporalitySelector, true
	case "lowmemory":
		e.temporality, e.delta = metric.LowMemoryTemporalitySelector, true
	default:
		return fmt.Errorf("%q is not known; use cumulative, delta or lowmemory", text)
	}
	return nil
}

func (e *Environment) setAggregation(text string) error {
	switch strings.ToLower(text) {
	case "explicit_bucket_histogram":
	case "base2_exponential_bucket_histogram":
		e.exponential = true
	default:
		return fmt.Errorf("%q is not known; use explicit_bucket_histogram or base2_exponential_bucket_histogram", text)
	}
	return nil
}

func (e *Environment) addAttributes(text string) error {
	pairs, err := parsePairs(text)
	for _, p := range pairs {
		e.attributes = append(e.attributes, attribute.String(p.name, p.value))
	}
	return err
}

func (e *Environment) setAuthority(path string) (err error) {
	e.tls.RootCAs, err = pemfile.Authorities(path)
	return err
}

func (e *Environment) setIdentity(certificate, key string) error {
	if certificate == "" || key == "" {
		return errors.New("environment variables OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and " +
			"OTEL_EXPORTER_OTLP_CLIENT_KEY: set both or none")
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("environment variables OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and "+
			"OTEL_EXPORTER_OTLP_CLIENT_KEY: %w", err)
	}
	e.tls.Certificates = []tls.Certificate{pair}
	return nil
}

type pair struct{ name, value string }

// parsePairs reads name=value,name=value with percent escapes. Its error does not repeat what may be secret.
func parsePairs(text string) ([]pair, error) {
	var list []pair
	for item := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		name, value, found := strings.Cut(item, "=")
		name, failedName := url.PathUnescape(strings.TrimSpace(name))
		value, failedValue := url.PathUnescape(strings.TrimSpace(value))
		if !found || name == "" || failedName != nil || failedValue != nil {
			return list, fmt.Errorf("item %d is not of the form name=value, with percent escapes", len(list)+1)
		}
		list = append(list, pair{name, value})
	}
	return list, nil
}
