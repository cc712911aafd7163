package prom

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/artifact"
	"aiperf/internal/base/neterr"
)

// Limits of a fetch that are not options.
const (
	// defaultMaxBody is the largest page that is read, in bytes after decompression.
	defaultMaxBody = 64 << 20
	maxRedirects   = 10
	maxHeader      = 1 << 20
	// drainLimit is what is read of an answer that is of no use, to keep its connection.
	drainLimit = 1 << 20
	drainTime  = time.Second
)

// FetchOptions shape a Fetcher. Zero values stand for the documented defaults, except that SSLVerify
// must be asked for.
type FetchOptions struct {
	// ReachabilityTimeout bounds a probe as a whole and the connecting of a fetch; 0 = 10 s.
	ReachabilityTimeout time.Duration
	// ReadTimeout is the longest gap in an answer; 0 = 30 s.
	ReadTimeout time.Duration
	// MaxBody is the largest page in bytes after decompression; 0 = defaultMaxBody.
	MaxBody int64
	// SSLVerify checks server certificates, against RootCAs if set, else against the system's roots.
	SSLVerify bool
	RootCAs   *x509.CertPool
	// Certificates prove the client's identity to servers that ask for it.
	Certificates []tls.Certificate
	// IPVersion is "4", "6" or "auto"; "" = "4". Addresses given as numbers are always used.
	IPVersion string
	// Proxy names the proxy for a request, nil for none.
	Proxy func(*http.Request) (*url.URL, error)
	// UserAgent is sent with each request; "" = "aiperf".
	UserAgent string
	// Dial replaces the opening of connections; nil = the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// WallNS is the wall clock of an instant, Unix nanoseconds; nil = the system's. A run gives its own, which no
	// step of the system's clock moves.
	WallNS func(time.Time) int64
	// Redactor hides secrets in a page, see [RedactPage].
	Redactor *artifact.Redactor
}

// networks are the networks of the IP versions.
var networks = map[string]string{"4": "tcp4", "6": "tcp6", "auto": "tcp"}

// Fetcher gets metrics pages. It keeps connections alive and is safe for concurrent use.
type Fetcher struct {
	options FetchOptions
	client  *http.Client
	inflate sync.Pool // of *gzip.Reader
}

// Body is one page and its times.
type Body struct {
	Text        []byte
	ContentType string
	// RequestSentNS is the wall clock when the request started; FirstByteNS is that plus the time to
	// the first chunk of the body, 0 if there was none; LatencyNS is the time to the end of the body.
	RequestSentNS, FirstByteNS, LatencyNS int64
}

// OpenMetrics reports whether the page declares itself OpenMetrics.
func (b *Body) OpenMetrics() bool {
	return hasPrefixFold(b.ContentType, "application/openmetrics-text")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// NewFetcher returns a fetcher. It fails on an unknown IP version.
func NewFetcher(o FetchOptions) (*Fetcher, error) {
	if o.ReachabilityTimeout <= 0 {
		o.ReachabilityTimeout = 10 * time.Second
	}
	if o.ReadTimeout <= 0 {
		o.ReadTimeout = 30 * time.Second
	}
	if o.MaxBody <= 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.IPVersion == "" {
		o.IPVersion = "4"
	}
	if o.UserAgent == "" {
		o.UserAgent = "aiperf"
	}
	network, ok := networks[o.IPVersion]
	if !ok {
		return nil, fmt.Errorf("IP version %q: choose 4, 6 or auto", o.IPVersion)
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.WallNS == nil {
		o.WallNS = time.Time.UnixNano
	}
	f := &Fetcher{options: o}
	transport := &http.Transport{
		Proxy: o.Proxy,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return f.dial(ctx, network, address)
		},
		TLSClientConfig: &tls.Config{
			RootCAs:            o.RootCAs,
			Certificates:       o.Certificates,
			InsecureSkipVerify: !o.SSLVerify, //nolint:gosec // the user asked for it
			MinVersion:         tls.VersionTLS12,
		},
		TLSHandshakeTimeout:    o.ReachabilityTimeout,
		ResponseHeaderTimeout:  o.ReadTimeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // done here, with a bound on what comes out
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        300 * time.Second,
	}
	f.client = &http.Client{Transport: transport, CheckRedirect: followRedirect}
	return f, nil
}

// Close closes the idle connections.
func (f *Fetcher) Close() { f.client.CloseIdleConnections() }

func (f *Fetcher) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if host, _, err := net.SplitHostPort(address); err == nil {
		if _, err := netip.ParseAddr(host); err == nil {
			network = "tcp"
		}
	}
	ctx, cancel := context.WithTimeout(ctx, f.options.ReachabilityTimeout)
	defer cancel()
	return f.options.Dial(ctx, network, address)
}

// followRedirect lets a redirect go on to http and https only, takes the credentials of the URL along
// within its origin, and does not tell a server where the redirect came from.
func followRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return &Error{Type: neterr.Redirects, Message: fmt.Sprintf("stopped after %d redirects", maxRedirects)}
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return &Error{Type: typeRedirectScheme,
			Message: fmt.Sprintf("redirect to a %q URL is not followed", req.URL.Scheme)}
	}
	req.Header.Del("Referer")
	first := via[0].URL
	if req.URL.User == nil && req.URL.Scheme == first.Scheme && req.URL.Host == first.Host {
		req.URL.User = first.User
	}
	return nil
}

// Probe reports whether an endpoint answers a GET, redirects followed, with status 200 in time.
func (f *Fetcher) Probe(ctx context.Context, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, f.options.ReachabilityTimeout)
	defer cancel()
	resp, err := f.get(ctx, endpoint)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		err = statusError(resp.StatusCode)
	}
	drain(resp.Body, cancel)
	return err
}

// drain reads a little of a body that is of no use, so that its connection can serve again.
func drain(body io.ReadCloser, cancel func()) {
	timer := time.AfterFunc(drainTime, cancel)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, drainLimit)
	_ = body.Close()
}

// Fetch gets a page; its text is in buf, as far as that has room. Its error is a *ContentTypeError if the answer
// declares itself JSON, else an *Error; both are errors for which the next scrape may do better.
func (f *Fetcher) Fetch(ctx context.Context, endpoint string, buf []byte) (Body, error) {
	start := time.Now()
	b := Body{RequestSentNS: f.options.WallNS(start)}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := f.get(ctx, endpoint)
	if err != nil {
		return b, err
	}
	b.ContentType = resp.Header.Get("Content-Type")
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		drain(resp.Body, func() { cancel(nil) })
		return b, statusError(resp.StatusCode)
	case hasPrefixFold(strings.TrimSpace(b.ContentType), "application/json"):
		_ = resp.Body.Close()
		return b, &ContentTypeError{URL: RedactURL(endpoint), ContentType: b.ContentType}
	}
	chunks := &chunkReader{body: resp.Body, gap: f.options.ReadTimeout}
	chunks.timer = time.AfterFunc(chunks.gap, func() { cancel(errGap) })
	b.Text, err = f.read(chunks, resp.Header.Values("Content-Encoding"), buf)
	chunks.timer.Stop()
	_ = resp.Body.Close()
	end := time.Now()
	b.LatencyNS = end.Sub(start).Nanoseconds()
	if !chunks.first.IsZero() {
		b.FirstByteNS = b.RequestSentNS + chunks.first.Sub(start).Nanoseconds()
	}
	if err != nil {
		b.Text = nil
		return b, f.describeRead(ctx, endpoint, err)
	}
	b.Text = RedactPage(b.Text, f.options.Redactor)
	return b, nil
}

// get sends the request and returns the answer to the last redirect.
func (f *Fetcher) get(ctx context.Context, endpoint string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		message := fmt.Sprintf("%q is not an http or https URL", RedactURL(endpoint))
		return nil, &Error{Type: neterr.Value, Message: message}
	}
	req.Header.Set("User-Agent", f.options.UserAgent)
	req.Header.Set("Accept", "text/plain;version=0.0.4, */*;q=0.1")
	req.Header.Set("Accept-Encoding", "gzip, deflate")
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, f.describeRequest(ctx, endpoint, err)
	}
	return resp, nil
}

// read reads a body to its end, decompressed, up to the largest size.
func (f *Fetcher) read(chunks io.Reader, encodings []string, buf []byte) ([]byte, error) {
	body, release, err := f.decode(chunks, encodings)
	if err != nil {
		return nil, err
	}
	defer release()
	out := bytes.NewBuffer(buf[:0])
	n, err := out.ReadFrom(io.LimitReader(body, f.options.MaxBody+1))
	if err == nil && n > f.options.MaxBody {
		err = fmt.Errorf("the page is larger than %d bytes", f.options.MaxBody)
	}
	return out.Bytes(), err
}

// errGap is the cause of a body that was cut off because nothing came for too long.
var errGap = errors.New("read gap")

// chunkReader stamps the first chunk of a body and expects each within a gap of the one before.
type chunkReader struct {
	body  io.Reader
	gap   time.Duration
	timer *time.Timer
	first time.Time
}

func (c *chunkReader) Read(p []byte) (int, error) {
	n, err := c.body.Read(p)
	if n > 0 {
		if c.first.IsZero() {
			c.first = time.Now()
		}
		c.timer.Reset(c.gap)
	}
	return n, err
}
