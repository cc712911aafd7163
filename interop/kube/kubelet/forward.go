package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
)

// forwardPorts carries connections to ports of a pod, with Kubernetes' own end of the protocol.
func (k *kubelet) forwardPorts(w http.ResponseWriter, r *http.Request) {
	if _, err := os.Stat(k.noForward); err == nil {
		http.Error(w, "ports are not forwarded here", http.StatusNotImplemented)
		return
	}
	name := r.PathValue("namespace") + "/" + r.PathValue("pod")
	address := ""
	k.mu.Lock()
	for _, p := range k.pods {
		if o := p.get(); o.Namespace+"/"+o.Name == name {
			address = p.ip.String()
		}
	}
	k.mu.Unlock()
	if address == "" {
		http.Error(w, "the pod is not known", http.StatusNotFound)
		return
	}
	log.Printf("forwarding ports of %s", name)
	portforward.ServePortForward(w, r, podPorts(address), name, "", &portforward.V4Options{}, time.Hour, 30*time.Second,
		[]string{portforward.ProtocolV1Name})
}

// podPorts is the address of a pod.
type podPorts string

// PortForward implements [portforward.PortForwarder].
func (address podPorts) PortForward(ctx context.Context, _ string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(string(address), strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(connection, stream)
		sent <- errors.Join(err, connection.(*net.TCPConn).CloseWrite())
	}()
	if _, err := io.Copy(stream, connection); err != nil {
		return err
	}
	select {
	case err = <-sent:
	default: // the pod has ended first
	}
	return err
}
