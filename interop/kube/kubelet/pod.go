package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is a pod on one of the nodes.
type pod struct {
	k     *kubelet
	uid   string
	dir   string
	ip    net.IP
	netns string
	// changed is signalled when containers or the object have changed.
	changed chan struct{}
	gone    chan struct{}
	once    sync.Once

	mu         sync.Mutex
	object     *core.Pod
	containers []*container
	reason     string // why it failed, e.g. DeadlineExceeded
	failed     bool
	started    time.Time
}

func newPod(k *kubelet, object *core.Pod) *pod {
	p := &pod{
		k: k, uid: string(object.UID), object: object, changed: make(chan struct{}, 1), gone: make(chan struct{}),
		started: time.Now(), dir: filepath.Join(k.root, string(object.UID)),
	}
	for i := range object.Spec.InitContainers {
		p.containers = append(p.containers, newContainer(p, &object.Spec.InitContainers[i], true))
	}
	for i := range object.Spec.Containers {
		p.containers = append(p.containers, newContainer(p, &object.Spec.Containers[i], false))
	}
	return p
}

func (p *pod) update(object *core.Pod) {
	p.mu.Lock()
	p.object = object
	p.mu.Unlock()
	p.signal()
}

func (p *pod) signal() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// kill ends the pod's processes at once: its object is gone.
func (p *pod) kill() {
	p.once.Do(func() { close(p.gone) })
	for _, c := range p.containers {
		c.kill()
	}
}

func (p *pod) get() *core.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.object
}

// run brings the pod up, reports its status, and takes it down.
func (p *pod) run(ctx context.Context) {
	defer p.k.forget(p)
	defer p.clean()
	work, stop := context.WithCancel(ctx)
	defer stop()
	if err := p.k.connect(p); err != nil {
		log.Printf("pod %s: %v", p.get().Name, err)
		p.mu.Lock()
		p.failed, p.reason = true, "NetworkFailed"
		p.mu.Unlock()
	}
	var running sync.WaitGroup
	running.Go(func() { p.start(work, &running) })
	terminating := false
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		object := p.get()
		if limit := object.Spec.ActiveDeadlineSeconds; limit != nil &&
			time.Since(p.started) > time.Duration(*limit)*time.Second && !terminating {
			p.mu.Lock()
			p.failed, p.reason = true, "DeadlineExceeded"
			p.mu.Unlock()
			terminating = true
			stop()
			running.Go(func() { p.terminate(grace(object)) })
		}
		if object.DeletionTimestamp != nil && !terminating {
			terminating = true
			stop()
			running.Go(func() { p.terminate(grace(object)) })
		}
		status := p.status(terminating)
		ended := status.Phase == core.PodSucceeded || status.Phase == core.PodFailed
		if err := p.write(ctx, status); err != nil && !errors.IsNotFound(err) && ctx.Err() == nil {
			log.Printf("pod %s/%s: %v", object.Namespace, object.Name, err)
			ended = false
		}
		if ended {
			stop()
			p.kill()
			running.Wait()
			if object.DeletionTimestamp != nil || terminating && p.reason == "" {
				p.k.remove(ctx, object)
			} else {
				p.waitForDeletion(ctx)
			}
			return
		}
		select {
		case <-ctx.Done():
			p.kill()
			running.Wait()
			return
		case <-p.gone:
			stop()
			p.kill()
			running.Wait()
			return
		case <-p.changed:
		case <-ticker.C:
		}
	}
}

// waitForDeletion keeps the logs of a pod that has ended until its object is deleted.
func (p *pod) waitForDeletion(ctx context.Context) {
	for {
		object, err := p.k.client.CoreV1().Pods(p.get().Namespace).Get(ctx, p.get().Name, meta.GetOptions{})
		switch {
		case errors.IsNotFound(err) || err == nil && string(object.UID) != p.uid:
			return
		case err == nil && object.DeletionTimestamp != nil:
			p.k.remove(ctx, object)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

func grace(object *core.Pod) time.Duration {
	seconds := int64(30)
	if object.Spec.TerminationGracePeriodSeconds != nil {
		seconds = *object.Spec.TerminationGracePeriodSeconds
	}
	if object.DeletionGracePeriodSeconds != nil {
		seconds = *object.DeletionGracePeriodSeconds
	}
	return time.Duration(seconds) * time.Second
}

// terminate asks all containers to end, and kills those that have not ended after the grace.
func (p *pod) terminate(grace time.Duration) {
	for _, c := range p.containers {
		c.terminate()
	}
	end := time.Now().Add(grace)
	for time.Now().Before(end) && slices.ContainsFunc(p.containers, (*container).alive) {
		time.Sleep(50 * time.Millisecond)
	}
	for _, c := range p.containers {
		c.kill()
	}
}

// start runs the init containers in order and then all others.
func (p *pod) start(ctx context.Context, running *sync.WaitGroup) {
	for _, c := range p.containers {
		switch {
		case !c.init:
			running.Go(func() { c.run(ctx, p.policy()) })
		case c.sidecar():
			running.Go(func() { c.run(ctx, core.RestartPolicyAlways) })
			for !c.isStarted() && ctx.Err() == nil {
				time.Sleep(50 * time.Millisecond)
			}
		default:
			policy := p.policy()
			if policy == core.RestartPolicyAlways {
				policy = core.RestartPolicyOnFailure
			}
			if !c.run(ctx, policy) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

func (p *pod) policy() core.RestartPolicy { return p.get().Spec.RestartPolicy }

// status computes the pod's status of its containers.
func (p *pod) status(terminating bool) core.PodStatus {
	object := p.get()
	status := *object.Status.DeepCopy()
	started := meta.NewTime(p.started)
	status.StartTime = &started
	status.HostIP, status.HostIPs = p.k.gateway.String(), []core.HostIP{{IP: p.k.gateway.String()}}
	status.PodIP, status.PodIPs = p.ip.String(), []core.PodIP{{IP: p.ip.String()}}
	status.QOSClass = object.Status.QOSClass
	status.InitContainerStatuses, status.ContainerStatuses = nil, nil
	initialized, ready, all, bad, initFailed := true, true, true, false, false
	main := 0
	for _, c := range p.containers {
		cs := c.status()
		done := cs.State.Terminated != nil
		if c.init {
			status.InitContainerStatuses = append(status.InitContainerStatuses, cs)
			switch {
			case c.sidecar():
				initialized = initialized && c.isStarted()
			case done && cs.State.Terminated.ExitCode == 0:
			default:
				initialized = false
				initFailed = initFailed || done && c.final()
			}
			continue
		}
		main++
		status.ContainerStatuses = append(status.ContainerStatuses, cs)
		ready = ready && cs.Ready
		all = all && done && (c.final() || terminating)
		bad = bad || done && cs.State.Terminated.ExitCode != 0
	}
	ready = ready && initialized && main > 0
	p.mu.Lock()
	failed, reason := p.failed, p.reason
	p.mu.Unlock()
	switch {
	case initFailed:
		status.Phase = core.PodFailed
	case terminating && !slices.ContainsFunc(p.containers, (*container).alive) && (failed || object.DeletionTimestamp != nil):
		status.Phase = core.PodFailed
		if all && !bad && !failed && initialized {
			status.Phase = core.PodSucceeded
		}
	case failed && !terminating:
		status.Phase = core.PodFailed
	case all && initialized:
		status.Phase = core.PodSucceeded
		if bad {
			status.Phase = core.PodFailed
		}
	case initialized && slices.ContainsFunc(status.ContainerStatuses, func(cs core.ContainerStatus) bool {
		return cs.State.Running != nil || cs.LastTerminationState.Terminated != nil || cs.State.Terminated != nil
	}):
		status.Phase = core.PodRunning
	default:
		status.Phase = core.PodPending
	}
	status.Reason = reason
	over := status.Phase == core.PodSucceeded || status.Phase == core.PodFailed
	for kind, value := range map[core.PodConditionType]bool{
		core.PodInitialized: initialized, core.ContainersReady: ready && !over, core.PodReady: ready && !over,
		core.PodReadyToStartContainers: p.netns != "",
	} {
		setCondition(&status, kind, value)
	}
	return status
}

func setCondition(status *core.PodStatus, kind core.PodConditionType, value bool) {
	wanted := core.ConditionFalse
	if value {
		wanted = core.ConditionTrue
	}
	for i := range status.Conditions {
		if c := &status.Conditions[i]; c.Type == kind {
			if c.Status != wanted {
				c.Status, c.LastTransitionTime = wanted, meta.Now()
			}
			return
		}
	}
	status.Conditions = append(status.Conditions,
		core.PodCondition{Type: kind, Status: wanted, LastTransitionTime: meta.Now()})
}

// write writes a status that differs from the one the API server has.
func (p *pod) write(ctx context.Context, status core.PodStatus) error {
	for range 5 {
		object, err := p.k.client.CoreV1().Pods(p.get().Namespace).Get(ctx, p.get().Name, meta.GetOptions{})
		if err != nil {
			return err
		}
		if string(object.UID) != p.uid {
			return nil
		}
		kept := object.Status
		status.ResourceClaimStatuses, status.ObservedGeneration = kept.ResourceClaimStatuses, kept.ObservedGeneration
		for _, c := range kept.Conditions {
			if !slices.ContainsFunc(status.Conditions, func(o core.PodCondition) bool { return o.Type == c.Type }) {
				status.Conditions = append(status.Conditions, c)
			}
		}
		if fmt.Sprint(kept) == fmt.Sprint(status) {
			return nil
		}
		object.Status = status
		_, err = p.k.client.CoreV1().Pods(object.Namespace).UpdateStatus(ctx, object, meta.UpdateOptions{})
		if !errors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// remove deletes the object of a pod that has ended, as its node does.
func (k *kubelet) remove(ctx context.Context, p *core.Pod) {
	zero := int64(0)
	for range 60 {
		err := k.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, meta.DeleteOptions{
			GracePeriodSeconds: &zero, Preconditions: &meta.Preconditions{UID: &p.UID},
		})
		if err == nil || errors.IsNotFound(err) || errors.IsConflict(err) || ctx.Err() != nil {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func (p *pod) clean() {
	p.k.disconnect(p)
	if err := os.RemoveAll(p.dir); err != nil {
		log.Print(err)
	}
}

// event records an event about the pod.
func (p *pod) event(kind, reason, message string) {
	object := p.get()
	now := meta.Now()
	_, _ = p.k.client.CoreV1().Events(object.Namespace).Create(context.Background(), &core.Event{
		ObjectMeta: meta.ObjectMeta{GenerateName: object.Name + ".", Namespace: object.Namespace},
		InvolvedObject: core.ObjectReference{
			Kind: "Pod", APIVersion: "v1", Namespace: object.Namespace, Name: object.Name, UID: object.UID,
		},
		Type: kind, Reason: reason, Message: message, Source: core.EventSource{Component: "kubelet"},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, meta.CreateOptions{})
}
