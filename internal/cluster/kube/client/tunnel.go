package client

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// tunnel carries connections to a port of a pod, each by two streams of one connection to the API server. The protocol
// is that of kubectl port-forward; client-go's own forwarder would link the types of all kinds of objects.
type tunnel struct {
	streams httpstream.Connection
	port    int
	open    sync.WaitGroup
}

// forwardProtocol is the protocol in which a node forwards ports.
const forwardProtocol = "portforward.k8s.io"

// openStreams opens the connection that streams to a pod's ports belong to. It ends after forwardTimeout.
func (c *Client) openStreams(ctx context.Context, namespace, pod string) (httpstream.Connection, error) {
	transport, upgrader, err := spdy.RoundTripperFor(c.Config)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.Base(), "/")+
		fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/portforward", namespace, pod), nil)
	if err != nil {
		return nil, err
	}
	type answer struct {
		streams  httpstream.Connection
		protocol string
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		streams, protocol, err := spdy.NegotiateStreaming(upgrader, &http.Client{Transport: transport}, r, forwardProtocol)
		answers <- answer{streams, protocol, err}
	}()
	wait, cancel := context.WithTimeout(ctx, forwardTimeout)
	defer cancel()
	select {
	case a := <-answers:
		if a.err == nil && a.protocol != forwardProtocol {
			a.streams.Close()
			return nil, fmt.Errorf("the node speaks the protocol %q instead of %s", a.protocol, forwardProtocol)
		}
		return a.streams, a.err
	case <-wait.Done(): // the transport waits for an answer however long it takes
		go func() {
			if a := <-answers; a.err == nil {
				a.streams.Close()
			}
		}()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("no connection after %v", forwardTimeout)
	}
}

// serve carries connections until the context or the connection to the API server ends, and returns when all of them
// have ended.
func (t *tunnel) serve(ctx context.Context, listener net.Listener) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
		case <-t.streams.CloseChan():
		}
		listener.Close()
		t.streams.Close()
	}()
	for id := 0; ; id++ {
		connection, err := listener.Accept()
		if err != nil { // only Close ends a listener of this machine
			break
		}
		t.open.Go(func() { t.carry(connection, id) })
	}
	t.streams.Close() // ends the wait above too
	<-ended
	t.open.Wait()
}

// carry copies between a connection and the pod until the pod has ended its side or refused.
func (t *tunnel) carry(connection net.Conn, id int) {
	defer connection.Close()
	header := http.Header{}
	header.Set("port", strconv.Itoa(t.port))
	header.Set("requestID", strconv.Itoa(id)) // joins the two streams
	header.Set("streamType", "error")
	refusals, err := t.streams.CreateStream(header)
	if err != nil {
		return
	}
	refusals.Close() // nothing is written to it
	header.Set("streamType", "data")
	data, err := t.streams.CreateStream(header)
	if err != nil {
		t.streams.RemoveStreams(refusals)
		return
	}
	defer t.streams.RemoveStreams(refusals, data)
	received, refused := make(chan struct{}), make(chan struct{})
	t.open.Go(func() {
		defer close(refused)
		if text, err := io.ReadAll(io.LimitReader(refusals, 4096)); err == nil && len(text) == 0 {
			<-received // the node has closed the stream, as it does beside one that goes on
		}
	})
	t.open.Go(func() {
		defer close(received)
		_, _ = io.Copy(connection, data)
	})
	t.open.Go(func() {
		defer data.Close() // the pod sees the end of what is sent
		_, _ = io.Copy(data, connection)
	})
	select {
	case <-received:
	case <-refused:
		_ = data.Reset()
	}
}
