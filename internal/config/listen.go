package config

import (
	"errors"
	"net"
	"strconv"
	"strings"
)

// parseListen reads HOST:PORT, :PORT or PORT, which is that of 127.0.0.1, and returns HOST:PORT.
func parseListen(address string) (string, error) {
	host, port := "127.0.0.1", address
	if strings.Contains(address, ":") {
		var err error
		if host, port, err = net.SplitHostPort(address); err != nil {
			return "", errors.New("give HOST:PORT, :PORT or PORT; an IPv6 host stands in brackets")
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", errors.New("the port is a number from 0 to 65535; give HOST:PORT, :PORT or PORT")
	}
	return net.JoinHostPort(host, port), nil
}

// checkListen reads the address of the live page.
func (d *draft) checkListen() {
	if !d.given("metrics-listen") {
		return
	}
	text := d.p.Text("metrics-listen")
	var err error
	if d.metricsListen, err = parseListen(text); err != nil {
		d.fault("", "%s %q is no address to listen on: %v", d.flag("metrics-listen"), shorten(text), err)
	}
}
