package client_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/cluster/kube/client"
	"k8s.io/client-go/rest"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// node forwards ports as a kubelet does, with Kubernetes' own end of the protocol. Its pods answer each connection by
// what they got, in capitals, once the client has sent all; port 9 refuses.
type node struct {
	mu    sync.Mutex
	open  []httpstream.Connection
	pairs map[string]httpstream.Stream
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/v1/namespaces/ns/pods/pod/portforward" || r.Header.Get("Authorization") != "Bearer secret" {
		http.Error(w, "no such pod", http.StatusNotFound)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		return
	}
	c := spdy.NewResponseUpgrader().UpgradeResponse(w, r, n.accept)
	n.mu.Lock()
	n.open = append(n.open, c)
	n.mu.Unlock()
	<-c.CloseChan()
}

func (n *node) accept(s httpstream.Stream, replied <-chan struct{}) error {
	h := s.Headers()
	id := h.Get("requestID")
	n.mu.Lock()
	defer n.mu.Unlock()
	if h.Get("streamType") == "error" {
		n.pairs[id] = s
		return nil
	}
	refusals := n.pairs[id]
	if h.Get("streamType") != "data" || refusals == nil {
		return fmt.Errorf("a stream without its other half: %v", h)
	}
	go func() {
		<-replied
		if h.Get("port") == "9" {
			fmt.Fprint(refusals, "connection refused")
			refusals.Close()
			return
		}
		refusals.Close()
		text, _ := io.ReadAll(s)
		_, _ = s.Write(bytes.ToUpper(text))
		s.Close()
	}()
	return nil
}

func (n *node) drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.open {
		c.Close()
	}
}

func forward(t *testing.T, port int) (*node, *client.Forward) {
	t.Helper()
	n := &node{pairs: map[string]httpstream.Stream{}}
	s := httptest.NewServer(n)
	t.Cleanup(s.Close)
	c, err := client.New(&rest.Config{Host: s.URL, BearerToken: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Forward(t.Context(), "ns", "pod", port, 0)
	if err != nil {
		t.Fatal(err)
	}
	if f.Proxied {
		t.Fatal("the port is not forwarded by the node")
	}
	t.Cleanup(f.Close)
	return n, f
}

func exchange(t *testing.T, f *client.Forward, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestATunnelCarriesConnectionsSideBySide(t *testing.T) {
	_, f := forward(t, 9090)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			text := strings.Repeat(fmt.Sprintf("line %d\n", i), 20_000)
			if got, want := exchange(t, f, text), strings.ToUpper(text); got != want {
				t.Errorf("connection %d: %d bytes (%x), want %d (%x)", i, len(got), sha256.Sum256([]byte(got)),
					len(want), sha256.Sum256([]byte(want)))
			}
		})
	}
	all.Wait()
}

func TestATunnelEndsAConnectionThatThePodRefuses(t *testing.T) {
	_, f := forward(t, 9)
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := io.ReadAll(c); len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestATunnelEndsWithTheConnectionToTheNode(t *testing.T) {
	n, f := forward(t, 9090)
	open, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if got := exchange(t, f, "a"); got != "A" { // the one before is accepted by now
		t.Fatal(got)
	}
	n.drop()
	<-f.Done()
	if _, err := io.ReadAll(open); err == nil {
		if _, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port)); err == nil {
			t.Error("the port is still open")
		}
	}
}

func TestClosingAForwardEndsItsConnections(t *testing.T) {
	_, f := forward(t, 9090)
	open, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if got := exchange(t, f, "a"); got != "A" {
		t.Fatal(got)
	}
	f.Close()
	if got, _ := io.ReadAll(open); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
