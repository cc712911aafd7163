package collect

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// Labels and annotations that say where a pod has its metrics.
const (
	enabledLabel     = "nvidia.com/metrics-enabled"
	pathsAnnotation  = "aiperf.nvidia.com/metrics-paths"
	pathAnnotation   = "prometheus.io/path"
	portAnnotation   = "prometheus.io/port"
	schemeAnnotation = "prometheus.io/scheme"
	metricsPort      = "metrics"
)

// serverImages are parts of the names of images of inference servers.
var serverImages = [...]string{
	"vllm", "sglang", "tritonserver", "triton-server", "triton-inference-server", "tensorrt-llm", "tensorrtllm",
	"trt-llm", "trtllm", "dynamo",
}

// metricsURLs returns the metrics pages of pods, sorted, each once. Of selected pods all are eligible.
func metricsURLs(pods []pod, selected bool) []string {
	var urls []string
	for i := range pods {
		if selected || pods[i].eligible() {
			urls = append(urls, pods[i].urls()...)
		}
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

// eligible reports whether a pod is an inference server, by its own word or by its image.
func (p *pod) eligible() bool {
	if strings.EqualFold(p.Metadata.Labels[enabledLabel], "true") {
		return true
	}
	if _, ok := p.Metadata.Annotations[pathsAnnotation]; ok {
		return true
	}
	for _, c := range p.Spec.Containers {
		image := strings.ToLower(c.Image)
		if slices.ContainsFunc(serverImages[:], func(part string) bool { return strings.Contains(image, part) }) {
			return true
		}
	}
	return false
}

// urls returns the metrics pages of a pod, none if its address or port is not known.
func (p *pod) urls() []string {
	port := p.port()
	scheme := strings.ToLower(strings.TrimSpace(p.Metadata.Annotations[schemeAnnotation]))
	if scheme == "" {
		scheme = "http"
	}
	if p.Status.PodIP == "" || port == 0 || scheme != "http" && scheme != "https" {
		return nil
	}
	var urls []string
	for _, path := range p.paths() {
		urls = append(urls, scheme+"://"+net.JoinHostPort(p.Status.PodIP, strconv.Itoa(port))+path)
	}
	return urls
}

func (p *pod) port() int {
	const highest = 65535
	if n, err := strconv.Atoi(strings.TrimSpace(p.Metadata.Annotations[portAnnotation])); err == nil && n > 0 &&
		n <= highest {
		return n
	}
	first := 0
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.Name == metricsPort {
				return port.ContainerPort
			}
			if first == 0 {
				first = port.ContainerPort
			}
		}
	}
	return first
}

func (p *pod) paths() []string {
	var paths []string
	for path := range strings.SplitSeq(p.Metadata.Annotations[pathsAnnotation], ",") {
		if path = strings.TrimSpace(path); path != "" {
			paths = append(paths, rooted(path))
		}
	}
	if paths != nil {
		return paths
	}
	if path := strings.TrimSpace(p.Metadata.Annotations[pathAnnotation]); path != "" {
		return []string{rooted(path)}
	}
	return []string{metricsPath}
}

func rooted(path string) string { return "/" + strings.TrimPrefix(path, "/") }
