package operator

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
)

// PodRef names a pod and its address.
type PodRef struct {
	Namespace, Name, IP string
}

func (p *podObject) ref() PodRef {
	return PodRef{p.Metadata.Namespace, p.Metadata.Name, p.Status.PodIP}
}

// Pods makes requests to ports of pods.
type Pods interface {
	Do(ctx context.Context, method string, pod PodRef, port int, path string) (*http.Response, error)
}

// Direct reaches pods at their addresses: it needs to run in the cluster.
type Direct struct{}

var direct = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}}

// Do implements [Pods].
func (Direct) Do(ctx context.Context, method string, pod PodRef, port int, path string) (*http.Response, error) {
	if pod.IP == "" {
		return nil, fmt.Errorf("the pod %s has no address", pod.Name)
	}
	address := "http://" + net.JoinHostPort(pod.IP, strconv.Itoa(port)) + path
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	return direct.Do(request)
}

// Proxy reaches pods by way of the API server.
type Proxy struct {
	base   string
	client *http.Client
}

// NewProxy returns the way to pods through an API server.
func NewProxy(config *rest.Config) (*Proxy, error) {
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return &Proxy{strings.TrimSuffix(config.Host, "/"), c}, nil
}

// Do implements [Pods].
func (p *Proxy) Do(ctx context.Context, method string, pod PodRef, port int, path string) (*http.Response, error) {
	address := fmt.Sprintf("%s/api/v1/namespaces/%s/pods/%s:%d/proxy%s", p.base, pod.Namespace, pod.Name, port, path)
	request, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	return p.client.Do(request)
}

// drain reads and closes a reply that has nothing to say.
func drain(reply *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, maxReply))
	_ = reply.Body.Close()
}
