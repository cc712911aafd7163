package client

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"aiperf/internal/measure/record"
)

// Reuse is a connection strategy.
type Reuse string

// The connection strategies.
const (
	// ReusePooled shares one keep-alive pool among all requests.
	ReusePooled Reuse = "pooled"
	// ReuseNever opens a connection for each request and closes it afterwards.
	ReuseNever Reuse = "never"
	// ReuseSticky keeps one connection for each session until its final turn, an error or a cancellation.
	ReuseSticky Reuse = "sticky-user-sessions"
)

// Options shape every exchange of a Client. Start from DefaultOptions: zero means zero here.
type Options struct {
	Reuse Reuse
	// Workers is the number of logical workers; 0 counts as 1.
	Workers int
	// ConnectionLimit bounds the exchanges that hold a connection, per worker; more wait.
	ConnectionLimit int
	// ConnectLimit bounds the connections that are being opened at a time, so that a server's queue of
	// those it has not yet accepted does not overflow; more wait. 0 = no bound.
	ConnectLimit int
	// Timeout is the total time of an exchange, from pool wait to last byte; 0 = none.
	Timeout time.Duration
	// ConnectTimeout bounds the opening of a socket to one address, and again the TLS handshake; 0 leaves both to
	// Timeout and the system.
	ConnectTimeout time.Duration
	// CancelSendTimeout bounds the sending of a request that is to be cancelled, when there is no Timeout.
	CancelSendTimeout time.Duration
	// KeepAliveTimeout is the life of an idle connection; 0 keeps none.
	KeepAliveTimeout time.Duration
	// ForceClose closes the connection after every exchange, whatever the strategy.
	ForceClose bool

	// IPVersion is "4", "6" or "auto".
	IPVersion string
	// Sources are the addresses of this machine that connections start from, in turn; none leaves the
	// choice to the system.
	Sources []netip.Addr
	// UseDNSCache keeps addresses for DNSCacheTTL.
	UseDNSCache bool
	DNSCacheTTL time.Duration

	// RcvBuf and SndBuf are the socket buffers in bytes, set before connect; 0 leaves the system's.
	RcvBuf, SndBuf            int
	TCPKeepIdle, TCPKeepIntvl time.Duration
	TCPKeepCnt                int
	// TCPUserTimeout ends a connection whose sent data stays unacknowledged that long (Linux).
	TCPUserTimeout time.Duration

	// SSLVerify checks server certificates, against RootCAs if set, else against the system's roots.
	SSLVerify bool
	RootCAs   *x509.CertPool
	// Certificates prove the client's own identity to servers that ask for it.
	Certificates []tls.Certificate
	// UnixSocket is the path of the socket through which every connection goes; "" = TCP.
	UnixSocket string
	// HTTP2 speaks HTTP/2 and nothing else: over TLS where the URL says https, in clear text otherwise.
	HTTP2 bool
	// Sign adds the headers that prove the request's author to a request whose other headers and body are
	// as they will be sent; nil signs nothing. A client that signs follows no redirects.
	Sign func(method string, u *url.URL, headers []record.Header, body []byte) ([]record.Header, error)
	// Proxy names the proxy for a request, nil for none; ProxyFromEnvironment honours HTTP_PROXY,
	// HTTPS_PROXY and NO_PROXY.
	Proxy func(*http.Request) (*url.URL, error)

	// TimestampSource is where the instants of responses come from.
	TimestampSource TimestampSource

	// MaxBody bounds the memory that one response may take: a body that is not a stream, or one
	// event of a stream. A larger one is a ClientPayloadError, as is a stream of maxStreamed times as much;
	// a compressed one is bounded in the same way before and after its decoding.
	// Of a refusal's body much less is kept.
	MaxBody int64
}

// ProxyFromEnvironment is the Options.Proxy of a client that trusts its environment, as it was when a
// proxy was first looked for.
func ProxyFromEnvironment(r *http.Request) (*url.URL, error) { return http.ProxyFromEnvironment(r) }

// DefaultOptions are the documented defaults of the AIPERF_HTTP_* settings and of the request timeout.
func DefaultOptions() Options {
	return Options{
		Reuse:             ReusePooled,
		Workers:           1,
		ConnectionLimit:   2500,
		ConnectLimit:      512,
		Timeout:           21600 * time.Second,
		ConnectTimeout:    30 * time.Second,
		CancelSendTimeout: 300 * time.Second,
		KeepAliveTimeout:  300 * time.Second,
		IPVersion:         "4",
		UseDNSCache:       true,
		DNSCacheTTL:       300 * time.Second,
		RcvBuf:            10 << 20,
		SndBuf:            10 << 20,
		TCPKeepIdle:       60 * time.Second,
		TCPKeepIntvl:      30 * time.Second,
		TCPKeepCnt:        1,
		TCPUserTimeout:    30 * time.Second,
		SSLVerify:         true,
		TimestampSource:   TimestampAuto,
		MaxBody:           256 << 20,
	}
}

// check returns the first option that is not valid. Flags were checked before; this is for other callers.
func (o *Options) check() error {
	switch o.Reuse {
	case ReusePooled, ReuseNever, ReuseSticky:
	default:
		return fmt.Errorf("connection reuse strategy %q: choose %s, %s or %s", o.Reuse, ReusePooled, ReuseNever,
			ReuseSticky)
	}
	if _, ok := networks[o.IPVersion]; !ok {
		return fmt.Errorf("IP version %q: choose 4, 6 or auto", o.IPVersion)
	}
	switch o.TimestampSource {
	case TimestampAuto, TimestampKernel, TimestampUser:
	default:
		return fmt.Errorf("timestamp source %q: choose %s, %s or %s", o.TimestampSource, TimestampAuto, TimestampKernel,
			TimestampUser)
	}
	if o.ConnectionLimit < 1 {
		return fmt.Errorf("connection limit %d: must be at least 1", o.ConnectionLimit)
	}
	for _, a := range o.Sources {
		if err := CheckSource(a); err != nil {
			return err
		}
	}
	if o.MaxBody < 1 {
		return fmt.Errorf("largest response body %d: must be at least 1 byte", o.MaxBody)
	}
	return nil
}
