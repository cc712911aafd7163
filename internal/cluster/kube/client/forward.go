package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// Forward is a port of this machine that leads to one of a pod.
type Forward struct {
	// Port is on 127.0.0.1.
	Port int
	// Proxied reports that requests go through the API server's proxy, since the node refused to forward the port.
	Proxied bool
	// Token is what requests to the port need; "" for none.
	Token string
	stop  func()
	done  chan struct{}
}

// URL is a path at the port.
func (f *Forward) URL(path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", f.Port, path) }

// Close ends the connection.
func (f *Forward) Close() { f.stop(); <-f.done }

// Done is closed when the connection has ended.
func (f *Forward) Done() <-chan struct{} { return f.done }

// forwardTimeout bounds the start of a connection.
const forwardTimeout = 15 * time.Second

// Forward connects a port of 127.0.0.1, 0 is a free one, with a port of a pod. Where the node does not forward ports,
// requests go through the proxy of the API server, which carries HTTP and WebSockets.
func (c *Client) Forward(ctx context.Context, namespace, pod string, port, local int) (*Forward, error) {
	f, err := c.tunnel(ctx, namespace, pod, port, local)
	if err == nil || ctx.Err() != nil {
		return f, err
	}
	if f, proxyErr := c.proxy(ctx, namespace, pod, port, local); proxyErr == nil {
		return f, nil
	}
	return nil, fmt.Errorf("port %d of the pod %s/%s cannot be reached: %w", port, namespace, pod, err)
}

// tunnel forwards a port as kubectl port-forward does.
func (c *Client) tunnel(ctx context.Context, namespace, pod string, port, local int) (*Forward, error) {
	ctx, cancel := context.WithCancel(ctx)
	streams, err := c.openStreams(ctx, namespace, pod)
	if err != nil {
		cancel()
		return nil, err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", local))
	if err != nil {
		cancel()
		streams.Close()
		return nil, err
	}
	f := &Forward{Port: listener.Addr().(*net.TCPAddr).Port, stop: cancel, done: make(chan struct{})}
	t := &tunnel{streams: streams, port: port}
	go func() {
		defer close(f.done)
		t.serve(ctx, listener)
	}()
	return f, nil
}

// proxy serves a port whose requests go to the pod through the API server.
func (c *Client) proxy(ctx context.Context, namespace, pod string, port, local int) (*Forward, error) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy", namespace, pod, port)
	base, err := url.Parse(strings.TrimSuffix(c.Base(), "/") + path)
	if err != nil {
		return nil, err
	}
	check, cancel := context.WithTimeout(ctx, forwardTimeout)
	defer cancel()
	in, err := c.open(check, http.MethodGet, path+"/healthz", nil)
	if err != nil {
		return nil, err
	}
	in.Close()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", local))
	if err != nil {
		return nil, err
	}
	transport := c.http.Transport
	server := &http.Server{ReadHeaderTimeout: requestTimeout, Handler: &httputil.ReverseProxy{Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(base) }}}
	f := &Forward{Port: listener.Addr().(*net.TCPAddr).Port, Proxied: true, done: make(chan struct{})}
	f.stop = func() { server.Close() }
	go func() {
		defer close(f.done)
		_ = server.Serve(listener) // it ends by Close
	}()
	context.AfterFunc(ctx, f.stop)
	return f, nil
}
