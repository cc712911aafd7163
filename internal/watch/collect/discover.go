package collect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// serviceAccountDir is where Kubernetes mounts what a program may know of its cluster.
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// discoveryTimeout bounds a discovery as a whole.
const discoveryTimeout = 30 * time.Second

// allNamespaces is the namespace that stands for all of them.
const allNamespaces = "*"

// Discover looks for metrics pages among the pods of the cluster that the program runs in, 30 s at most. Where it
// finds some, the endpoints next to the inference URLs are not scraped: these are usually a load balancer.
func (c *Collector) Discover(ctx context.Context) {
	mode := c.options.Discovery.Mode
	if mode == Disabled {
		return
	}
	host, inside := c.options.Env("KUBERNETES_SERVICE_HOST")
	if !inside || host == "" {
		if mode == Kubernetes {
			c.log.Warn("Server Metrics: discovery mode is kubernetes, but this is not a Kubernetes cluster " +
				"(KUBERNETES_SERVICE_HOST is not set); nothing is discovered")
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	found, err := c.discover(ctx, host)
	if err != nil {
		c.log.Warn("Server Metrics: Kubernetes discovery found nothing: " + err.Error())
		return
	}
	added := c.adopt(found)
	c.log.Info(fmt.Sprintf("Server Metrics: Auto-discovery added %d endpoint(s)", added))
}

// adopt replaces the endpoints next to the inference URLs by discovered ones, if there are any, and returns how
// many are new.
func (c *Collector) adopt(found []string) (added int) {
	if len(found) == 0 {
		return 0
	}
	given := c.options
	given.URLs = nil
	list, err := given.endpoints()
	if err != nil { // New has read the same values
		return 0
	}
	for _, u := range found {
		var fresh bool
		if list, fresh = appendNew(list, newEndpoint(u)); fresh {
			added++
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endpoints = list
	return added
}

func (c *Collector) discover(ctx context.Context, host string) ([]string, error) {
	d := c.options.Discovery
	namespace, err := c.namespace()
	if err != nil {
		return nil, err
	}
	port, _ := c.options.Env("KUBERNETES_SERVICE_PORT_HTTPS")
	if port == "" {
		port, _ = c.options.Env("KUBERNETES_SERVICE_PORT")
	}
	if port == "" {
		port = "443"
	}
	api, err := newCluster(host, port, d.ServiceAccountDir)
	if err != nil {
		return nil, err
	}
	defer api.close()
	pods, err := api.runningPods(ctx, namespace, d.LabelSelector)
	if err != nil {
		return nil, err
	}
	return metricsURLs(pods, d.LabelSelector != ""), nil
}

// namespace returns where to look for pods.
func (c *Collector) namespace() (string, error) {
	if n := strings.TrimSpace(c.options.Discovery.Namespace); n != "" {
		return n, nil
	}
	if n, _ := c.options.Env("AIPERF_NAMESPACE"); strings.TrimSpace(n) != "" {
		return strings.TrimSpace(n), nil
	}
	if text, err := os.ReadFile(filepath.Join(c.options.Discovery.ServiceAccountDir, "namespace")); err == nil {
		if n := strings.TrimSpace(string(text)); n != "" {
			return n, nil
		}
	}
	if c.options.Discovery.Mode == Auto {
		if n := c.namespaceOfHosts(); n != "" {
			return n, nil
		}
	}
	return "", errors.New("the namespace is not known; set server_metrics.discovery.namespace or AIPERF_NAMESPACE")
}

// namespaceOfHosts returns the namespace in the first name of a service (name.namespace.svc…) among the endpoints.
func (c *Collector) namespaceOfHosts() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.endpoints {
		u, err := url.Parse(e.configured)
		if err != nil {
			continue
		}
		if labels := strings.Split(u.Hostname(), "."); len(labels) > 2 && labels[2] == "svc" {
			return labels[1]
		}
	}
	return ""
}
