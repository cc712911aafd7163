package run

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/config"
	"aiperf/internal/result/report"
	"aiperf/internal/wire/client"
	"aiperf/internal/wire/control"
)

// networkWatch knows the network's round trip: as given, or by probes alongside the load.
type networkWatch struct {
	passive
	*target
	prober *control.Prober
	file   *report.NetworkLatency
	// rtt is the round trip, nil as long as it is not known.
	rtt *time.Duration
}

// newNetworkWatch makes the probes ready.
func newNetworkWatch(t *target) (*networkWatch, error) {
	n, env := &t.cfg.Network, &t.cfg.Env.Network
	w := &networkWatch{target: t}
	if !n.Automatic {
		return w, nil
	}
	probes, err := client.NewProber(t.clientOptions(1), t.clock)
	if err != nil {
		return nil, err
	}
	w.file, err = report.OpenNetworkLatency(t.cfg.Artifacts.Path(config.NetworkLatencyJSONL),
		artifact.LinesOptions{FlushInterval: t.cfg.Env.Metrics.ExportFlushInterval})
	if err != nil {
		return nil, err
	}
	w.prober = control.NewProber(control.RoundTripOptions{
		Targets:  servers(t.urls),
		Interval: n.Interval, Timeout: env.ConnectTimeout, MinSamples: env.MinSamples, TopUp: env.TopUpTimeout,
		Connect: func(ctx context.Context, target string) (control.RoundTripProbe, error) {
			h, err := probes.Handshake(ctx, overHTTP(target))
			return control.RoundTripProbe{Remote: h.Remote.String(), RTT: h.RTT, Kernel: h.Kernel}, err
		},
		Sample: w.write,
		Warn:   func(message string) { t.log.Warn(t.redactor.Text(message)) },
	})
	return w, nil
}

// overHTTP is the URL of a server with the scheme of HTTP that opens the same connections.
func overHTTP(target string) string {
	for grpc, http := range map[string]string{"grpc://": "http://", "grpcs://": "https://"} {
		if len(target) > len(grpc) && strings.EqualFold(target[:len(grpc)], grpc) {
			return http + target[len(grpc):]
		}
	}
	return target
}

// servers are the different servers behind URLs, each as a URL without secrets and path.
func servers(urls []string) []string {
	var list []string
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			continue // refused before
		}
		server := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
		if !slices.Contains(list, server) {
			list = append(list, server)
		}
	}
	return list
}

// hostPort returns the host and the port that a connection to a server goes to.
func hostPort(target string) (host string, port int64) {
	u, err := url.Parse(overHTTP(target))
	if err != nil {
		return "", 0 // refused before
	}
	if port, err = strconv.ParseInt(u.Port(), 10, 64); err == nil {
		return u.Hostname(), port
	}
	if strings.EqualFold(u.Scheme, "https") {
		return u.Hostname(), 443
	}
	return u.Hostname(), 80
}

// roundTrip returns the round trip, nil as long as it is not known.
func (w *networkWatch) roundTrip() *time.Duration {
	if w == nil {
		return nil
	}
	return w.rtt
}

func (w *networkWatch) write(s control.RoundTripSample) {
	line := report.NetworkProbe{URL: s.Target, Remote: s.Remote, StartNS: s.At.UnixNano(), RTTNS: int64(s.RTT),
		Source: "client"}
	line.Host, line.Port = hostPort(s.Target)
	if s.Kernel {
		line.Source = "kernel"
	}
	if s.Err != nil {
		line.Error = s.Err.Error()
	}
	w.file.Add(&line)
}

// begin starts to probe.
func (w *networkWatch) begin() {
	if w.prober != nil {
		w.prober.Start()
	}
}

// stop ends the probing. From then on the run knows the round trip, if it came to be known.
func (w *networkWatch) stop() error {
	if w.prober == nil {
		w.rtt = w.cfg.Network.Mean
		return nil
	}
	if mean, ok := w.prober.Finish(context.Background()); ok {
		w.rtt = &mean
	}
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("the probes of the network could not be written: %w", err)
	}
	return nil
}

// close ends the probing of a run that has no results.
func (w *networkWatch) close() {
	if w.prober != nil {
		w.prober.Close()
		_ = w.file.Close() // nobody asks for probes without results
	}
}
