package operator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"aiperf/internal/base/clock"
	"aiperf/internal/cluster/kube/crd"
)

// maxRetryDelay bounds the pause between two downloads.
const maxRetryDelay = 30 * time.Second

// claim is the right to store the results of a job.
type claim struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// claimOf reads the claim of a job.
func claimOf(annotations map[string]string) (c claim, ok bool) {
	text := annotations[crd.AnnotationClaimed]
	return c, text != "" && json.Unmarshal([]byte(text), &c) == nil
}

// live reports whether a claim is respected still.
func (c claim) live(trust time.Duration) bool { return time.Since(c.At) < trust }

// claim takes the right to store the results of a job, and reports whether it was free.
func (o *Operator) claim(ctx context.Context, k key, uid string) (bool, error) {
	jobs := o.o.Client.Resource(jobsResource).Namespace(k.namespace)
	u, err := jobs.Get(ctx, k.name, metav1.GetOptions{})
	if err != nil {
		return false, retry{apiRetry, err}
	}
	if string(u.GetUID()) != uid {
		return false, nil
	}
	if c, ok := claimOf(u.GetAnnotations()); ok && c.By != o.o.Identity && c.live(o.o.ClaimTrust) {
		return false, nil
	}
	text, err := json.Marshal(claim{o.o.Identity, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return false, err
	}
	patch, err := json.Marshal(crd.Object{"metadata": crd.Object{
		"annotations": crd.Object{crd.AnnotationClaimed: string(text)}, "resourceVersion": u.GetResourceVersion(),
	}})
	if err != nil {
		return false, err
	}
	_, err = jobs.Patch(ctx, k.name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsConflict(err) {
		return false, retry{time.Second, err}
	}
	if err != nil {
		return false, retry{apiRetry, err}
	}
	return true, nil
}

// finish stores the complete results of a job and then ends its pods. The job has failed where failure says why the
// results are no success.
func (o *Operator) finish(ctx context.Context, k key, h *jobHead, controller *podObject, failure string) (time.Duration, error) {
	phase := crd.Completed
	if failure != "" {
		phase = crd.Failed
	}
	uid := h.Metadata.UID
	mine, err := o.claim(ctx, k, uid)
	if err != nil || !mine {
		return o.o.MonitorInterval, err
	}
	r := runOf(k, &h.Status)
	if err := o.download(ctx, controller, r); err != nil {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		o.event(ctx, k, uid, "results-"+shortHash(uid), "Warning", "ResultsFetchFailed", err.Error())
		if _, err := o.updateJob(ctx, k, uid, func(h *jobHead) {
			condition(&h.Status, resultsAvailable, false, "ResultsFetchFailed", err.Error())
		}); err != nil {
			return 0, err
		}
		return lingering, o.fail(ctx, k, uid, fmt.Errorf("the results could not be fetched: %w", err))
	}
	var indexError error
	if err := o.o.Store.Finish(r); err != nil {
		return 0, retry{persistenceRetry, fmt.Errorf("the results volume: %w", err)}
	}
	e, _ := o.o.Store.Entry(r)
	now := time.Now().UTC().Truncate(time.Second)
	e.Namespace, e.Name, e.Epoch, e.Phase, e.Completed = k.namespace, k.name, r.Epoch, phase, &now
	if indexError = o.o.Store.Note(e); indexError != nil {
		o.o.Log.Warn("the index: " + indexError.Error())
	}
	last := o.progress(ctx, controller)
	if _, err := o.updateJob(ctx, k, uid, func(h *jobHead) {
		s := &h.Status
		last.report(s)
		o.stored(s, r)
		if s.Phase != crd.Running {
			condition(s, workersReady, true, "CompletedBeforeMonitor", "")
			condition(s, benchmarkRunning, false, "CompletedBeforeMonitor", "")
		}
		condition(s, resultsAvailable, true, "ResultsStored", "")
		if indexError != nil {
			condition(s, indexUpdated, false, "IndexUpdateFailed", indexError.Error())
		}
		end(s, phase, failure)
	}); err != nil {
		return 0, err
	}
	o.counted(phase)
	o.shutdown(ctx, controller, crd.PortResults)
	return lingering, nil
}

// stored says in a status where the results are, and what they amount to.
func (o *Operator) stored(s *crd.JobStatus, r ArchivedRun) {
	s.ResultsPath = r.Dir()
	exported := true
	s.ResultsExported = &exported
	if e, ok := o.o.Store.Entry(r); ok && e.Metrics != nil {
		s.Summary = summaryOf(e.Metrics)
	}
	if data, err := o.o.Store.ReadFile(r, serverMetricsFile, maxServerFile); err == nil {
		s.ServerMetrics = serverMetrics(data)
	}
	s.Results = crd.Object{
		"path": r.Dir(), "url": strings.TrimSuffix(o.o.BaseURL, "/") + "/api/v1/results/" + r.Namespace + "/" + r.Name,
	}
}

// summaryOf is what a status shows of the figures of a run.
func summaryOf(metrics map[string]Metric) crd.Object {
	summary := crd.Object{}
	for tag, m := range metrics {
		if !liveTags[tag] {
			continue
		}
		entry := crd.Object{"unit": m.Unit}
		for name, value := range m.Stats {
			entry[name] = rounded(value, 2)
		}
		summary[tag] = entry
	}
	return summary
}

// shutdown asks what listens on a port of a controller to end, so that the pod can: the sidecar, or the coordinator that
// stays for clients of its API. One that does not hear it ends by itself.
func (o *Operator) shutdown(ctx context.Context, controller *podObject, port int) {
	if controller == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, controllerTimeout)
	defer cancel()
	if reply, err := o.o.Pods.Do(ctx, http.MethodPost, controller.ref(), port, "/api/shutdown"); err == nil {
		drain(reply)
	}
}

// download stores the files of a run; it is tried several times.
func (o *Operator) download(ctx context.Context, controller *podObject, r ArchivedRun) error {
	if controller == nil {
		return errors.New("the controller's pod is gone")
	}
	delay := o.o.ResultsRetryDelay
	var err error
	for try := range o.o.ResultsRetries {
		if try > 0 {
			clock.Wait(ctx, delay)
			delay = min(2*delay, maxRetryDelay)
		}
		if err = o.downloadOnce(ctx, controller, r); err == nil || ctx.Err() != nil {
			return err
		}
		o.o.Log.Warn("fetching the results of "+r.Dir()+": "+err.Error(), "try", try+1)
	}
	return err
}

// listing is the sidecar's list of files.
type listing struct {
	Files []File `json:"files"`
	// Ready says that the files will not change any more, Partial that the run has not completed them.
	Ready   bool `json:"ready"`
	Partial bool `json:"partial"`
}

func (o *Operator) downloadOnce(ctx context.Context, controller *podObject, r ArchivedRun) error {
	ctx, cancel := context.WithTimeout(ctx, o.o.DownloadTimeout)
	defer cancel()
	var list listing
	if err := o.ask(ctx, controller, crd.PortResults, "/api/results/list", &list); err != nil {
		return err
	}
	if !list.Ready || list.Partial {
		return errors.New("the results are not complete yet")
	}
	return o.fetch(ctx, controller, r, list.Files)
}

// fetch stores files of a pod.
func (o *Operator) fetch(ctx context.Context, pod *podObject, r ArchivedRun, files []File) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	work := make(chan File)
	for range max(1, o.o.DownloadConcurrency) {
		running.Go(func() {
			for f := range work {
				if err := o.fetchFile(ctx, pod, r, f); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		work <- f
	}
	close(work)
	running.Wait()
	return context.Cause(ctx)
}

func (o *Operator) fetchFile(ctx context.Context, pod *podObject, r ArchivedRun, f File) error {
	path := (&url.URL{Path: "/api/results/files/" + f.Name}).EscapedPath()
	reply, err := o.o.Pods.Do(ctx, http.MethodGet, pod.ref(), crd.PortResults, path)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", f.Name, reply.Status)
	}
	counted := &counter{reader: reply.Body}
	if err := o.o.Store.Put(r, f.Name, counted); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if f.Size >= 0 && counted.n != f.Size {
		return fmt.Errorf("%s has %d bytes, not the %d of the list", f.Name, counted.n, f.Size)
	}
	return nil
}

type counter struct {
	reader io.Reader
	n      int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.reader.Read(b)
	c.n += int64(n)
	return n, err
}

// controllerFailed ends a job whose controller has failed, with what of its results can be had: the files of its last
// checkpoint, else the metrics of the last look.
func (o *Operator) controllerFailed(ctx context.Context, k key, h *jobHead, controller *podObject, reason string) error {
	uid := h.Metadata.UID
	r := runOf(k, &h.Status)
	recovered, message := o.recover(ctx, controller, r, &h.Status)
	h, err := o.updateJob(ctx, k, uid, func(h *jobHead) {
		s := &h.Status
		s.ControllerFailure = reason
		condition(s, resultsAvailable, recovered != "ControllerTerminated", recovered, message)
		if recovered != "ControllerTerminated" {
			s.ResultsPath = r.Dir()
		}
		end(s, crd.Failed, reason)
	})
	if err != nil {
		return err
	}
	o.counted(crd.Failed)
	o.note(k, h)
	o.event(ctx, k, uid, "controller-failed", "Warning", "ControllerFailed", reason)
	o.shutdown(ctx, controller, crd.PortResults)
	return nil
}

// recover stores what there is of an incomplete run and says which kind of results that is.
func (o *Operator) recover(ctx context.Context, controller *podObject, r ArchivedRun, s *crd.JobStatus) (kind, message string) {
	if controller != nil && controller.Status.Phase == "Running" {
		var list listing
		within, cancel := context.WithTimeout(ctx, o.o.DownloadTimeout)
		defer cancel()
		if err := o.ask(within, controller, crd.PortResults, "/api/results/list", &list); err == nil && len(list.Files) > 0 {
			err := o.fetch(within, controller, r, list.Files)
			if err == nil {
				return "PartialCheckpointRecovered", fmt.Sprintf("%d files of the last checkpoint", len(list.Files))
			}
			message = err.Error()
		}
	}
	if kept, note := o.keepMetrics(r, s); kept != "" {
		return kept, note
	} else if note != "" {
		message = note
	}
	return "ControllerTerminated", message
}

// keepMetrics stores the metrics of the last look at a run that will have no others, and says so; "" is for none, with
// the reason where they could not be stored.
func (o *Operator) keepMetrics(r ArchivedRun, s *crd.JobStatus) (kind, message string) {
	if len(s.LiveMetrics) == 0 {
		return "", ""
	}
	text, err := json.MarshalIndent(s.LiveMetrics, "", "  ")
	if err == nil {
		err = o.o.Store.Put(r, "live_metrics.json", bytes.NewReader(text))
	}
	if err != nil {
		return "", err.Error()
	}
	return "PartialLiveMetricsRecovered", "the metrics of the last look"
}

// logLine begins the lines of a log that report no error.
var logLine = regexp.MustCompile(`^\d\d:\d\d:\d\d\.\d+ (TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARNING) `)

// maxWords is how many characters of a container's last words are kept.
const maxWords = 600

// lastWords is why a coordinator has ended by the end of its output, as the end of a sentence: what stands in the last
// frame of an error, whose beginning may have been cut off, else the last line that is not from its log.
func lastWords(message string) string {
	var framed, plain string
	var frame []string
	wrong := true // the frame that the output begins in is taken for an error's
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "╭"):
			frame, wrong = nil, strings.Contains(line, " Error ")
		case strings.HasPrefix(line, "╰"):
			if wrong && len(frame) > 0 {
				framed = strings.Join(frame, " ")
			}
			frame, wrong = nil, false
		case strings.HasPrefix(line, "│"):
			frame = append(frame, strings.TrimSpace(strings.Trim(line, "│")))
		case line != "" && !logLine.MatchString(line):
			plain = line
		}
	}
	said := []rune(strings.Join(strings.Fields(cmp.Or(framed, plain)), " "))
	switch {
	case len(said) == 0:
		return ""
	case len(said) > maxWords:
		return ": " + string(said[:maxWords]) + "…"
	}
	return ": " + string(said)
}
