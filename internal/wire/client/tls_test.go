package client

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

// certificate makes a certificate for 127.0.0.1 that is its own authority.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// secured serves over TLS with cert.
func secured(cert tls.Certificate, serve func(net.Conn, int64)) func(net.Conn, int64) {
	config := &tls.Config{Certificates: []tls.Certificate{cert}}
	return func(c net.Conn, n int64) {
		tc := tls.Server(c, config)
		serve(tc, n)
		tc.Close()
	}
}

func TestTLS(t *testing.T) {
	cert, roots := certificate(t)
	reply := answer(sseHead + chunk("data: a\n\n") + lastChunk)
	tests := []struct {
		name  string
		set   func(*Options)
		serve func(net.Conn, int64)
		typ   string
	}{
		{"trusted", func(o *Options) { o.RootCAs = roots }, secured(cert, reply), ""},
		{"not verified", func(o *Options) { o.SSLVerify = false }, secured(cert, reply), ""},
		{"not trusted", nil, secured(cert, reply), "ClientConnectorCertificateError"},
		{"not TLS", nil, func(c net.Conn, _ int64) { _, _ = io.WriteString(c, "hello, this is no TLS\n") },
			"ClientConnectorSSLError"},
		{"closed in the handshake", nil, func(c net.Conn, _ int64) { _, _ = c.Read(make([]byte, 4096)) },
			"ClientConnectorSSLError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, tt.serve)
			c := newTestClient(t, tt.set)
			for range 2 {
				r := post("https://" + s.addr + "/x")
				r.Body = []byte(strings.Repeat("long ", 20000))
				rec, x := send(c, r)
				switch {
				case tt.typ == "" && (x.Err != nil || len(rec.events) != 1 || x.Timing.BytesSent <= int64(len(r.Body))):
					t.Errorf("error %v, events %v", x.Err, rec.events)
				case tt.typ != "" && (x.Err == nil || x.Err.Type != tt.typ ||
					!strings.HasPrefix(x.Err.Message, "Cannot connect to host "+s.addr+" [")):
					t.Errorf("error %+v, want %s", x.Err, tt.typ)
				}
			}
			want := int64(1)
			if tt.typ != "" {
				want = 2
			}
			if n := s.conns.Load(); n != want {
				t.Errorf("%d connections, want %d", n, want)
			}
		})
	}
}

func TestProxies(t *testing.T) {
	cert, roots := certificate(t)
	var asked []string
	secure := newRawServer(t, secured(cert, answer(text("200 OK", "text/plain", "secure"))))
	proxy := newRawServer(t, func(c net.Conn, _ int64) {
		br := bufio.NewReader(c)
		head, _, _ := readRequest(br)
		line, rest, _ := strings.Cut(head, "\r\n")
		if strings.Contains(rest, "Proxy-Authorization: Basic dTpw\r\n") {
			line += " (u:p)"
		}
		asked = append(asked, line)
		if !strings.HasPrefix(line, "CONNECT ") {
			_, _ = io.WriteString(c, text("200 OK", "text/plain", "plain"))
			return
		}
		if !strings.HasPrefix(line, "CONNECT "+secure.addr) {
			_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\n\r\n")
			return
		}
		up, err := net.Dial("tcp", secure.addr)
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() { _, _ = io.Copy(up, br); up.Close() }()
		_, _ = io.Copy(c, up)
	})
	c := newTestClient(t, func(o *Options) {
		o.RootCAs = roots
		o.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("http://u:p@" + proxy.addr) }
	})
	if rec, x := send(c, post("http://plain.test/x?y")); x.Err != nil || rec.body != "plain" {
		t.Errorf("plain: error %v, body %q", x.Err, rec.body)
	}
	if rec, x := send(c, post("https://"+secure.addr+"/x")); x.Err != nil || rec.body != "secure" {
		t.Errorf("secure: error %v, body %q", x.Err, rec.body)
	}
	if _, x := send(c, post("https://other.test/x")); x.Err == nil ||
		x.Err.Message != "Cannot connect to host "+proxy.addr+" [proxy answered CONNECT with 403 Forbidden]" {
		t.Errorf("refused: error %+v", x.Err)
	}
	want := "POST http://plain.test/x?y HTTP/1.1 (u:p)\nCONNECT " + secure.addr +
		" HTTP/1.1 (u:p)\nCONNECT other.test:443 HTTP/1.1 (u:p)"
	if got := strings.Join(asked, "\n"); got != want {
		t.Errorf("proxy was asked\n%s\nwant\n%s", got, want)
	}
}

// A server that asks for the client's certificate says so only after the handshake; the way out is told.
func TestMissingClientCertificate(t *testing.T) {
	cert, roots := certificate(t)
	s := newRawServer(t, func(c net.Conn, _ int64) {
		conn := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert})
		_ = conn.Handshake()
		_, _ = io.Copy(io.Discard, c)
	})
	_, x := send(newTestClient(t, func(o *Options) { o.RootCAs = roots }), post("https://"+s.addr))
	if x.Err == nil || x.Err.Type != "ClientConnectorSSLError" ||
		!strings.Contains(x.Err.Message, "certificate required; --tls-client-cert and --tls-client-key") {
		t.Errorf("%+v", x.Err)
	}
}

// A certificate of another name says how to name the server.
func TestCertificateOfAnotherName(t *testing.T) {
	cert, roots := certificate(t)
	s := newRawServer(t, secured(cert, answer(text("200 OK", "text/plain", "x"))))
	c := newTestClient(t, func(o *Options) { o.RootCAs = roots })
	c.dialer.resolver.lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	_, port, _ := net.SplitHostPort(s.addr)
	_, x := send(c, post("https://elsewhere.test:"+port))
	if x.Err == nil || x.Err.Type != "ClientConnectorCertificateError" ||
		!strings.Contains(x.Err.Message, "--url must name the server") {
		t.Errorf("%+v", x.Err)
	}
}
