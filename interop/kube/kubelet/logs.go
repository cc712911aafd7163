package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// serve serves the logs of containers and the ports of pods to the API server.
func (k *kubelet) serve() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0), IPAddresses: []net.IP{k.gateway}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	listener, err := tls.Listen("tcp", net.JoinHostPort(k.gateway.String(), strconv.Itoa(k.port)), &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.containerLogs)
	mux.HandleFunc("/portForward/{namespace}/{pod}", k.forwardPorts)
	go func() { log.Print((&http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}).Serve(listener)) }()
	return nil
}

func (k *kubelet) find(namespace, name, container string) *container {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pods {
		if o := p.get(); o.Namespace == namespace && o.Name == name {
			for _, c := range p.containers {
				if c.spec.Name == container {
					return c
				}
			}
		}
	}
	return nil
}

// containerLogs writes the log of a container: all, its last lines, with times, or on and on.
func (k *kubelet) containerLogs(w http.ResponseWriter, r *http.Request) {
	c := k.find(r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"))
	if c == nil {
		http.Error(w, "the container is not known", http.StatusNotFound)
		return
	}
	file, err := os.Open(c.logFile())
	if err != nil {
		return // nothing was written
	}
	defer func() { _ = file.Close() }()
	query := r.URL.Query()
	skip := 0
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil {
		text, _ := os.ReadFile(c.logFile())
		skip = max(0, strings.Count(string(text), "\n")-tail)
	}
	since := time.Time{}
	if seconds, err := strconv.Atoi(query.Get("sinceSeconds")); err == nil {
		since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	lines := bufio.NewReader(file)
	part := ""
	for {
		line, err := lines.ReadString('\n')
		part += line
		if err == nil {
			stamp, text, _ := strings.Cut(part, " ")
			at, _ := time.Parse(time.RFC3339Nano, stamp)
			if query.Get("timestamps") == "true" {
				text = part
			}
			part = ""
			if skip > 0 {
				skip--
				continue
			}
			if at.Before(since) {
				continue
			}
			if _, err := w.Write([]byte(text)); err != nil {
				return
			}
			continue
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		if query.Get("follow") != "true" || !c.alive() {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}
