package deployed

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/crd"
)

// File is a file of results.
type File struct {
	Name string
	Size int64
}

// filesOf reads a list of files: names, or mappings with name and size.
func filesOf(data []byte) ([]File, error) {
	var list struct{ Files []json.RawMessage }
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("the list of files cannot be read: %w", err)
	}
	var files []File
	for _, raw := range list.Files {
		var f File
		if json.Unmarshal(raw, &f.Name) != nil {
			if err := json.Unmarshal(raw, &f); err != nil {
				return nil, fmt.Errorf("the list of files cannot be read: %w", err)
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// summaryFiles are the files of a summary alone.
func summaryFile(name string) bool {
	base := strings.TrimSuffix(filepath.Base(filepath.FromSlash(name)), ".zst")
	return base == "profile_export_aiperf.json" || base == "profile_export_aiperf.csv" || base == "aggregate.json" ||
		base == "report.html"
}

// FetchOptions says which results are fetched, and where to.
type FetchOptions struct {
	// Dir is the folder; "" leaves it to Folder.
	Dir string
	// Folder chooses the folder; same reports whether one holds the results of the same run.
	Folder      func(same func(dir string) bool) (string, error)
	SummaryOnly bool
	// FromPods asks the controller pod instead of the operator's results server.
	FromPods bool
	// Shutdown ends the controller pod once everything was fetched from it.
	Shutdown bool
	// Port of this machine; 0 is a free one.
	Port int
	// OperatorNamespace is "" to search all namespaces for the operator.
	OperatorNamespace string
	// Run is the epoch of an earlier run; "" is the latest.
	Run string
	// Progress is told of each file; nil for nobody.
	Progress func(f File, err error)
}

// ResultsPort is that of the operator's results server.
const ResultsPort = 8081

// OperatorSelector selects the pods of the operator.
const OperatorSelector = crd.LabelApp + "=" + crd.OperatorName

// FindOperator finds a running pod of the operator.
func FindOperator(ctx context.Context, c *client.Client, namespace string) (pod, in string, err error) {
	pods, err := c.List(ctx, client.Pods, namespace, OperatorSelector)
	if err != nil {
		return "", "", err
	}
	for _, p := range pods {
		if text(p, "status", "phase") == "Running" {
			return text(p, "metadata", "name"), text(p, "metadata", "namespace"), nil
		}
	}
	where := "in any namespace"
	if namespace != "" {
		where = "in the namespace " + namespace
	}
	return "", "", fmt.Errorf("no pod of the operator runs %s: give --operator-namespace, or --from-pods to ask the "+
		"pods of the benchmark", where)
}

// Fetch fetches the results of a benchmark. Files that cannot be had are in the error, those that can are written all
// the same. Of a benchmark that the operator has not stored yet, only earlier runs and its pods can be asked: else it is
// an [UnstoredError].
func (b *Benchmark) Fetch(ctx context.Context, c *client.Client, o FetchOptions) (files []File, err error) {
	f, base, err := b.openResults(ctx, c, &o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, one := base, base+"/"
	if o.FromPods {
		list, one = "/api/results/list", "/api/results/files/"
	}
	data, err := get(ctx, f, list)
	if err != nil {
		return nil, fmt.Errorf("the results of %s cannot be listed: %w", b.Name, err)
	}
	all, err := filesOf(data)
	if err != nil {
		return nil, err
	}
	if o.SummaryOnly {
		all = slices.DeleteFunc(all, func(f File) bool { return !summaryFile(f.Name) })
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no results of %s yet", b.Name)
	}
	if o.Dir == "" {
		if o.Dir, err = o.Folder(sameRun(ctx, f, one, all)); err != nil {
			return nil, err
		}
	}
	var failed []error
	for _, file := range all {
		name := strings.TrimSuffix(file.Name, ".zst")
		err := download(ctx, f, one+escaped(name), o.Dir, name)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		} else {
			files = append(files, File{name, file.Size})
		}
		if o.Progress != nil {
			o.Progress(file, err)
		}
	}
	if len(failed) > 0 {
		return files, fmt.Errorf("%d of %d files were not fetched:\n%w", len(failed), len(all), errors.Join(failed...))
	}
	if o.Shutdown && o.FromPods {
		_, err = b.Shutdown(ctx, c, 0)
		return files, err
	}
	return files, nil
}

// sameRun returns whether a folder holds the run of some files, by the first summary among them. Without a summary none
// does.
func sameRun(ctx context.Context, f *client.Forward, base string, all []File) func(dir string) bool {
	var summary string
	for _, file := range all {
		name := strings.TrimSuffix(file.Name, ".zst")
		if filepath.IsLocal(filepath.FromSlash(name)) && strings.HasSuffix("/"+name, "/profile_export_aiperf.json") &&
			(summary == "" || name < summary) {
			summary = name
		}
	}
	var fetched runIdentity
	if summary != "" {
		data, err := get(ctx, f, base+escaped(summary))
		if err == nil {
			fetched = identityOf(data)
		}
	}
	return func(dir string) bool {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(summary)))
		return err == nil && fetched != runIdentity{} && identityOf(data) == fetched
	}
}

// runIdentity tells runs apart: one that a controller repeats has the identifier of the first.
type runIdentity struct {
	ID    string `json:"benchmark_id"`
	Start string `json:"start_time"`
}

// identityOf reads it from a summary; the zero value where that lacks a part.
func identityOf(summary []byte) runIdentity {
	var id runIdentity
	if json.Unmarshal(summary, &id) != nil || id.ID == "" || id.Start == "" {
		return runIdentity{}
	}
	return id
}

// openResults connects with the server that has the results; base is the path of their list.
func (b *Benchmark) openResults(ctx context.Context, c *client.Client, o *FetchOptions) (f *client.Forward, base string,
	err error) {
	if b.Direct() {
		o.FromPods = true // nothing else has them
	}
	if o.FromPods {
		pod, err := b.Controller(ctx, c)
		if err != nil {
			return nil, "", err
		}
		if pod == "" {
			return nil, "", fmt.Errorf("the controller pod of %s does not run (the benchmark is %s), and without the "+
				"operator nothing else has its results", b.Name, b.Phase())
		}
		f, err := c.Forward(ctx, b.Namespace, pod, crd.PortResults, o.Port)
		return f, "", err
	}
	if o.Run == "" {
		if err := b.unstored("--from-pods asks its controller pod"); err != nil {
			return nil, "", err
		}
	}
	f, err = OpenOperator(ctx, c, o.OperatorNamespace, o.Port)
	if err != nil {
		return nil, "", err
	}
	return f, b.resultsPath(o.Run), nil
}

// resultsPath is the path of the results of a run on the results server.
func (b *Benchmark) resultsPath(run string) string {
	base := "/api/v1/results/" + b.Namespace + "/" + b.Name
	if b.Kind == crd.SweepKind {
		base = "/api/v1/sweeps/" + b.Namespace + "/" + b.Name
		if run == "" {
			run = text(b.Object, "status", "runEpoch")
		}
		return base + "/epochs/" + run + "/artifacts"
	}
	if run != "" {
		return base + "/runs/" + run
	}
	return base
}

// OpenOperator connects with the operator's results server.
func OpenOperator(ctx context.Context, c *client.Client, namespace string, port int) (*client.Forward, error) {
	pod, in, err := FindOperator(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	f, err := c.Forward(ctx, in, pod, ResultsPort, port)
	if err == nil {
		f.Token = operatorToken(ctx, c, in)
	}
	return f, err
}

// operatorToken is the token of the results server of an operator; "" where it cannot be read, which an open server does
// not mind.
func operatorToken(ctx context.Context, c *client.Client, namespace string) string {
	secret, err := c.Get(ctx, client.Secrets, namespace, crd.ResultsSecret)
	if err != nil {
		return ""
	}
	token, err := base64.StdEncoding.DecodeString(text(secret, "data", crd.TokenKey))
	if err != nil {
		return ""
	}
	return string(token)
}

func escaped(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// download writes a file of a server below a folder.
func download(ctx context.Context, f *client.Forward, from, dir, name string) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return errors.New("its name leads out of the folder")
	}
	reply, err := send(ctx, http.MethodGet, f, from)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", reply.Status)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(path), ".fetch-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, reply.Body)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := os.Chmod(out.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(out.Name(), path)
}

// Run is a stored run of a benchmark.
type Run struct {
	Epoch     string `json:"epoch"`
	Timestamp string `json:"timestamp"`
	Files     int    `json:"files"`
	Size      int64  `json:"size"`
	Latest    bool   `json:"latest"`
	// WouldDelete is what the server itself says of its limits; nil if it does not.
	WouldDelete *bool `json:"would_delete"`
}

// Runs lists the stored runs; the document is what the server said.
func (b *Benchmark) Runs(ctx context.Context, f *client.Forward) (runs []Run, document []byte, err error) {
	path := "/api/v1/results/" + b.Namespace + "/" + b.Name + "/runs"
	if b.Kind == crd.SweepKind {
		path = "/api/v1/sweeps/" + b.Namespace + "/" + b.Name + "/epochs"
	}
	document, err = get(ctx, f, path)
	if err != nil {
		return nil, nil, err
	}
	var list struct{ Runs []Run }
	if err := json.Unmarshal(document, &list); err != nil {
		return nil, nil, fmt.Errorf("the list of runs cannot be read: %w", err)
	}
	return list.Runs, document, nil
}

// Retention are the limits of the results server.
type Retention struct {
	KeepRuns int     `json:"retain_runs"`
	KeepDays float64 `json:"retain_days"`
}

// ReadRetention asks the results server for its limits.
func ReadRetention(ctx context.Context, f *client.Forward) (*Retention, error) {
	data, err := get(ctx, f, "/api/v1/config/retention")
	if err != nil {
		return nil, err
	}
	var r Retention
	return &r, json.Unmarshal(data, &r)
}

// Removes reports whether the limits would delete a run, the at-th of so many, newest first: it is beyond the number
// that is kept, and older than the days that are; the latest one stays.
func (r *Retention) Removes(at, runs int, run Run, now time.Time) bool {
	if run.WouldDelete != nil {
		return *run.WouldDelete
	}
	if run.Latest || at < r.KeepRuns || runs <= r.KeepRuns {
		return false
	}
	if r.KeepDays <= 0 {
		return true
	}
	started, err := time.Parse(time.RFC3339, run.Timestamp)
	return err == nil && now.Sub(started) > time.Duration(r.KeepDays*24*float64(time.Hour))
}
