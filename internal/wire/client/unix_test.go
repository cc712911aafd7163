package client

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// socketPath is a path short enough for a socket.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "aip")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func TestUnixSocket(t *testing.T) {
	path := socketPath(t)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("this system has no Unix sockets: %v", err)
	}
	var conns atomic.Int64
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: "+r.Host+r.URL.Path+"\n\n")
	}), ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}}
	done := make(chan struct{})
	go func() { _ = s.Serve(l); close(done) }()
	t.Cleanup(func() { s.Close(); <-done })
	c := newTestClient(t, func(o *Options) { o.UnixSocket = path })
	for range 2 {
		rec, x := send(c, post("http://nowhere.invalid:9/v1/x"))
		if x.Err != nil || len(rec.events) != 1 || rec.events[0] != "=nowhere.invalid:9/v1/x" || x.KernelStamps {
			t.Fatalf("%+v %v", x.Err, rec.events)
		}
	}
	if conns.Load() != 1 {
		t.Errorf("%d connections", conns.Load())
	}
	gone := newTestClient(t, func(o *Options) { o.UnixSocket = path + "-gone" })
	if _, x := send(gone, post("http://h/x")); x.Err == nil || x.Err.Type != "ClientConnectorError" ||
		!strings.Contains(x.Err.Message, "Unix socket "+path+"-gone") {
		t.Errorf("no socket: %+v", x.Err)
	}
}

func TestClientCertificates(t *testing.T) {
	cert, roots := certificate(t)
	own, authority := certificate(t)
	serve := func(c net.Conn, n int64) {
		tc := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: authority,
			ClientAuth: tls.RequireAndVerifyClientCert})
		answer(text("200 OK", "application/json", "{}"))(tc, n)
		tc.Close()
	}
	for _, c := range []struct {
		name  string
		certs []tls.Certificate
		roots *x509.CertPool
		fault string
	}{
		{"shown", []tls.Certificate{own}, roots, ""},
		{"not shown", nil, roots, "certificate"},
		{"another one", []tls.Certificate{cert}, roots, "certificate"},
		{"a server of an unknown authority", []tls.Certificate{own}, authority, "--tls-ca-file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newRawServer(t, serve)
			client := newTestClient(t, func(o *Options) { o.RootCAs, o.Certificates = c.roots, c.certs })
			_, x := send(client, post("https://"+s.addr+"/x"))
			if (x.Err == nil) != (c.fault == "") || x.Err != nil && !strings.Contains(x.Err.Message, c.fault) {
				t.Errorf("%+v", x.Err)
			}
		})
	}
}
