package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"aiperf/internal/watch/gpu"
)

// Bounds of a local collection.
const (
	// hangBudget is how long a driver may take for one reading of all GPUs.
	hangBudget        = 5 * time.Second
	gpuBaselineBudget = 10 * time.Second
	gpuBoundaryBudget = 2 * time.Second
	// maxRestarts is how often a program that ended or hung is started again.
	maxRestarts  = 3
	restartPause = time.Second
)

// LocalGPUOptions shape the collection from the drivers of this machine.
type LocalGPUOptions struct {
	// Vendor is "pynvml" or "amdsmi".
	Vendor   string
	Interval time.Duration
	// OpenTimeout bounds the start of a program, CloseTimeout its end.
	OpenTimeout, CloseTimeout time.Duration
	Catalog                   *gpu.Catalog
	Sink                      GPUSink
	WallNS                    func(time.Time) int64
	Log                       *slog.Logger
	// LookPath finds a program; nil searches next to this one and on PATH.
	LookPath func(name string) (path string, err error)
}

// gpuSource is a program that reads GPUs.
type gpuSource interface {
	// open starts it and waits until it has found the GPUs.
	open(ctx context.Context) error
	// read waits for one reading of all GPUs. After an error the source is of no use until it is opened again.
	read(ctx context.Context) error
	close()
	// period returns the shortest time between two readings that makes sense.
	period() time.Duration
	name() string
}

// localGPUs collects from one source.
type localGPUs struct {
	options LocalGPUOptions
	sources []gpuSource // in the order of preference
	current gpuSource
	turn    chan struct{} // holds a token while the source is asked

	mu        sync.Mutex // guards what follows and serializes the sink
	over      bool
	delivered bool
	found     bool
	failures  map[string]int64
	order     []string
	restarts  int
	dead      bool

	stop, stopped chan struct{}
}

// NewLocalGPUs returns a collector of this machine's GPUs.
func NewLocalGPUs(o LocalGPUOptions) GPUCollector {
	if o.LookPath == nil {
		o.LookPath = findProgram
	}
	l := &localGPUs{options: o, turn: make(chan struct{}, 1), failures: map[string]int64{}}
	vendor := gpuVendors[o.Vendor]
	l.sources = []gpuSource{newGPUHelper(l, vendor.helper), vendor.smi(l)}
	return l
}

// gpuVendor says how a maker's GPUs are read.
type gpuVendor struct {
	id, platform string
	helper       string // argument of the helper
	library      string
	smi          func(*localGPUs) gpuSource
}

var gpuVendors = map[string]gpuVendor{
	"pynvml": {"pynvml://localhost", gpu.NVIDIA, "nvml", "the NVIDIA driver (libnvidia-ml)", newNvidiaSMI},
	"amdsmi": {"amdsmi://localhost", gpu.AMD, "amdsmi", "AMD SMI (libamd_smi)", newAMDSMI},
}

// errNoGPUs reports that the driver works and has nothing to read.
var errNoGPUs = errors.New("no GPUs found")

// Probe implements [GPUCollector]: the first source that finds GPUs is used.
func (l *localGPUs) Probe(ctx context.Context) (bool, error) {
	var reasons []string
	empty := false
	for _, s := range l.sources {
		bounded, cancel := context.WithTimeout(ctx, l.options.OpenTimeout)
		err := s.open(bounded)
		cancel()
		if err == nil {
			l.current, l.found = s, true
			return true, nil
		}
		s.close()
		empty = empty || errors.Is(err, errNoGPUs)
		reasons = append(reasons, s.name()+": "+err.Error())
	}
	if empty || ctx.Err() != nil {
		l.options.Log.Info(fmt.Sprintf("GPU telemetry disabled - %s not available or no GPUs found (%s)",
			l.options.Vendor, strings.Join(reasons, "; ")))
		return false, nil
	}
	return false, fmt.Errorf("--gpu-telemetry %s: the GPUs of this machine cannot be read (%s); install %s and "+
		"aiperf-gpu next to aiperf or on PATH, or omit the option",
		l.options.Vendor, strings.Join(reasons, "; "), gpuVendors[l.options.Vendor].library)
}

// Baseline implements [GPUCollector].
func (l *localGPUs) Baseline(ctx context.Context) {
	l.options.Log.Info("GPU Telemetry: Capturing baseline metrics...")
	l.step(ctx, gpuBaselineBudget)
}

// Boundary implements [GPUCollector].
func (l *localGPUs) Boundary(ctx context.Context) { l.step(ctx, gpuBoundaryBudget) }

// Finish implements [GPUCollector].
func (l *localGPUs) Finish(ctx context.Context) {
	l.stopSchedule()
	l.mu.Lock()
	over := l.over || l.current == nil
	l.mu.Unlock()
	if over {
		return
	}
	l.options.Log.Info("GPU Telemetry: Profiling complete, capturing final metrics...")
	l.step(ctx, hangBudget)
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
}

// Close implements [GPUCollector].
func (l *localGPUs) Close() error {
	l.stopSchedule()
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	if l.current == nil {
		return nil
	}
	closed := make(chan struct{})
	go func() {
		l.current.close()
		close(closed)
	}()
	timer := time.NewTimer(l.options.CloseTimeout)
	defer timer.Stop()
	select {
	case <-closed:
		return nil
	case <-timer.C:
		return fmt.Errorf("GPU telemetry: %s does not end and is abandoned", l.current.name())
	}
}

// Start implements [GPUCollector]: one reading at once, then one at every interval.
func (l *localGPUs) Start() {
	if l.current == nil || l.stop != nil {
		return
	}
	l.stop, l.stopped = make(chan struct{}), make(chan struct{})
	go l.tick()
}

func (l *localGPUs) stopSchedule() {
	if l.stop == nil {
		return
	}
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	<-l.stopped // it waits at most for a reading
}

// tick runs the schedule on its own goroutine.
func (l *localGPUs) tick() {
	defer close(l.stopped)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-l.stop:
			// A reading under way may end by itself; what hangs is left to the final step.
			time.AfterFunc(gpuBoundaryBudget, cancel)
		case <-ctx.Done():
		}
	}()
	ticker := time.NewTicker(max(l.options.Interval, l.current.period()))
	defer ticker.Stop()
	for {
		l.step(ctx, hangBudget)
		select {
		case <-l.stop:
			return
		default:
		}
		select {
		case <-ticker.C:
		case <-l.stop:
			return
		}
	}
}

// step reads all GPUs once, within a budget.
func (l *localGPUs) step(ctx context.Context, budget time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return
	}
	if l.current == nil || l.dead || (l.restarts > 0 && !l.reopen(ctx)) {
		return
	}
	err := l.current.read(ctx)
	if err == nil || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no reading within %s", budget)
	}
	l.fail(err)
	l.current.close()
	l.restarts++
	if l.restarts > maxRestarts {
		l.dead = true
		l.options.Log.Warn(fmt.Sprintf("GPU telemetry: %s failed %d times and is not started again; the run goes on "+
			"without further readings", l.current.name(), l.restarts))
	}
}

// reopen starts a source again that was closed after a failure; an open one stays.
func (l *localGPUs) reopen(ctx context.Context) bool {
	if r, ok := l.current.(interface{ running() bool }); !ok || r.running() {
		return true
	}
	timer := time.NewTimer(restartPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	if err := l.current.open(ctx); err != nil {
		l.fail(err)
		l.current.close()
		l.restarts++
		l.dead = l.dead || l.restarts > maxRestarts
		return false
	}
	return true
}

// fail counts a failure and logs the first of its kind.
func (l *localGPUs) fail(err error) {
	text := l.current.name() + ": " + err.Error()
	l.mu.Lock()
	first := l.failures[text] == 0
	if first && len(l.order) < 100 {
		l.order = append(l.order, text)
	}
	l.failures[text]++
	l.mu.Unlock()
	if first {
		l.options.Log.Warn("GPU telemetry: " + text +
			". It is started again; further failures of this kind are only counted.")
	}
}

// deliver passes readings on, with source and platform filled in.
func (l *localGPUs) deliver(readings []gpu.Reading) {
	v := gpuVendors[l.options.Vendor]
	ns := l.options.WallNS(time.Now())
	for i := range readings {
		r := &readings[i]
		r.Source, r.Platform, r.TimestampNS, r.Hostname = v.id, v.platform, ns, "localhost"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over && len(readings) > 0 {
		l.delivered = true
		l.options.Sink.Read(readings)
	}
}

// Configured implements [GPUCollector].
func (l *localGPUs) Configured() []string { return []string{gpuVendors[l.options.Vendor].id} }

// Successful implements [GPUCollector].
func (l *localGPUs) Successful() []string {
	if !l.found {
		return nil
	}
	return l.Configured()
}

// Errors implements [GPUCollector].
func (l *localGPUs) Errors() []gpu.Failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []gpu.Failure
	for _, text := range l.order {
		list = append(list, gpu.Failure{Type: "GPUDriverError", Message: text, Count: l.failures[text]})
	}
	return list
}
