package mockserver

import (
	"fmt"
	"strings"
)

func setMetricsFault(o *Options, v string) error {
	_, err := parseMetricsFault(v)
	o.MetricsFault = v
	return err
}

func setBackend(o *Options, v string) error {
	if backendNamed(v) == nil {
		return errBackend(v)
	}
	o.Backend = v
	return nil
}

func errBackend(v string) error {
	names := make([]string, len(backends))
	for i, b := range backends {
		names[i] = b.name
	}
	return fmt.Errorf("%q is not a backend: %s", v, strings.Join(names, ", "))
}

func setMetricsPorts(o *Options, v string) error {
	o.MetricsPorts = nil
	for _, item := range splitList(v) {
		port := 0
		if err := setInt(&port, item, 0, 65535); err != nil {
			return err
		}
		o.MetricsPorts = append(o.MetricsPorts, port)
	}
	return nil
}
