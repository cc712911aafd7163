package operator

import (
	"fmt"
	"strings"
	"time"

	"aiperf/internal/cluster/kube/crd"
)

// A pod that does not start is reported after warnAfter and fails the job after failAfter, both since its reason last
// changed.
const (
	warnAfter = 30 * time.Second
	failAfter = 90 * time.Second
	// crashes is the number of restarts from which on a container that waits for another start counts as blocked.
	crashes = 2
)

// podObject is what is read of a pod.
type podObject struct {
	Metadata crd.Metadata `json:"metadata"`
	Spec     struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase                 string            `json:"phase"`
		Reason                string            `json:"reason"`
		Message               string            `json:"message"`
		PodIP                 string            `json:"podIP"`
		Conditions            []podCondition    `json:"conditions"`
		ContainerStatuses     []containerStatus `json:"containerStatuses"`
		InitContainerStatuses []containerStatus `json:"initContainerStatuses"`
	} `json:"status"`
}

type podCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type containerStatus struct {
	Name         string `json:"name"`
	Ready        bool   `json:"ready"`
	RestartCount int    `json:"restartCount"`
	State        struct {
		Waiting *struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"waiting"`
		Running    *struct{} `json:"running"`
		Terminated *struct {
			ExitCode int    `json:"exitCode"`
			Reason   string `json:"reason"`
			Message  string `json:"message"`
		} `json:"terminated"`
	} `json:"state"`
}

func (p *podObject) condition(kind string) (podCondition, bool) {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c, true
		}
	}
	return podCondition{}, false
}

func (p *podObject) ready() bool {
	c, ok := p.condition("Ready")
	return ok && c.Status == "True"
}

// containers are all containers of a pod, those that prepare it first.
func (p *podObject) containers() []containerStatus {
	return append(append([]containerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...)
}

// blocker is why a pod does not start.
type blocker struct {
	// category is the same as long as the reason is the same for us.
	category, pod, container, reason, message string
}

func (b *blocker) fingerprint() string { return b.category + ":" + b.pod + ":" + b.container }

// waitingReasons are the reasons of a container that waits and will not start by itself, by category.
var waitingReasons = map[string]string{
	"ErrImagePull": "image", "ImagePullBackOff": "image", "ErrImageNeverPull": "image", "InvalidImageName": "image",
	"CreateContainerConfigError": "config", "CreateContainerError": "create", "RunContainerError": "run",
}

// structural are the texts of the scheduler that say that no node suits a pod, whatever its load.
var structural = []string{
	"node affinity", "node selector", "untolerated taint", "volume node affinity conflict", "node(s) had taint",
	"didn't match Pod's node affinity/selector", "didn't match node selector",
}

// transient are those that time may cure.
var transient = []string{
	"Insufficient ", "Too many pods", "didn't have free ports", "node.kubernetes.io/not-ready",
	"node.kubernetes.io/unreachable", "unbound",
}

// startup looks for the first pod that is blocked, and says whether pods only wait for room.
func startup(pods []podObject) (b *blocker, delayed string) {
	for i := range pods {
		p := &pods[i]
		if c, ok := p.condition("PodScheduled"); ok && c.Status == "False" && c.Reason == "Unschedulable" {
			if isStructural(c.Message) {
				if b == nil {
					b = &blocker{"unschedulable", p.Metadata.Name, "", c.Reason, c.Message}
				}
			} else if delayed == "" {
				delayed = fmt.Sprintf("%s: %s", p.Metadata.Name, c.Message)
			}
			continue
		}
		for _, c := range p.containers() {
			w := c.State.Waiting
			if w == nil || b != nil {
				continue
			}
			category := waitingReasons[w.Reason]
			if w.Reason == "CrashLoopBackOff" && c.RestartCount >= crashes {
				category = "crash"
			}
			if category != "" {
				b = &blocker{category, p.Metadata.Name, c.Name, w.Reason, w.Message}
			}
		}
	}
	return b, delayed
}

// isStructural reports whether none of the nodes can ever take a pod: a single one that is only full makes the reason
// a transient one.
func isStructural(message string) bool {
	found := false
	for _, text := range structural {
		found = found || strings.Contains(message, text)
	}
	for _, text := range transient {
		if strings.Contains(message, text) {
			return false
		}
	}
	return found
}

// observe brings the issue of a job up to date with what blocks it now, and returns what follows: a warning that is due,
// and a failure.
func observe(s *crd.JobStatus, b *blocker, now time.Time) (warn, fail bool) {
	if b == nil {
		s.StartupIssue = nil
		return false, false
	}
	issue := s.StartupIssue
	if issue == nil || issue.Fingerprint != b.fingerprint() || issue.FirstObservedTime == nil {
		first := now.UTC().Truncate(time.Second)
		s.StartupIssue = &crd.StartupIssue{
			Fingerprint: b.fingerprint(), PodName: b.pod, ContainerName: b.container, Reason: b.reason,
			Message: b.message, FirstObservedTime: &first,
		}
		return false, false
	}
	issue.Reason, issue.Message = b.reason, b.message
	age := now.Sub(*issue.FirstObservedTime)
	if age >= warnAfter && !issue.WarningEmitted {
		issue.WarningEmitted, warn = true, true
	}
	return warn, age >= failAfter
}
