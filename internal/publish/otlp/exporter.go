package otlp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"aiperf/internal/publish/upload"
)

// connectTimeout bounds the opening of a connection to the collector.
const connectTimeout = 5 * time.Second

// exporter pushes what was collected, once; the stream repeats failed pushes.
type exporter struct {
	metric.Exporter
	// answers is nil for gRPC.
	answers *transport
}

// silence switches off the SDK's global logger: it prints variables that this program does not read, secrets included.
// A failed push returns an error.
var silence = sync.OnceFunc(func() {
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
})

func newExporter(t *collector, e *Environment, timeout time.Duration) (*exporter, error) {
	silence()
	if t.grpc {
		x, err := newGRPCExporter(t, e, timeout)
		return &exporter{Exporter: x}, err
	}
	return newHTTPExporter(t, e, timeout)
}

func newHTTPExporter(t *collector, e *Environment, timeout time.Duration) (*exporter, error) {
	w := newTransport(e.tls)
	options := []otlpmetrichttp.Option{
		// With its scheme, which otherwise the SDK's own variables would set.
		otlpmetrichttp.WithEndpointURL(t.url()), otlpmetrichttp.WithHeaders(t.headers),
		otlpmetrichttp.WithTimeout(timeout), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}),
		otlpmetrichttp.WithTemporalitySelector(e.temporality), otlpmetrichttp.WithAggregationSelector(e.aggregation),
		otlpmetrichttp.WithCompression(otlpmetrichttp.NoCompression),
		otlpmetrichttp.WithTLSClientConfig(nil), // the client below has its own
		otlpmetrichttp.WithHTTPClient(&http.Client{
			Transport: w, Timeout: timeout,
			CheckRedirect: upload.NoRedirects, // one would also turn the push into a GET
		}),
	}
	if e.compress {
		options = append(options, otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	}
	x, err := otlpmetrichttp.New(context.Background(), options...)
	return &exporter{x, w}, err
}

func newGRPCExporter(t *collector, e *Environment, timeout time.Duration) (metric.Exporter, error) {
	reconnect := backoff.DefaultConfig
	reconnect.MaxDelay = maxPause
	options := []otlpmetricgrpc.Option{
		otlpmetricgrpc.WithEndpoint(t.address), otlpmetricgrpc.WithHeaders(t.headers),
		otlpmetricgrpc.WithTimeout(timeout), otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{}),
		otlpmetricgrpc.WithTemporalitySelector(e.temporality), otlpmetricgrpc.WithAggregationSelector(e.aggregation),
		otlpmetricgrpc.WithDialOption(grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect,
			MinConnectTimeout: connectTimeout})),
	}
	if e.compress {
		options = append(options, otlpmetricgrpc.WithCompressor("gzip"))
	}
	if t.secure {
		options = append(options, otlpmetricgrpc.WithTLSCredentials(credentials.NewTLS(e.tls)))
	} else {
		// Not WithInsecure, over which a certificate of the SDK's own variables has priority.
		options = append(options, otlpmetricgrpc.WithTLSCredentials(insecure.NewCredentials()))
	}
	return otlpmetricgrpc.New(context.Background(), options...)
}

// close closes the connection.
func (x *exporter) close(ctx context.Context) error {
	err := x.Shutdown(ctx)
	if x.answers != nil {
		x.answers.CloseIdleConnections()
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// aggregation returns the aggregation of an instrument.
func (e *Environment) aggregation(kind metric.InstrumentKind) metric.Aggregation {
	if e.exponential && kind == metric.InstrumentKindHistogram {
		return metric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
	}
	return metric.DefaultAggregationSelector(kind)
}
