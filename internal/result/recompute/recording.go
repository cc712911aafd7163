package recompute

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"aiperf/internal/base/bounded"
	"aiperf/internal/watch/prom"
	"aiperf/internal/watch/servermetrics"
	"aiperf/internal/watch/servermetrics/export"
)

// maxLine is the longest line that is read.
const maxLine = 512 << 20

// Recording is a file of scrapes while it is read.
type Recording struct {
	path    string
	sidecar *export.Sidecar // nil for a bare recording
	types   map[string]prom.Type
	// repeats allows scrapes without samples where they equal the previous scrape. That works only if nothing else
	// adds scrapes of the same endpoints.
	repeats   bool
	endpoints map[string]*endpoint
	warn      func(string)
	scan      scanner
}

// OpenRecording opens a recording and reads its sidecar, if there is one. With repeats, scrapes that equal the previous
// one of their endpoint have no samples: that is right where nothing else adds scrapes of the same endpoints. The types
// of o and its Warn, which must be set, are used.
func OpenRecording(path string, o *Options, repeats bool) (*Recording, error) {
	r := &Recording{path: path, types: o.Types, repeats: repeats, endpoints: map[string]*endpoint{}, warn: o.Warn}
	sidecar := export.SidecarPath(path)
	data, err := bounded.ReadFile(sidecar)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if r.sidecar, err = export.ParseSidecar(data); err != nil {
		return nil, fmt.Errorf("%s: %w", sidecar, err)
	}
	for i := range r.sidecar.Endpoints {
		e := &r.sidecar.Endpoints[i]
		r.endpoints[e.URL] = newEndpoint(e, r.types)
	}
	return r, nil
}

// Sink takes the scrapes of recordings.
type Sink func(url string, s servermetrics.Scrape)

// Read passes all scrapes to a sink; their samples are valid during the call.
func (r *Recording) Read(ctx context.Context, to Sink) error {
	file, err := bounded.Open(r.path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(bounded.NewLines(file, bounded.MaxLine, ""), 256<<10)
	var buf []byte
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, whole, err := readLine(in, &buf)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", r.path, n, err)
		}
		if len(line) == 0 && !whole {
			return nil
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := r.line(line, to); err != nil {
			if !whole {
				r.warn(fmt.Sprintf("%s:%d: the last line is incomplete and is ignored", r.path, n))
				return nil
			}
			return fmt.Errorf("%s:%d: %w", r.path, n, err)
		}
	}
}

// readLine reads a line; whole reports whether it ends with a newline. buf is reused for long lines.
func readLine(in *bufio.Reader, buf *[]byte) (line []byte, whole bool, err error) {
	*buf = (*buf)[:0]
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case err == nil && len(*buf) == 0:
			return part[:len(part)-1], true, nil
		case err == nil:
			*buf = append(*buf, part[:len(part)-1]...)
			return *buf, true, nil
		case errors.Is(err, io.EOF):
			*buf = append(*buf, part...)
			return *buf, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
		if len(*buf)+len(part) > maxLine {
			return nil, false, fmt.Errorf("the line is longer than %d MiB", maxLine>>20)
		}
		*buf = append(*buf, part...)
	}
}

// line reads one scrape.
func (r *Recording) line(text []byte, to Sink) error {
	var scrape servermetrics.Scrape
	var url, metrics []byte
	s := &r.scan
	*s = newScanner(text, 0)
	metricsAt := 0
	phase := servermetrics.PhaseID{Index: -1, Profiling: -1}
	for key := range s.Members() {
		switch string(key) {
		case "endpoint_url":
			url = s.str()
		case "timestamp_ns":
			scrape.TimestampNS = s.integer()
		case "endpoint_latency_ns":
			scrape.LatencyNS = s.integer()
		case "request_sent_ns":
			scrape.RequestSentNS = s.integer()
		case "first_byte_ns":
			scrape.FirstByteNS = s.integer()
		case "phase_index":
			phase.Index = int(s.integer())
		case "profiling_index":
			phase.Profiling = int(s.integer())
		case "phase_name":
			phase.Name = string(s.str())
		case "phase_kind":
			phase.Kind = string(s.str())
		case "metrics":
			s.Peek()
			metricsAt = s.At
			metrics = s.skip()
		default:
			s.skip()
		}
	}
	s.End()
	switch err := s.fault(); {
	case err != nil:
		return err
	case len(url) == 0:
		return errors.New("no endpoint_url: is this a server metrics recording?")
	case scrape.TimestampNS == 0:
		return errors.New("no timestamp_ns: is this a server metrics recording?")
	case len(metrics) == 0 || metrics[0] != '{':
		return errors.New("no metrics: is this a server metrics recording?")
	}
	if phase.Index >= 0 {
		scrape.Phase = &phase
	}
	e := r.endpoints[string(url)]
	if e == nil {
		e = newEndpoint(&export.Endpoint{URL: string(url)}, r.types)
		r.endpoints[e.described.URL] = e
	}
	*s = newScanner(text, metricsAt)
	if err := e.scrape(s, metrics, &scrape); err != nil {
		return err
	}
	if scrape.Duplicate && r.repeats {
		scrape.Samples = nil
	}
	to(e.described.URL, scrape)
	return nil
}
