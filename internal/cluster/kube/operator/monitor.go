package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"aiperf/internal/base/clock"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

const (
	// rereadAfter is the pause before a missing engine counts as missing.
	rereadAfter = 2 * time.Second
	// heartbeatDead is how long a controller may be silent.
	heartbeatDead = 30 * time.Second
)

// beat is a heartbeat and when this operator first saw it: clocks of other machines do not count.
type beat struct {
	value string
	at    time.Time
}

// monitor looks at a running job.
func (o *Operator) monitor(ctx context.Context, k key, h *jobHead) (time.Duration, error) {
	uid := h.Metadata.UID
	e, err := o.engine(ctx, k, uid)
	if err != nil {
		return 0, retry{apiRetry, err}
	}
	if e.missing {
		return o.missing(ctx, k, h)
	}
	if e.admitted {
		if err := o.release(ctx, k); err != nil {
			return 0, err
		}
		e.suspended = false
	}
	pods, err := o.pods(ctx, k)
	if err != nil {
		return 0, retry{apiRetry, err}
	}
	controller := controllerOf(pods)
	if closing(h, controller) {
		return o.close(ctx, k, h, &e, pods, controller)
	}
	done, failure := ended(h, &e, controller)
	switch {
	case done:
		return o.finish(ctx, k, h, controller, failure)
	case failure != "":
		return lingering, o.controllerFailed(ctx, k, h, controller, failure)
	}
	if limit := o.limit(ctx, k); limit > 0 && h.Status.StartTime != nil && time.Since(*h.Status.StartTime) > limit {
		if err := o.removeEngine(ctx, k, uid); err != nil {
			return 0, err
		}
		return lingering, o.fail(ctx, k, uid, fmt.Errorf("the job has not ended within its %g seconds", limit.Seconds()))
	}
	o.reportRestarts(ctx, k, uid, pods)
	progress := o.progress(ctx, controller)
	if failure := o.silent(ctx, h, controller, progress); failure != "" {
		return lingering, o.controllerFailed(ctx, k, h, controller, failure)
	}
	return o.look(ctx, k, uid, &e, pods, controller, progress)
}

// look reports what was seen, and ends a job whose pods cannot start.
func (o *Operator) look(ctx context.Context, k key, uid string, e *engine, pods []podObject, controller *podObject,
	p progress) (time.Duration, error) {
	b, delayed := startup(pods)
	var warn, blocked bool
	h, err := o.updateJob(ctx, k, uid, func(h *jobHead) {
		s := &h.Status
		s.ObservedGeneration = h.Metadata.Generation
		s.Workers = &crd.Workers{Ready: readyWorkers(pods), Total: max(e.wanted, totalOf(s))}
		warn, blocked = observe(s, b, time.Now())
		reportWorkers(s, b, delayed, blocked)
		s.Phase = phaseOf(e, controller, s, p)
		p.report(s)
		if s.Phase == crd.Running {
			condition(s, benchmarkRunning, true, "BenchmarkRunning", "")
		}
	})
	if err != nil {
		return 0, err
	}
	if warn || blocked {
		o.event(ctx, k, uid, "startup-"+shortHash(b.fingerprint()), "Warning", "PodStartupBlocked",
			fmt.Sprintf("Pod %s does not start: %s: %s", b.pod, b.reason, b.message))
	}
	if blocked && !crd.Terminal(h.Status.Phase) {
		if err := o.fail(ctx, k, uid, fmt.Errorf("the pod %s does not start: %s: %s", b.pod, b.reason, b.message)); err != nil {
			return 0, err
		}
		return lingering, o.removeEngine(ctx, k, uid)
	}
	return o.o.MonitorInterval, nil
}

func totalOf(s *crd.JobStatus) int {
	if s.Workers == nil {
		return 0
	}
	return s.Workers.Total
}

// reportWorkers sets the condition of the workers.
func reportWorkers(s *crd.JobStatus, b *blocker, delayed string, blocked bool) {
	switch {
	case blocked:
		condition(s, workersReady, false, "PodStartupFailed", b.reason+": "+b.message)
	case b != nil:
		condition(s, workersReady, false, "PodStartupBlocked", b.reason+": "+b.message)
	case delayed != "":
		condition(s, workersReady, false, "SchedulingDelayed", delayed)
	case s.Workers.Total > 0 && s.Workers.Ready >= s.Workers.Total:
		condition(s, workersReady, true, "AllUp", "")
	case s.Phase == crd.Running:
		condition(s, workersReady, true, "WorkersReady", fmt.Sprintf("%d of %d", s.Workers.Ready, s.Workers.Total))
	default:
		condition(s, workersReady, false, "WorkersStarting", fmt.Sprintf("%d of %d are ready", s.Workers.Ready, s.Workers.Total))
	}
}

// phaseOf is the phase of a job that is not terminal. It never goes back from Running, but to Queued.
func phaseOf(e *engine, controller *podObject, s *crd.JobStatus, p progress) string {
	switch {
	case e.suspended:
		return crd.Queued
	case s.Phase == crd.Running || p.profiling():
		return crd.Running
	case controller != nil && controller.Status.Phase == "Running":
		return crd.Initializing
	}
	return crd.Pending
}

// pods lists the pods of a job or a sweep.
func (o *Operator) pods(ctx context.Context, k key) ([]podObject, error) {
	selector := crd.JobSelector(k.name)
	if k.kind == crd.SweepKind {
		selector = crd.LabelApp + "=" + crd.AppName + "," + crd.LabelSweep + "=" + k.name + "," +
			crd.LabelRole + "=" + crd.RoleSweepController
	}
	list, err := o.o.Client.Resource(client.Pods).Namespace(k.namespace).
		List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	pods := make([]podObject, len(list.Items))
	for i := range list.Items {
		if err := read(&list.Items[i], &pods[i]); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

// controllerOf is the newest pod of the controller, nil if there is none.
func controllerOf(pods []podObject) (found *podObject) {
	for i := range pods {
		role := pods[i].Metadata.Labels[crd.LabelRole]
		if role != crd.RoleController && role != crd.RoleSweepController {
			continue
		}
		if found == nil || found.Metadata.CreationTimestamp != nil && pods[i].Metadata.CreationTimestamp != nil &&
			pods[i].Metadata.CreationTimestamp.After(*found.Metadata.CreationTimestamp) {
			found = &pods[i]
		}
	}
	return found
}

func readyWorkers(pods []podObject) (n int) {
	for i := range pods {
		if pods[i].Metadata.Labels[crd.LabelRole] == crd.RoleWorker && pods[i].ready() {
			n++
		}
	}
	return n
}

// closingTime is how long a coordinator whose results are complete may take to end.
const closingTime = 60 * time.Second

// closing reports whether the results of a job are complete while its coordinator still stays for clients of its API.
// Only its exit code says whether the results are a success.
func closing(h *jobHead, controller *podObject) bool {
	marked, err := time.Parse(time.RFC3339Nano, h.Metadata.Annotations[crd.AnnotationComplete])
	if err != nil || time.Since(marked) > closingTime || controller == nil || controller.Status.Phase != "Running" {
		return false
	}
	c := coordinatorOf(controller)
	return c != nil && c.State.Running != nil
}

// close reports the last progress of a run and has its coordinator end at once.
func (o *Operator) close(ctx context.Context, k key, h *jobHead, e *engine, pods []podObject, controller *podObject) (
	time.Duration, error) {
	if p := o.progress(ctx, controller); p.answered {
		if _, err := o.look(ctx, k, h.Metadata.UID, e, pods, controller, p); err != nil {
			return 0, err
		}
		o.shutdown(ctx, controller, crd.PortAPI)
	}
	return min(time.Second, o.o.MonitorInterval), nil
}

// coordinatorOf is the state of the container of the coordinator, or of the controller of a sweep; nil without one.
func coordinatorOf(controller *podObject) *containerStatus {
	if controller == nil {
		return nil
	}
	for i := range controller.Status.ContainerStatuses {
		c := &controller.Status.ContainerStatuses[i]
		if c.Name == crd.ContainerController || c.Name == crd.ContainerSweep {
			return c
		}
	}
	return nil
}

// ended reports whether the results of a benchmark are complete, and why its controller has failed: both where the
// results are complete but no success.
func ended(h *jobHead, e *engine, controller *podObject) (done bool, failure string) {
	marked := h.Metadata.Annotations[crd.AnnotationComplete] != ""
	if c := coordinatorOf(controller); c != nil && c.State.Terminated != nil {
		if t := c.State.Terminated; t.ExitCode != 0 {
			return marked, failureOf(t.ExitCode, t.Message)
		}
		return true, ""
	}
	switch {
	case marked || e.controllerDone:
		return true, ""
	case controller != nil && controller.Status.Phase == "Failed":
		return false, fmt.Sprintf("the controller's pod %s has failed: %s %s", controller.Metadata.Name,
			controller.Status.Reason, controller.Status.Message)
	}
	return false, e.controllerFailed
}

// metCondition begins the lines by which a coordinator says that a condition of --fail-if makes its results a failure.
const metCondition = "✗ --fail-if "

// failureOf says why a coordinator has failed, by its exit code and the end of its output: the conditions under which
// its results are a failure, else its last words.
func failureOf(code int, message string) string {
	var conditions []string
	for line := range strings.Lines(message) {
		if _, condition, ok := strings.Cut(line, metCondition); ok {
			conditions = append(conditions, strings.TrimSpace(condition))
		}
	}
	if len(conditions) > 0 {
		return "the results are a failure by --fail-if: " + strings.Join(conditions, "; ")
	}
	return fmt.Sprintf("the controller has ended with exit code %d%s", code, lastWords(message))
}

// missing fails a job whose engine does not exist: it is looked for again after a pause, and not while an operator
// stores the results of the job.
func (o *Operator) missing(ctx context.Context, k key, h *jobHead) (time.Duration, error) {
	clock.Wait(ctx, rereadAfter)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	e, err := o.engine(ctx, k, h.Metadata.UID)
	if err != nil {
		return 0, retry{apiRetry, err}
	}
	if !e.missing {
		return time.Second, nil
	}
	u, err := o.o.Client.Resource(jobsResource).Namespace(k.namespace).Get(ctx, k.name, metav1.GetOptions{})
	if err != nil {
		return 0, retry{apiRetry, err}
	}
	var now jobHead
	if err := read(u, &now); err != nil {
		return 0, err
	}
	if crd.Terminal(now.Status.Phase) {
		return 0, nil
	}
	if c, ok := claimOf(now.Metadata.Annotations); ok && c.live(o.o.ClaimTrust) {
		return o.o.MonitorInterval, nil
	}
	return lingering, o.fail(ctx, k, h.Metadata.UID, errors.New("JobSet not found: the job's pods were removed from outside"))
}

// limit is how long a job may take; 0 is no limit.
func (o *Operator) limit(ctx context.Context, k key) time.Duration {
	u, err := o.o.Client.Resource(jobsResource).Namespace(k.namespace).Get(ctx, k.name, metav1.GetOptions{})
	if err != nil {
		return 0
	}
	for _, name := range []string{"timeoutSeconds", "timeout_seconds"} {
		value, found, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", name)
		if seconds, ok := toFloat(value); found && ok && seconds > 0 {
			return time.Duration(seconds * float64(time.Second))
		}
	}
	return o.o.JobTimeout
}

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// reportRestarts records an event for every restart of a container from the threshold on.
func (o *Operator) reportRestarts(ctx context.Context, k key, uid string, pods []podObject) {
	for i := range pods {
		for _, c := range pods[i].containers() {
			if o.o.RestartThreshold <= 0 || c.RestartCount < o.o.RestartThreshold {
				continue
			}
			name := fmt.Sprintf("restarts-%s", shortHash(fmt.Sprint(pods[i].Metadata.UID, c.Name, c.RestartCount)))
			o.event(ctx, k, uid, name, "Warning", "ContainerRestarts", fmt.Sprintf(
				"The container %s of pod %s has restarted %d times", c.Name, pods[i].Metadata.Name, c.RestartCount))
		}
	}
}

// silent says that a controller is dead: its heartbeat has not changed for its time, as this operator saw it, and it
// does not answer either.
func (o *Operator) silent(ctx context.Context, h *jobHead, controller *podObject, p progress) string {
	value := h.Metadata.Annotations[crd.AnnotationHeartbeat]
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.beats[h.Metadata.UID]
	if value == "" || value != b.value || p.answered || ctx.Err() != nil {
		o.beats[h.Metadata.UID] = beat{value, time.Now()}
		return ""
	}
	if time.Since(b.at) <= heartbeatDead || controller == nil {
		return ""
	}
	return fmt.Sprintf("the controller has been silent for %.0f seconds", time.Since(b.at).Seconds())
}
