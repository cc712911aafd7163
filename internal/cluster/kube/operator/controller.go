package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"aiperf/internal/base/artifact"
	"aiperf/internal/cluster/kube/crd"
	"aiperf/internal/config"
	"aiperf/internal/experiment/aggregate"
	"aiperf/internal/experiment/search/loop"
	"aiperf/internal/experiment/series"
	"aiperf/internal/experiment/sweep"
)

// SweepOptions configures a controller.
type SweepOptions struct {
	Client dynamic.Interface
	// Name, Namespace and UID are those of the sweep; Epoch names its run.
	Name, Namespace, UID, Epoch string
	// Dir is the folder of the results.
	Dir string
	// Results reads the summaries of children.
	Results Results
	Version string
	BaseURL string
	Log     *slog.Logger

	ChildPoll, CancelPoll, CancelGrace, ChildMissing, StaleDeletion, SummaryRetryDelay time.Duration
	SummaryRetries                                                                     int
}

// Results reads the summary of a stored run.
type Results interface {
	Summary(ctx context.Context, namespace, job, epoch string) ([]byte, error)
}

// Marker is the file that says that the results are complete.
const Marker = ".sweep-complete"

// Child is a finished child, as children.json has it.
type Child struct {
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	VariationIndex  int    `json:"variation_index"`
	VariationLabel  string `json:"variation_label"`
	VariationValues any    `json:"variation_values"`
	TrialIndex      int    `json:"trial_index"`
	ChildRunEpoch   string `json:"child_run_epoch"`
	Label           string `json:"label"`
	Status          string `json:"status"`
	Error           string `json:"error,omitempty"`
}

// controller is a sweep under way.
type controller struct {
	o         SweepOptions
	spec      crd.Spec
	suffix    bool
	source    *source
	plan      *sweep.Plan
	search    *loop.Search
	whole     *aggregate.Sweep
	runs      series.Plan
	total     int
	cells     int
	started   time.Time
	cancelled bool
	asked     time.Time // when the cancellation was last looked for
	children  []Child
}

// RunSweep makes the runs of a sweep and publishes what they amount to. It returns nil at once where the sweep is another one
// now, or complete.
func RunSweep(ctx context.Context, o SweepOptions) error {
	u, err := o.Client.Resource(sweepsResource).Namespace(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && string(u.GetUID()) != o.UID {
		o.Log.Info("the sweep is gone, or another one now")
		return nil
	}
	if err != nil {
		return err
	}
	if available, _, _ := unstructured.NestedBool(u.Object, "status", "resultsAvailable"); available {
		o.Log.Info("the results of the sweep are stored already")
		return nil
	}
	c := &controller{o: o, started: time.Now()}
	if document, err := os.ReadFile(filepath.Join(o.Dir, "aggregate.json")); err == nil && exists(filepath.Join(o.Dir, Marker)) {
		var d crd.Object
		if err := json.Unmarshal(document, &d); err != nil {
			return err
		}
		phase, _ := d["phase"].(string)
		return c.publishEnd(ctx, phase, d, "")
	}
	if err := c.prepare(u); err != nil {
		return c.refuse(ctx, err)
	}
	return c.run(ctx)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// refuse ends a sweep that cannot be made.
func (c *controller) refuse(ctx context.Context, reason error) error {
	text := artifact.RedactURLs(reason.Error())
	c.o.Log.Error(text)
	document := crd.Object{"phase": crd.Failed, "error": text, "children": []any{}, "completedRuns": 0, "failedRuns": 0}
	if err := c.write(document); err != nil {
		return err
	}
	return c.publishEnd(ctx, crd.Failed, document, text)
}

// prepare reads the specification and plans the cells.
func (c *controller) prepare(u *unstructured.Unstructured) error {
	parsed, err := crd.Parse(u.Object)
	if err == nil {
		err = parsed.Refuse()
	}
	if err != nil {
		return err
	}
	c.spec, c.suffix = parsed.Spec, parsed.Spec.TrialSuffix()
	if c.source, err = newSource(&c.spec); err != nil {
		return err
	}
	c.plan = c.source.plan
	trials, _ := c.spec.Trials()
	cells, base, err := c.source.cells()
	if err != nil {
		return err
	}
	layout := series.Layout{Dir: c.o.Dir, Trials: trials, Independent: c.plan.Independent || base.Series.Convergence != nil,
		Between: c.plan.Cooldown, Pause: base.Series.Cooldown}
	if c.plan.Type == sweep.AdaptiveSearch {
		layout.Independent, layout.Nested = true, true
		spec, warnings := loop.Read(c.plan.Block)
		for _, w := range warnings {
			c.o.Log.Warn(w)
		}
		canonical(spec)
		spec.Trials = trials
		if err := crd.CheckSweepSize(c.o.Name, spec.MaxIterations, trials, c.suffix); err != nil {
			return err
		}
		if c.search, err = loop.New(spec, loop.Options{Dir: c.o.Dir, Log: c.o.Log}); err != nil {
			return err
		}
		if _, err := c.search.Restore(); err != nil {
			return err
		}
		c.runs = &loop.Plan{Layout: layout, Search: c.search, Make: c.source.point}
		c.total, c.cells = spec.MaxIterations*trials, spec.MaxIterations
		c.plan.Filters = spec.Filters
	} else {
		if err := crd.CheckSweepSize(c.o.Name, len(cells), trials, c.suffix); err != nil {
			return err
		}
		if d := c.plan.Design; d != nil {
			if _, err := aggregate.WriteDesign(c.o.Dir, d); err != nil {
				return err
			}
		}
		c.runs = series.NewCells(cells, layout, c.o.Log)
		c.total, c.cells = len(cells)*trials, len(cells)
	}
	c.whole = aggregate.New(cells, aggregate.Options{Version: c.o.Version, Mode: layout.Mode(), Trials: trials,
		Level: base.Series.Confidence, RunCooldown: layout.Pause, Filters: c.plan.Filters})
	return nil
}

// run makes the cells and ends the sweep.
func (c *controller) run(ctx context.Context) error {
	c.publish(ctx, crd.Object{"phase": crd.Running, "totalVariations": c.cells, "maxTotalRuns": c.total,
		"startedAt": stamp(c.started), "runEpoch": c.o.Epoch, "runStates": c.states(0)})
	var done []series.Run
	var failure error
	stopped := false
	for {
		if err := c.lookForCancel(ctx, false); err != nil {
			return err
		}
		step, more := c.runs.Next(done)
		if !more {
			break
		}
		if stopped = c.enough(); stopped {
			break
		}
		if !c.cancelled {
			c.wait(ctx, step.Pause)
		}
		r, made, err := c.cell(ctx, &step)
		if ctx.Err() != nil {
			return ctx.Err() // the pod ends; the next one goes on
		}
		if err != nil {
			failure = err
			break
		}
		if !made {
			break
		}
		done = append(done, r)
		c.whole.Add(r)
	}
	if p, ok := c.runs.(*loop.Plan); ok {
		reason := c.search.Reason()
		switch {
		case c.cancelled:
			reason = loop.Cancelled
		case failure != nil || p.Err != nil || stopped:
			reason = loop.Aborted
		}
		failure = errors.Join(failure, p.Err, c.search.Finish(reason))
	}
	return c.conclude(ctx, done, failure)
}

// enough reports whether the failures so far end the sweep.
func (c *controller) enough() bool {
	policy := c.spec.FailurePolicy
	failed := c.count("Failed")
	return policy != nil && (policy.OnChildFailure == crd.FailureAbort && failed > 0 ||
		policy.MaxFailures > 0 && failed >= policy.MaxFailures)
}

func (c *controller) count(status string) (n int) {
	for i := range c.children {
		if c.children[i].Status == status {
			n++
		}
	}
	return n
}

func (c *controller) states(running int) crd.Object {
	completed, failed, cancelled := c.count("Succeeded"), c.count("Failed"), c.count("Cancelled")
	return crd.Object{"pending": max(0, c.total-completed-failed-cancelled-running), "running": running,
		"completed": completed, "failed": failed, "cancelled": cancelled}
}

// Outcome is the last phase of a sweep: what its children became, whether it was cancelled, and its policy.
func Outcome(cancelled bool, completed, failures, cancelledChildren int, policy *crd.FailurePolicy) string {
	switch {
	case cancelled:
		return crd.Cancelled
	case failures == 0 && completed == 0 && cancelledChildren > 0:
		return crd.Cancelled
	case failures == 0:
		return crd.Succeeded
	case policy != nil && policy.MaxFailures > 0 && failures >= policy.MaxFailures, completed == 0,
		policy != nil && policy.OnChildFailure == crd.FailureAbort:
		return crd.Failed
	}
	return crd.PartiallyFailed
}

// conclude writes the files about all cells and publishes the end.
func (c *controller) conclude(ctx context.Context, done []series.Run, failure error) error {
	c.publish(ctx, crd.Object{"phase": crd.Aggregating, "currentCell": nil, "currentChildRef": nil,
		"runStates": c.states(0), "aggregation": crd.Object{"phase": "Running"}})
	phase := Outcome(c.cancelled, c.count("Succeeded"), c.count("Failed"), c.count("Cancelled"), c.spec.FailurePolicy)
	if failure != nil && !c.cancelled {
		phase = crd.Failed
	}
	if !c.whole.Empty() {
		if _, err := c.whole.Write(c.o.Dir); err != nil {
			failure = errors.Join(failure, err)
		}
	}
	c.prune(done)
	text := ""
	if failure != nil {
		text = artifact.RedactURLs(failure.Error())
	}
	document := c.document(phase, text)
	if err := c.write(document); err != nil {
		return err
	}
	return c.publishEnd(ctx, phase, document, text)
}

// document is aggregate.json.
func (c *controller) document(phase, text string) crd.Object {
	children := plainValue(c.children)
	if children == nil {
		children = []any{}
	}
	different := map[int]bool{}
	for i := range c.children {
		different[c.children[i].VariationIndex] = true
	}
	total := c.cells
	if c.search != nil {
		total = len(different)
	}
	summary := crd.Object{"sweep_type": c.plan.Type}
	if len(c.spec.MultiRun) > 0 {
		summary["multi_run"] = hidden(c.spec.MultiRun)
		if v, ok := c.spec.MultiRun["convergence"]; ok {
			summary["convergence"] = hidden(v)
		}
	}
	if block, ok := c.spec.Sweep.(crd.Object); ok {
		for key, names := range map[string][]string{
			"dimensions": {"parameters", "searchSpace", "search_space", "dimensions"}, "objectives": {"objectives", "objective"},
			"sla_filters": {"slaFilters", "sla_filters"},
		} {
			for _, name := range names {
				if v, ok := block[name]; ok {
					summary[key] = hidden(v)
				}
			}
		}
	}
	document := crd.Object{"phase": phase, "totalVariations": total, "completedRuns": c.count("Succeeded"),
		"failedRuns": c.count("Failed"), "runStates": c.states(0), "children": children, "spec": summary,
		"startedAt": stamp(c.started), "completedAt": stamp(time.Now()), "sweep_run_epoch": c.o.Epoch}
	if text != "" {
		document["error"] = text
	}
	return document
}

// hidden is a value without secrets.
func hidden(v any) any { return crd.Plain(artifact.HideSensitive(crd.Ordered(v))) }

// plainValue is a value as JSON decodes it.
func plainValue(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	_ = json.Unmarshal(data, &out) // it was just made
	return out
}

// write writes the documents and then the marker.
func (c *controller) write(document crd.Object) error {
	for name, value := range map[string]any{
		"aggregate.json": document,
		"children.json":  crd.Object{"sweep_run_epoch": c.o.Epoch, "children": document["children"]},
	} {
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return err
		}
		if err := artifact.WriteFile(filepath.Join(c.o.Dir, name), append(text, '\n')); err != nil {
			return err
		}
	}
	return artifact.WriteFile(filepath.Join(c.o.Dir, Marker), []byte(c.o.Epoch+"\n"))
}

// prune removes the summaries of the children, which are stored as their own results.
func (c *controller) prune(done []series.Run) {
	for i := range done {
		dir := done[i].Artifacts.Dir
		_ = os.Remove(done[i].Artifacts.Path(config.SummaryJSON))
		for dir != c.o.Dir && len(dir) > len(c.o.Dir) && os.Remove(dir) == nil { // what is not empty stays
			dir = filepath.Dir(dir)
		}
	}
}

// MaxInline bounds the copy of the aggregate in the status, in bytes.
const MaxInline = 600_000

// Inline returns the copy of an aggregate for a status. Where it is too large, first the confidence goes, then the
// children, then all of it; what went is said in its place.
func Inline(document crd.Object, limit int) crd.Object {
	size := func(o crd.Object) int {
		data, err := json.Marshal(o)
		if err != nil {
			return limit + 1
		}
		return len(data)
	}
	if size(document) <= limit {
		return document
	}
	trimmed := crd.Object{}
	for name, value := range document {
		if name != "confidence" {
			trimmed[name] = value
		}
	}
	if size(trimmed) <= limit {
		return trimmed
	}
	children, _ := trimmed["children"].([]any)
	delete(trimmed, "children")
	trimmed["childrenTruncated"] = crd.Object{"reason": "size", "total": len(children), "included": 0,
		"sweep_run_epoch": document["sweep_run_epoch"]}
	if size(trimmed) <= limit {
		return trimmed
	}
	return crd.Object{"aggregateTruncated": crd.Object{"reason": "size", "sweep_run_epoch": document["sweep_run_epoch"]}}
}

// publishEnd publishes the last phase. It is tried until ctx ends: nobody else can say it.
func (c *controller) publishEnd(ctx context.Context, phase string, document crd.Object, text string) error {
	now := stamp(time.Now())
	aggregation := crd.Object{"phase": "Complete", "completedAt": now}
	if text != "" {
		aggregation = crd.Object{"phase": "Failed", "completedAt": now, "error": text}
	}
	status := crd.Object{"phase": phase, "completedAt": now, "completionTime": now, "currentCell": nil,
		"currentChildRef": nil, "aggregation": aggregation, "aggregate": Inline(document, MaxInline),
		"completedRuns": document["completedRuns"], "failedRuns": document["failedRuns"], "runEpoch": c.o.Epoch}
	if text != "" {
		status["error"] = text
	}
	if states, ok := document["runStates"]; ok {
		status["runStates"] = states
	}
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		err := c.patchStatus(ctx, status)
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		c.o.Log.Warn("the status cannot be written: " + err.Error())
		if c.wait(ctx, pause); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// publish writes a part of the status. What cannot be written now is written with the next part.
func (c *controller) publish(ctx context.Context, status crd.Object) {
	if err := c.patchStatus(ctx, status); err != nil && ctx.Err() == nil {
		c.o.Log.Warn("the status cannot be written: " + err.Error())
	}
}

func (c *controller) patchStatus(ctx context.Context, status crd.Object) error {
	patch, err := json.Marshal(crd.Object{"status": status})
	if err != nil {
		return err
	}
	_, err = c.o.Client.Resource(sweepsResource).Namespace(c.o.Namespace).
		Patch(ctx, c.o.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (c *controller) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// lookForCancel notes whether the sweep was cancelled, at most every so often.
func (c *controller) lookForCancel(ctx context.Context, soon bool) error {
	if c.cancelled || !soon && time.Since(c.asked) < c.o.CancelPoll {
		return nil
	}
	c.asked = time.Now()
	u, err := c.o.Client.Resource(sweepsResource).Namespace(c.o.Namespace).Get(ctx, c.o.Name, metav1.GetOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("the sweep was deleted")
		}
		return nil // the next look may succeed
	}
	if string(u.GetUID()) != c.o.UID {
		return fmt.Errorf("the sweep is another one now")
	}
	c.cancelled, _, _ = unstructured.NestedBool(u.Object, "spec", "cancel")
	return nil
}
