package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// container is a container of a pod: at most one process at a time.
type container struct {
	pod  *pod
	spec *core.Container
	init bool

	mu       sync.Mutex
	process  *os.Process
	state    core.ContainerState
	last     core.ContainerState
	restarts int32
	ready    bool
	started  bool
	over     bool // it will not be started again
	stopped  bool // it was asked to end
}

func newContainer(p *pod, spec *core.Container, isInit bool) *container {
	c := &container{pod: p, spec: spec, init: isInit}
	c.state.Waiting = &core.ContainerStateWaiting{Reason: "ContainerCreating"}
	if !isInit && len(p.object.Spec.InitContainers) > 0 {
		c.state.Waiting.Reason = "PodInitializing"
	}
	return c
}

func (c *container) sidecar() bool {
	return c.init && c.spec.RestartPolicy != nil && *c.spec.RestartPolicy == core.ContainerRestartPolicyAlways
}

func (c *container) set(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	c.pod.signal()
}

func (c *container) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process != nil
}

func (c *container) isStarted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

func (c *container) final() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

func (c *container) status() core.ContainerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	started := c.started
	cs := core.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, State: *c.state.DeepCopy(), LastTerminationState: *c.last.DeepCopy(),
		RestartCount: c.restarts, Ready: c.ready, Started: &started,
	}
	if c.state.Running != nil || c.state.Terminated != nil {
		cs.ImageID = "local/" + c.spec.Image
		cs.ContainerID = fmt.Sprintf("local://%s-%s-%d", c.pod.uid, c.spec.Name, c.restarts)
	}
	return cs
}

func (c *container) signalProcess(s os.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil {
		_ = c.process.Signal(s)
	}
}

func (c *container) terminate() {
	c.set(func() { c.stopped = true })
	c.signalProcess(syscall.SIGTERM)
}

func (c *container) kill() {
	c.set(func() { c.stopped = true })
	c.signalProcess(syscall.SIGKILL)
}

// run starts the container, and again as its policy says, and reports whether it has succeeded in the end.
func (c *container) run(ctx context.Context, policy core.RestartPolicy) bool {
	pause := c.pod.k.backoff
	for ctx.Err() == nil {
		if !c.prepare(ctx) {
			return false
		}
		code, began := c.once(ctx), time.Now()
		again := policy == core.RestartPolicyAlways || policy == core.RestartPolicyOnFailure && code != 0
		if !again || c.wasStopped() {
			c.set(func() { c.over = true })
			return code == 0
		}
		if time.Since(began) > 10*time.Minute {
			pause = c.pod.k.backoff
		}
		c.set(func() {
			c.last = c.state
			c.restarts++
			c.state = core.ContainerState{Waiting: &core.ContainerStateWaiting{
				Reason: "CrashLoopBackOff", Message: fmt.Sprintf("back-off %v restarting failed container", pause),
			}}
		})
		if !sleep(ctx, pause) {
			return false
		}
		pause = min(2*pause, 5*time.Minute)
	}
	return false
}

func (c *container) wasStopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// prepare waits until the image and what the container refers to are there.
func (c *container) prepare(ctx context.Context) bool {
	reason := "ErrImagePull"
	for ctx.Err() == nil {
		if _, known := c.pod.k.images[c.spec.Image]; !known {
			message := fmt.Sprintf("Back-off pulling image %q", c.spec.Image)
			if c.spec.ImagePullPolicy == core.PullNever {
				reason, message = "ErrImageNeverPull", fmt.Sprintf("image %q is not present", c.spec.Image)
			}
			c.wait(reason, message)
			if reason == "ErrImagePull" {
				c.pod.event("Warning", "Failed", fmt.Sprintf("Failed to pull image %q: not found", c.spec.Image))
				reason = "ImagePullBackOff"
			}
			if !sleep(ctx, 2*time.Second) {
				return false
			}
			continue
		}
		if _, err := c.pod.environment(ctx, c.spec); err != nil {
			c.wait("CreateContainerConfigError", err.Error())
		} else if err := c.pod.volumes(ctx); err != nil {
			c.wait("ContainerCreating", "")
			c.pod.event("Warning", "FailedMount", err.Error())
		} else {
			return true
		}
		if !sleep(ctx, 2*time.Second) {
			return false
		}
	}
	return false
}

func (c *container) wait(reason, message string) {
	c.set(func() {
		c.state = core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: reason, Message: message}}
	})
}

// once runs the process and returns its exit code.
func (c *container) once(ctx context.Context) int32 {
	began := meta.Now()
	cmd, output, err := c.command(ctx)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.set(func() {
			c.state = core.ContainerState{Terminated: &core.ContainerStateTerminated{
				ExitCode: 128, Reason: "StartError", Message: err.Error(), StartedAt: began, FinishedAt: meta.Now(),
			}}
		})
		return 128
	}
	alive, end := context.WithCancel(ctx)
	c.set(func() {
		c.process, c.ready, c.started = cmd.Process, c.spec.ReadinessProbe == nil, c.spec.StartupProbe == nil
		c.state = core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: began}}
	})
	if c.wasStopped() {
		c.signalProcess(syscall.SIGKILL)
	}
	var probes sync.WaitGroup
	probes.Go(func() { c.probe(alive) })
	logged := make(chan struct{})
	go func() { c.record(output); close(logged) }()
	<-logged
	_ = cmd.Wait()
	end()
	c.set(func() { c.process = nil })
	probes.Wait()
	code := int32(cmd.ProcessState.ExitCode())
	reason := "Completed"
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int32(status.Signal())
	}
	if code != 0 {
		reason = "Error"
	}
	message, _ := os.ReadFile(filepath.Join(c.dir(), "termination-log"))
	if len(message) == 0 && code != 0 && c.spec.TerminationMessagePolicy == core.TerminationMessageFallbackToLogsOnError {
		message = c.lastLines()
	}
	c.set(func() {
		c.ready, c.started = false, c.init && code == 0
		c.state = core.ContainerState{Terminated: &core.ContainerStateTerminated{
			ExitCode: code, Reason: reason, Message: string(message), StartedAt: began, FinishedAt: meta.Now(),
			ContainerID: fmt.Sprintf("local://%s-%s-%d", c.pod.uid, c.spec.Name, c.restarts),
		}}
	})
	return code
}

func (c *container) dir() string { return filepath.Join(c.pod.dir, "containers", c.spec.Name) }

// lastLines is the end of the log without the times: 80 lines and 2048 bytes at most.
func (c *container) lastLines() []byte {
	text, _ := os.ReadFile(c.logFile())
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[max(0, len(lines)-81):] // the last one is empty
	var out []byte
	for _, line := range lines {
		if _, said, ok := bytes.Cut(line, []byte(" ")); ok {
			out = append(out, said...)
		}
	}
	return out[max(0, len(out)-2048):]
}

func (c *container) logFile() string { return filepath.Join(c.dir(), "log") }

// record writes the output to the log, each line with its time.
func (c *container) record(output io.Reader) {
	file, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			_, _ = fmt.Fprintf(file, "%s %s", time.Now().UTC().Format(time.RFC3339Nano), line)
			if line[len(line)-1] != '\n' {
				_, _ = fmt.Fprintln(file)
			}
		}
		if err != nil {
			return
		}
	}
}

// command returns the process of the container, which becomes it by way of this program.
func (c *container) command(ctx context.Context) (*exec.Cmd, io.Reader, error) {
	env, err := c.pod.environment(ctx, c.spec)
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(c.dir(), 0o755); err != nil {
		return nil, nil, err
	}
	b, err := c.box(env)
	if err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(c.dir(), "box.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("/proc/self/exe", "container", file)
	cmd.Stdout, cmd.Stderr = write, write
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL, Setsid: true,
	}
	return cmd, &closing{read, write}, nil
}

// closing is the reading end of a pipe whose writing end belongs to the child alone after the first read.
type closing struct {
	*os.File
	write *os.File
}

func (c *closing) Read(b []byte) (int, error) {
	if c.write != nil {
		_ = c.write.Close()
		c.write = nil
	}
	return c.File.Read(b)
}
