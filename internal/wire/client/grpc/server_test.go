package grpc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/mem"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// raw passes messages on as they are.
type raw struct{}

func (raw) Name() string { return "proto" }
func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// counted counts the connections that are accepted, and keeps them for the test to break.
type counted struct {
	net.Listener
	n    atomic.Int64
	mu   sync.Mutex
	open []net.Conn
}

func (l *counted) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err == nil {
		l.n.Add(1)
		l.mu.Lock()
		l.open = append(l.open, nc)
		l.mu.Unlock()
	}
	return nc, err
}

// breakAll ends every connection: by a reset, or without.
func (l *counted) breakAll(reset bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, nc := range l.open {
		if reset {
			nc.(*net.TCPConn).SetLinger(0)
		}
		nc.Close()
	}
	l.open = nil
}

func listen(t testing.TB) *counted {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &counted{Listener: ln}
}

type handler func(call string, message []byte, s rpc.ServerStream) error

// newServer makes a gRPC server of the library whose every call is answered by h; without one it does not even read.
func newServer(h handler, options ...rpc.ServerOption) *rpc.Server {
	return rpc.NewServer(append(options, rpc.ForceServerCodecV2(raw{}), rpc.MaxRecvMsgSize(maxMessage),
		rpc.UnknownServiceHandler(func(_ any, stream rpc.ServerStream) error {
			if h == nil {
				<-stream.Context().Done()
				return nil
			}
			call, _ := rpc.MethodFromServerStream(stream)
			var message []byte
			if err := stream.RecvMsg(&message); err != nil {
				return err
			}
			return h(call, message, stream)
		}))...)
}

// serve runs one.
func serve(t testing.TB, h handler, options ...rpc.ServerOption) *counted {
	t.Helper()
	ln := listen(t)
	s := newServer(h, options...)
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(ln) }()
	t.Cleanup(func() { s.Stop(); <-done })
	return ln
}

// serveHTTP2 runs a server of HTTP/2 in clear text that is no gRPC server.
func serveHTTP2(t *testing.T, h http.HandlerFunc) *counted {
	t.Helper()
	ln := listen(t)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	protocols.SetHTTP1(true)
	s := &http.Server{Handler: h, Protocols: protocols}
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(ln) }()
	t.Cleanup(func() { s.Close(); <-done })
	return ln
}

func newClient(t testing.TB, change func(*client.Options)) *Client {
	t.Helper()
	o := client.DefaultOptions()
	o.RcvBuf, o.SndBuf = 0, 0
	if change != nil {
		change(&o)
	}
	c, err := New(o, clock.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// heard is a sink that keeps what it hears.
type heard struct {
	messages []string
	at       []int64
	on       func(n int)
}

func (h *heard) Event(name, data []byte, atNS int64) {
	h.messages, h.at = append(h.messages, string(data)), append(h.at, atNS)
	if h.on != nil {
		h.on(len(h.messages))
	}
}

func (h *heard) Body(string, bool, []byte, int64) { panic("gRPC has no bodies") }

func request(ln net.Listener, body string) *client.Request {
	return &client.Request{URL: "grpc://" + ln.Addr().String() + "/s/Call", Body: []byte(body), CancelAfterNS: -1,
		Headers: []record.Header{{Name: "User-Agent", Value: "tester/1"}, {Name: "X-Request-ID", Value: "7"},
			{Name: "Accept", Value: "*/*"}, {Name: "Content-Type", Value: "x"}}}
}

func send(c *Client, r *client.Request) (client.Exchange, *heard) {
	h := &heard{}
	return c.Send(context.Background(), r, h), h
}

// certificate makes an authority and a certificate of it for a host.
func certificate(t *testing.T, host string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		DNSNames: []string{host}}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses, template.DNSNames = []net.IP{ip}, nil
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, _ := x509.ParseCertificate(der)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func withTLS(c tls.Certificate, clients *x509.CertPool) rpc.ServerOption {
	config := &tls.Config{Certificates: []tls.Certificate{c}}
	if clients != nil {
		config.ClientCAs, config.ClientAuth = clients, tls.RequireAndVerifyClientCert
	}
	return rpc.Creds(credentials.NewTLS(config))
}
