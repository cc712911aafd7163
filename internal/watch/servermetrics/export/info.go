package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
)

// Versions of the published layouts.
const (
	jsonVersion   = "1.1"
	schemaVersion = "1.0" // of CSV and Parquet
)

// Info is what the files contain about a run besides its samples.
type Info struct {
	AIPerfVersion string
	// BenchmarkID is left out of the files if empty.
	BenchmarkID string
	// CLICommand is the command line of the run, without secrets; left out of the files if empty.
	CLICommand string
	// Configured are the URLs of all endpoints in the order of the configuration, Successful those that were
	// reachable; normalised and redacted, as the store shows them.
	Configured, Successful []string
	// Window is the profiling phase: its start and the end of its last request.
	Window servermetrics.Window
	// Warmup is from the start of the warm-up to the scrape at its end; zero without a warm-up.
	Warmup      servermetrics.Window
	InputConfig artifact.Object
	Models      []string
	// Concurrency and RequestRate are nil when unset.
	Concurrency *int
	RequestRate *float64
	ExportTime  time.Time
	Hostname    string
	// SliceNS and Bounds are the settings that the results were computed with.
	SliceNS int64
	Bounds  bool
	// Location is the zone of the start time, EndLocation that of the end time where daylight saving began or
	// ended in between. nil means this machine's, and as Location.
	Location, EndLocation *time.Location
	// RuntimeVersion and ParquetVersion name the software that wrote the Parquet file; empty means this one.
	RuntimeVersion, ParquetVersion string
}

// settings returns what the results have to be computed with.
func (i *Info) settings() servermetrics.Settings {
	return servermetrics.Settings{Phase: i.Window, SliceNS: i.SliceNS, Bounds: i.Bounds}
}

func (i *Info) startLocation() *time.Location {
	if i.Location == nil {
		return time.Local
	}
	return i.Location
}

func (i *Info) endLocation() *time.Location {
	if i.EndLocation == nil {
		return i.startLocation()
	}
	return i.EndLocation
}

func (i *Info) runtimeVersion() string {
	if i.RuntimeVersion != "" {
		return i.RuntimeVersion
	}
	return runtime.Version()
}

const parquetModule = "github.com/parquet-go/parquet-go"

func (i *Info) parquetVersion() string {
	if i.ParquetVersion != "" {
		return i.ParquetVersion
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range build.Deps {
			if m.Path == parquetModule {
				return "parquet-go " + m.Version
			}
		}
	}
	return "parquet-go"
}

// localTime returns an instant as the files print it: ISO 8601 without zone, microseconds, none if they are zero.
func localTime(ns int64, zone *time.Location) string {
	t := time.Unix(0, ns).In(zone)
	if t.Nanosecond() < 1000 {
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format("2006-01-02T15:04:05.000000")
}

// Collection is a finished collection: what all exporters read.
type Collection struct {
	Store   *servermetrics.Store
	Results *servermetrics.Results
	// Warmup are the statistics of the warm-up; nil where there was none or it has no scrape.
	Warmup *servermetrics.Results
	Info   Info
}

// NewRun computes the statistics of a collection that is over.
func NewRun(store *servermetrics.Store, info Info) *Collection {
	r := &Collection{Store: store, Info: info, Results: servermetrics.Compute(store, info.settings())}
	if w := info.Warmup; w.EndNS > w.StartNS {
		r.Warmup = r.Within(w)
	}
	return r
}

// Within computes the statistics of a window that nothing after it belongs to; nil where no scrape lies in it.
func (r *Collection) Within(w servermetrics.Window) *servermetrics.Results {
	if r.Store.LastScrape(w.EndNS) < w.StartNS {
		return nil
	}
	settings := r.Info.settings()
	settings.Phase, settings.Closed = w, true
	return servermetrics.Compute(r.Store, settings)
}

// empty reports whether no endpoint delivered anything: then there are no files.
func (r *Collection) empty() bool { return len(r.Store.Endpoints()) == 0 }

// Exporter writes one file when the run is over.
type Exporter interface {
	// Name returns what messages call the file.
	Name() string
	// Target returns the file's path.
	Target() string
	// Export writes the file as a whole or not at all. Without anything to write it leaves no file.
	Export(ctx context.Context) error
}

// errNoRows is the error of an exporter that found nothing to write where others did: a warning, not a failure.
var errNoRows = errors.New("no samples within the measurement window")

// All runs the exporters in their order. One that fails does not stop the others; done hears of each file that
// was written and warn of each that had nothing to hold; the error joins all failures.
func All(ctx context.Context, exporters []Exporter, done func(Exporter), warn func(message string)) error {
	var errs []error
	for _, e := range exporters {
		err := e.Export(ctx)
		switch {
		case errors.Is(err, errNoRows):
			warn(fmt.Sprintf("%s not written: %v", e.Name(), err))
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", e.Name(), err))
		default:
			if _, err := os.Stat(e.Target()); err == nil {
				done(e)
			}
		}
	}
	return errors.Join(errs...)
}

// isInfo reports whether a family carries its message in its labels.
func isInfo(f *prom.Family) bool {
	return (f.Type == prom.Gauge || f.Type == prom.Unknown) && strings.HasSuffix(f.Name, "_info")
}

// shortEndpoint returns a URL without its scheme and the usual path.
func shortEndpoint(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	return strings.TrimSuffix(url, "/metrics")
}
