package main

import (
	"context"
	"log"
	"net"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// names are the addresses of all services and of pods with a host name, by their full name without the last dot.
type names struct {
	sync.Mutex
	services map[string]*core.Service
	pods     map[string]*core.Pod
}

func (n *names) table() map[string][]net.IP {
	n.Lock()
	defer n.Unlock()
	table := map[string][]net.IP{}
	for _, s := range n.services {
		if len(s.Spec.Selector) == 0 {
			continue
		}
		name := s.Name + "." + s.Namespace + ".svc.cluster.local"
		selector := labels.SelectorFromSet(s.Spec.Selector)
		table[name] = nil
		for _, p := range n.pods {
			address := net.ParseIP(p.Status.PodIP).To4()
			if p.Namespace != s.Namespace || address == nil || !selector.Matches(labels.Set(p.Labels)) ||
				!s.Spec.PublishNotReadyAddresses && !isReady(p) {
				continue
			}
			table[name] = append(table[name], address)
			if p.Spec.Subdomain == s.Name && p.Spec.Hostname != "" {
				table[p.Spec.Hostname+"."+name] = []net.IP{address}
			}
		}
	}
	return table
}

func isReady(p *core.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c core.PodCondition) bool {
		return c.Type == core.PodReady && c.Status == core.ConditionTrue
	})
}

// serveNames answers questions for names of services and pods on the bridge.
func (k *kubelet) serveNames() error {
	k.names.services, k.names.pods = map[string]*core.Service{}, map[string]*core.Pod{}
	conn, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "udp", net.JoinHostPort(k.gateway.String(), "53"))
	if err != nil {
		return err
	}
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				log.Print(err)
				return
			}
			if reply := k.names.answer(buffer[:n]); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return nil
}

// answer returns the reply to a question: the addresses, nothing for other types, or that the name does not exist.
func (n *names) answer(question []byte) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(question)
	if err != nil {
		return nil
	}
	q, err := parser.Question()
	if err != nil {
		return nil
	}
	addresses, known := n.table()[strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")]
	reply := dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true, RecursionAvailable: true}
	if !known || len(addresses) == 0 {
		reply.RCode = dnsmessage.RCodeNameError
	}
	b := dnsmessage.NewBuilder(nil, reply)
	_ = b.StartQuestions()
	_ = b.Question(q)
	_ = b.StartAnswers()
	if q.Type == dnsmessage.TypeA {
		for _, a := range addresses {
			_ = b.AResource(dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 1},
				dnsmessage.AResource{A: [4]byte(a.To4())})
		}
	}
	message, err := b.Finish()
	if err != nil {
		return nil
	}
	return message
}
