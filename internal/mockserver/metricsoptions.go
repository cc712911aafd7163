package mockserver

import (
	"fmt"
	"strings"

	"aiperf/internal/base/scalar"
)

// SetMetricsFault sets the fault specification of the metrics pages.
func (o *Options) SetMetricsFault(v string) error {
	_, err := parseMetricsFault(v)
	o.MetricsFault = v
	return err
}

// SetBackend sets the server whose metrics are shown.
func (o *Options) SetBackend(v string) error {
	if backendNamed(v) == nil {
		return errBackend(v)
	}
	o.Backend = v
	return nil
}

// Backends lists the names that SetBackend knows.
func Backends() []string {
	names := make([]string, len(backends))
	for i, b := range backends {
		names[i] = b.name
	}
	return names
}

func errBackend(v string) error {
	return fmt.Errorf("%q is not a backend: %s", v, strings.Join(Backends(), ", "))
}

// SetMetricsPorts sets the ports of further pages from a comma list.
func (o *Options) SetMetricsPorts(v string) error {
	o.MetricsPorts = nil
	for _, item := range splitList(v) {
		port := 0
		if err := scalar.SetInt(&port, item, 0, 65535); err != nil {
			return err
		}
		o.MetricsPorts = append(o.MetricsPorts, port)
	}
	return nil
}
