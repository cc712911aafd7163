package mockserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"

	"aiperf/internal/base/neterr"
	"aiperf/internal/mockserver/page"
)

// metricsPort is a page on a port of its own.
type metricsPort struct {
	page string
	ln   net.Listener
}

// Run listens as the options say, prints the addresses to stdout ("listening on http://HOST:PORT", https://HOST:PORT or
// unix:PATH, then "metrics PAGE on http://HOST:PORT/metrics" for each page on a port of its own) and serves until ctx
// ends.
func Run(ctx context.Context, o Options, stdout io.Writer) error {
	if o.Workers > 0 {
		runtime.GOMAXPROCS(o.Workers)
	}
	s, err := New(o)
	if err != nil {
		return err
	}
	ln, err := o.listen()
	if err != nil {
		return errors.Join(o.notListening("--port", o.Port, err), s.Close())
	}
	ports, err := s.listenMetrics()
	if err == nil {
		err = o.announce(stdout, ln, ports)
	}
	if err != nil {
		for _, p := range ports {
			p.ln.Close()
		}
		return errors.Join(err, ln.Close(), s.Close())
	}
	return s.serveAll(ctx, ln, ports)
}

// listenMetrics opens the ports of --metrics-ports.
func (s *Server) listenMetrics() (ports []metricsPort, err error) {
	pages, numbers := s.exporter.Ports(), s.opts.MetricsPorts
	switch {
	case len(numbers) == 1 && numbers[0] == 0:
		numbers = make([]int, len(pages))
	case len(numbers) > 0 && len(numbers) < len(pages):
		return nil, fmt.Errorf("--metrics-ports: %s has %d pages on ports of their own; give as many ports, or 0",
			cmp.Or(s.opts.Backend, page.Backends()[0]), len(pages))
	}
	for i, number := range numbers {
		ln, err := net.Listen("tcp", net.JoinHostPort(s.opts.Host, strconv.Itoa(number)))
		if err != nil {
			return ports, s.opts.notListening("--metrics-ports", number, err)
		}
		ports = append(ports, metricsPort{pages[i%len(pages)], ln})
	}
	return ports, nil
}

// listen opens the socket of inference.
func (o *Options) listen() (net.Listener, error) {
	if o.UnixSocket != "" {
		return net.Listen("unix", o.UnixSocket)
	}
	return net.Listen("tcp", net.JoinHostPort(o.Host, strconv.Itoa(o.Port)))
}

// notListening is the error of a port that could not be opened.
func (o *Options) notListening(flag string, port int, err error) error {
	if o.UnixSocket != "" {
		return fmt.Errorf("mock-server: --unix-socket: %w", err)
	}
	if neterr.ShortageOf(err) == neterr.Ports && port != 0 {
		return fmt.Errorf("mock-server: port %d of %s is in use: give another one with %s, or %[3]s 0 for a free one, which "+
			"is printed", port, o.Host, flag)
	}
	return fmt.Errorf("mock-server: %s %d: %w", flag, port, err)
}

func (o *Options) announce(stdout io.Writer, ln net.Listener, ports []metricsPort) error {
	address := "http://" + ln.Addr().String()
	switch {
	case o.UnixSocket != "":
		address = "unix:" + o.UnixSocket
	case o.TLSCert != "" || o.TLSMake != "":
		address = "https://" + ln.Addr().String()
	}
	_, err := fmt.Fprintf(stdout, "listening on %s\n", address)
	for _, p := range ports {
		if err == nil {
			_, err = fmt.Fprintf(stdout, "metrics %s on http://%s%s\n", p.page, p.ln.Addr(), page.Path)
		}
	}
	return err
}

// serveAll serves all ports until ctx ends or one of them fails.
func (s *Server) serveAll(ctx context.Context, ln net.Listener, ports []metricsPort) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, len(ports))
	for _, p := range ports {
		go func() {
			err := s.serveMetrics(ctx, p.ln, p.page)
			if err != nil {
				cancel()
			}
			failed <- err
		}()
	}
	errs := []error{s.Serve(ctx, ln)}
	cancel()
	for range ports {
		errs = append(errs, <-failed)
	}
	return errors.Join(errs...)
}
