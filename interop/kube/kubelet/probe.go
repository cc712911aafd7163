package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probe runs the container's probes until ctx ends: the start-up probe first, then the others.
func (c *container) probe(ctx context.Context) {
	if s := c.spec.StartupProbe; s != nil {
		if !c.repeat(ctx, s, func(good bool) bool {
			if good {
				c.set(func() { c.started = true })
				return false
			}
			c.fail("Startup")
			return false
		}) {
			return
		}
	}
	if !c.isStarted() {
		return
	}
	var probes sync.WaitGroup
	if r := c.spec.ReadinessProbe; r != nil {
		probes.Go(func() {
			c.repeat(ctx, r, func(good bool) bool {
				c.set(func() { c.ready = good })
				return true
			})
		})
	}
	if l := c.spec.LivenessProbe; l != nil {
		probes.Go(func() {
			c.repeat(ctx, l, func(good bool) bool {
				if !good {
					c.fail("Liveness")
				}
				return good
			})
		})
	}
	probes.Wait()
}

func (c *container) fail(kind string) {
	c.pod.event("Warning", "Unhealthy", kind+" probe failed; the container will be restarted")
	c.signalProcess(syscall.SIGTERM)
	time.AfterFunc(10*time.Second, func() { c.signalProcess(syscall.SIGKILL) })
}

// repeat calls report whenever the probe's thresholds are passed, as long as it returns true, and reports whether ctx
// is alive.
func (c *container) repeat(ctx context.Context, p *core.Probe, report func(bool) bool) bool {
	count := func(n, otherwise int32) int32 {
		if n <= 0 {
			return otherwise
		}
		return n
	}
	if !sleep(ctx, time.Duration(p.InitialDelaySeconds)*time.Second) {
		return false
	}
	good, bad := int32(0), int32(0)
	for {
		if c.check(p, time.Duration(count(p.TimeoutSeconds, 1))*time.Second) == nil {
			good, bad = good+1, 0
		} else {
			good, bad = 0, bad+1
		}
		if good >= count(p.SuccessThreshold, 1) && !report(true) {
			return true
		}
		if bad >= count(p.FailureThreshold, 3) && !report(false) {
			return true
		}
		if !sleep(ctx, time.Duration(count(p.PeriodSeconds, 10))*time.Second) {
			return false
		}
	}
}

// check makes the probe's request.
func (c *container) check(p *core.Probe, timeout time.Duration) error {
	switch {
	case p.HTTPGet != nil:
		host := net.JoinHostPort(c.pod.ip.String(), c.portOf(p.HTTPGet.Port))
		scheme := "http"
		if p.HTTPGet.Scheme != "" {
			scheme = strings.ToLower(string(p.HTTPGet.Scheme))
		}
		client := &http.Client{Timeout: timeout, Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as a kubelet does
		}}
		reply, err := client.Get(scheme + "://" + host + p.HTTPGet.Path)
		if err != nil {
			return err
		}
		defer func() { _ = reply.Body.Close() }()
		if reply.StatusCode < 200 || reply.StatusCode >= 400 {
			return fmt.Errorf("status %d", reply.StatusCode)
		}
		return nil
	case p.TCPSocket != nil:
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(c.pod.ip.String(), c.portOf(p.TCPSocket.Port)), timeout)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	return fmt.Errorf("the kind of probe is not supported")
}

func (c *container) portOf(p intstr.IntOrString) string {
	for _, named := range c.spec.Ports {
		if p.Type == intstr.String && named.Name == p.StrVal {
			return strconv.Itoa(int(named.ContainerPort))
		}
	}
	return p.String()
}
