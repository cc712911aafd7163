package main

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

const bridgeName = "pods"

// ip runs the program ip with a line of arguments.
func ip(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", line, err, out)
	}
	return nil
}

// bridge makes the bridge of the pods unless it exists.
func (k *kubelet) bridge() error {
	if _, err := net.InterfaceByName(bridgeName); err == nil {
		return nil
	}
	return errors.Join(
		ip("link add %s type bridge", bridgeName), ip("addr add %s/16 dev %s", k.gateway, bridgeName),
		ip("link set %s up", bridgeName), ip("link set lo up"),
	)
}

// address takes a free address for a pod.
func (k *kubelet) address() net.IP {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		k.next++
		if k.next >= 1<<16-2 {
			k.next = 10
		}
		a := net.IPv4(k.gateway[0], k.gateway[1], byte(k.next>>8), byte(k.next)).To4()
		if !k.addresses[a.String()] && !a.Equal(k.gateway) && byte(k.next) != 0 && byte(k.next) != 255 {
			k.addresses[a.String()] = true
			return a
		}
	}
}

// connect makes the network namespace of a pod and connects it to the bridge.
func (k *kubelet) connect(p *pod) error {
	p.ip = k.address()
	p.netns = fmt.Sprintf("pod-%s", p.uid)
	last := fmt.Sprintf("%d-%d", p.ip[2], p.ip[3])
	return errors.Join(
		ip("netns add %s", p.netns),
		ip("link add o%s type veth peer name eth0 netns %s", last, p.netns),
		ip("link set o%s master %s", last, bridgeName), ip("link set o%s up", last),
		ip("-n %s addr add %s/16 dev eth0", p.netns, p.ip), ip("-n %s link set eth0 up", p.netns),
		ip("-n %s link set lo up", p.netns),
	)
}

// disconnect removes the network namespace of a pod, and its interface with it.
func (k *kubelet) disconnect(p *pod) {
	if p.netns == "" {
		return
	}
	_ = ip("netns del %s", p.netns)
	k.mu.Lock()
	delete(k.addresses, p.ip.String())
	k.mu.Unlock()
}
