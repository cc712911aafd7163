// Package parse turns the texts of options that have a grammar of their own into typed values: addresses, service
// levels, mixes of lengths, rate series, telemetry items, API keys.
//
// Its functions see one text. They know neither the option's name nor other options: their errors say what is wrong
// with the text, and the caller names the flag. Errors never repeat secrets.
//
// Two parts of configuration files are read here, too, as they have several forms: distributions ([Distribution]), and
// the search for a load in a phase ([Adaptive]): the block adaptive_scale, the flat keys that say the same, and the
// limits under sla. What these mean together with the rest of the phase is checked once the phase is resolved
// ([CheckAdaptive]). Keys must be in snake case; all faults are reported, with the node they are about.
package parse

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/pattern"
	"aiperf/internal/config/fault"
)

var Schemed = pattern.New(`^[A-Za-z][A-Za-z0-9+.\-]*://`)

// WithScheme puts http:// in front of a URL that has no scheme.
func WithScheme(text string) string {
	if Schemed.MatchString(text) {
		return text
	}
	return "http://" + text
}

// SchemeOf is the scheme of a URL as the user wrote it, in lower case.
func SchemeOf(text string) string {
	scheme, _, _ := strings.Cut(WithScheme(text), "://")
	return strings.ToLower(scheme)
}

// IsGRPC reports whether requests to a URL are calls of gRPC.
func IsGRPC(text string) bool { s := SchemeOf(text); return s == "grpc" || s == "grpcs" }

// IsLoopback reports whether a URL names this machine.
func IsLoopback(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

// Confidential reports whether what is sent to an address is encrypted or stays on this machine.
func Confidential(text string) bool {
	u, err := url.Parse(WithScheme(text))
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "https", "grpcs", "tls", "wss":
		return true
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// CheckURL checks the address of a server.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil: // the parser's own error would repeat the URL, secrets included
		return fmt.Errorf("this is not a URL; write http://host:port")
	case !slices.Contains([]string{"http", "https", "grpc", "grpcs"}, strings.ToLower(u.Scheme)):
		return fmt.Errorf("the scheme must be http, https, grpc or grpcs")
	case u.Hostname() == "":
		return fmt.Errorf("the URL has no host; write http://host:port")
	case !inPortRange(u.Port()):
		return fmt.Errorf("the port must be between 1 and 65535")
	}
	return nil
}

// inPortRange reports whether text is the number of a port, or nothing.
func inPortRange(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

// itemURL is the URL that a list item means: it starts with http or contains a colon that is not a drive's.
func itemURL(item string) (string, bool) {
	switch {
	case strings.HasPrefix(item, "http://") || strings.HasPrefix(item, "https://"):
		return item, true
	case strings.HasPrefix(item, "http") || strings.Contains(item, ":") && !onDrive(item):
		return "http://" + item, true
	}
	return "", false
}

// onDrive reports whether a text is a path that begins with a drive of Windows, such as C:\runs: no host and port.
func onDrive(text string) bool {
	rest := text[len(filepath.VolumeName(text)):]
	return rest != "" && rest != text && os.IsPathSeparator(rest[0])
}

// ServerMetricsURLs reads the items of --server-metrics.
func ServerMetricsURLs(items []string) ([]string, error) {
	var urls []string
	for _, item := range items {
		url, ok := itemURL(item)
		if !ok {
			return nil, fmt.Errorf("%s is not a URL; write host:port or http://host:port/metrics", fault.Shorten(item))
		}
		url = strings.TrimRight(url, "/")
		if !strings.HasSuffix(url, "/metrics") {
			url += "/metrics"
		}
		urls = append(urls, url)
	}
	return urls, nil
}

// SourceAddresses reads the items of --source-address.
func SourceAddresses(items []string) ([]netip.Addr, error) {
	var list []netip.Addr
	seen := map[netip.Addr]bool{}
	for _, item := range items {
		a, err := netip.ParseAddr(item)
		a = a.Unmap()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s is not an IP address; write for example 192.0.2.10", fault.Shorten(item))
		case a.IsUnspecified() || a.IsMulticast():
			return nil, fmt.Errorf("%s is not the address of a machine", a)
		case seen[a]:
			return nil, fmt.Errorf("%s is given twice", a)
		}
		seen[a] = true
		list = append(list, a)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("it needs at least one IP address of this machine")
	}
	return list, nil
}

// Listen reads HOST:PORT, :PORT or PORT, which is that of 127.0.0.1, and returns HOST:PORT.
func Listen(address string) (string, error) {
	host, port := "127.0.0.1", address
	if strings.Contains(address, ":") {
		var err error
		if host, port, err = net.SplitHostPort(address); err != nil {
			return "", errors.New("give HOST:PORT, :PORT or PORT; write an IPv6 host in brackets")
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", errors.New("the port is a number from 0 to 65535; give HOST:PORT, :PORT or PORT")
	}
	return net.JoinHostPort(host, port), nil
}
