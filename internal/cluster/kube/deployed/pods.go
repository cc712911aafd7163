package deployed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// Pods are the pods of a benchmark: the controller's first, then by name.
func (b *Benchmark) Pods(ctx context.Context, c *client.Client) ([]client.Object, error) {
	selector := crd.JobSelector(b.Name)
	if b.Kind == crd.SweepKind {
		selector = crd.LabelSweep + "=" + b.Name
	}
	pods, err := c.List(ctx, client.Pods, b.Namespace, selector)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pods, func(a, b client.Object) int {
		rank := func(o client.Object) int {
			if text(o, "metadata", "labels", crd.LabelRole) == crd.RoleController {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(text(a, "metadata", "name"), text(b, "metadata", "name")))
	})
	return pods, nil
}

// Controller is the running controller pod of a benchmark; "" if there is none.
func (b *Benchmark) Controller(ctx context.Context, c *client.Client) (name string, err error) {
	pods, err := b.Pods(ctx, c)
	if err != nil {
		return "", err
	}
	for _, p := range pods {
		if text(p, "metadata", "labels", crd.LabelRole) == crd.RoleController && text(p, "status", "phase") == "Running" {
			return text(p, "metadata", "name"), nil
		}
	}
	return "", nil
}

// containerNames are those of a pod, or only the one of the name.
func containerNames(pod client.Object, only string) (names []string) {
	for _, x := range items(pod, "spec", "containers") {
		if name, _ := x["name"].(string); only == "" || name == only {
			names = append(names, name)
		}
	}
	return names
}

// LogsOptions says which logs of a benchmark are written, and where to.
type LogsOptions struct {
	client.LogOptions
	// Dir gets a file for each pod and container; "" writes to Out, each line after the name of its container where
	// there are several.
	Dir string
	Out io.Writer
}

// Logs writes the logs of a benchmark; it returns the files.
func (b *Benchmark) Logs(ctx context.Context, c *client.Client, o LogsOptions) (files []string, err error) {
	pods, err := b.Pods(ctx, c)
	if err != nil {
		return nil, err
	}
	type source struct{ pod, container string }
	var sources []source
	for _, p := range pods {
		for _, name := range containerNames(p, o.Container) {
			sources = append(sources, source{text(p, "metadata", "name"), name})
		}
	}
	switch {
	case len(pods) == 0:
		return nil, fmt.Errorf("the benchmark %s has no pods, or they are gone already", b.Name)
	case len(sources) == 0:
		return nil, fmt.Errorf("no pod of %s has a container %q", b.Name, o.Container)
	}
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			return nil, err
		}
	}
	var mu sync.Mutex
	var failed []error
	one := func(s source) {
		from := o.LogOptions
		from.Container = s.container
		in, err := c.Logs(ctx, b.Namespace, s.pod, from)
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, fmt.Errorf("%s/%s: %w", s.pod, s.container, err))
			return
		}
		defer in.Close()
		if o.Dir != "" {
			path := filepath.Join(o.Dir, s.pod+"_"+s.container+".log")
			out, err := os.Create(path)
			if err == nil {
				_, err = io.Copy(out, in)
				err = errors.Join(err, out.Close())
			}
			mu.Lock()
			defer mu.Unlock()
			files = append(files, path)
			if err != nil && ctx.Err() == nil {
				failed = append(failed, err)
			}
			return
		}
		prefix := ""
		if len(sources) > 1 {
			prefix = "[" + s.pod + "/" + s.container + "] "
		}
		copyLines(o.Out, in, prefix, &mu)
	}
	if o.Follow {
		var all sync.WaitGroup
		for _, s := range sources {
			all.Go(func() { one(s) })
		}
		all.Wait()
	} else {
		for _, s := range sources {
			one(s)
		}
	}
	return files, errors.Join(failed...)
}

// maxLine bounds a line of a log that is printed; longer ones are broken.
const maxLine = 64 << 10

// copyLines copies whole lines, each behind a prefix.
func copyLines(out io.Writer, in io.Reader, prefix string, mu *sync.Mutex) {
	var rest []byte
	buffer := make([]byte, 32<<10)
	write := func(line []byte) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, "%s%s\n", prefix, strings.TrimSuffix(string(line), "\r"))
	}
	for {
		n, err := in.Read(buffer)
		rest = append(rest, buffer[:n]...)
		for {
			i := slices.Index(rest, '\n')
			if i < 0 {
				break
			}
			write(rest[:i])
			rest = rest[i+1:]
		}
		if len(rest) > maxLine {
			write(rest)
			rest = nil
		}
		if err != nil {
			if len(rest) > 0 {
				write(rest)
			}
			return
		}
	}
}

// httpClient asks pods and the results server; it bounds the wait for an answer, not its body.
var httpClient = &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: 30 * time.Second}}

// TokenHeader is the header with the token of the results server. The proxy of the API server keeps Authorization to
// itself.
const TokenHeader = "X-Aiperf-Token"

// send makes a request over a forwarded port, with the token of what answers there.
func send(ctx context.Context, method string, f *client.Forward, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, f.URL(path), nil)
	if err != nil {
		return nil, err
	}
	if f.Token != "" {
		r.Header.Set(TokenHeader, f.Token)
	}
	reply, err := httpClient.Do(r)
	if err == nil && reply.StatusCode == http.StatusUnauthorized {
		_ = reply.Body.Close()
		return nil, fmt.Errorf("the results server asks for its token: have an administrator let this account read the "+
			"secret %s in the operator's namespace", crd.ResultsSecret)
	}
	return reply, err
}

// get reads a small document.
func get(ctx context.Context, f *client.Forward, path string) ([]byte, error) {
	return call(ctx, http.MethodGet, f, path)
}

const maxDocument = 16 << 20

func call(ctx context.Context, method string, f *client.Forward, path string) ([]byte, error) {
	reply, err := send(ctx, method, f, path)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(io.LimitReader(reply.Body, maxDocument))
	if err == nil && reply.StatusCode >= 300 {
		err = fmt.Errorf("%s answered %s: %s", path, reply.Status, strings.TrimSpace(string(data[:min(len(data), 200)])))
	}
	return data, err
}

// UnstoredError is a benchmark whose results the operator has not stored yet.
type UnstoredError struct{ Name, Namespace, Phase, Hint string }

func (e *UnstoredError) Error() string {
	return fmt.Sprintf("%s is %s, and the operator has not stored its results yet; %s. aiperf kube attach %s -n %s waits "+
		"for that", e.Name, e.Phase, e.Hint, e.Name, e.Namespace)
}

// settled reports whether a benchmark has ended and the operator is done with it: it stores the results of a sweep after
// its end.
func (b *Benchmark) settled() bool {
	return crd.Terminal(b.Phase()) && (b.Kind != crd.SweepKind || at(b.Object, "status", "resultsAvailable") != nil ||
		at(b.Object, "status", "runtimeRef") == nil)
}

// unstored is an [UnstoredError] until the operator is done with a benchmark of its own.
func (b *Benchmark) unstored(hint string) error {
	if b.Direct() || text(b.Object, "metadata", "name") == "" || b.settled() {
		return nil // a benchmark whose resource is gone is none that runs
	}
	return &UnstoredError{b.Name, b.Namespace, b.Phase(), hint}
}

// Shutdown ends the controller pod of a finished benchmark: the API of the coordinator is asked, and once that has
// ended, the sidecar with the results. As long as the operator has not stored them it is an [UnstoredError]; done is
// false where the controller has ended already.
func (b *Benchmark) Shutdown(ctx context.Context, c *client.Client, local int) (done bool, err error) {
	if err := b.unstored("only then can its controller end"); err != nil {
		return false, err
	}
	pod, err := b.Controller(ctx, c)
	if err != nil {
		return false, err
	}
	if pod == "" {
		if crd.Terminal(b.Phase()) {
			return false, nil
		}
		return false, fmt.Errorf("the controller pod of %s is not running", b.Name)
	}
	api := b.post(ctx, c, pod, crd.PortAPI, local) // it fails where the coordinator has ended already
	for waited := time.Duration(0); ; waited += shutdownPause {
		results := b.post(ctx, c, pod, crd.PortResults, local)
		switch {
		case results == nil:
			return true, nil
		case waited >= shutdownWait || !strings.Contains(results.Error(), "409"):
			return false, errors.Join(api, results)
		}
		if err := sleep(ctx, shutdownPause); err != nil { // the coordinator is about to end
			return false, err
		}
	}
}

// shutdownWait bounds the wait for the end of a coordinator, shutdownPause is the time between two looks.
const (
	shutdownWait  = time.Minute
	shutdownPause = time.Second
)

// post asks a port of the controller pod to shut down.
func (b *Benchmark) post(ctx context.Context, c *client.Client, pod string, port, local int) error {
	f, err := c.Forward(ctx, b.Namespace, pod, port, local)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = call(ctx, http.MethodPost, f, "/api/shutdown")
	return err
}
