package resultsserver

import (
	"bytes"
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"aiperf/internal/base/webpage"
	"aiperf/internal/cluster/kube/client"
	"aiperf/internal/cluster/kube/operator"
)

//go:embed assets/page.html
var assets embed.FS

// maxPageRows bounds the rows of each table of the page; the routes below /api/v1 answer all.
const maxPageRows = 200

// refresh is after how many seconds a browser reads the page anew.
const refresh = 10

// cell is a part of a field of a table: a text, perhaps with a link.
type cell struct{ Text, Link string }

type pageTable struct {
	Title, Empty string
	Columns      []string
	Rows         [][][]cell
}

func plainCell(text string) []cell {
	if text == "" {
		text = "–"
	}
	return []cell{{Text: text}}
}

// page answers a page with the benchmarks of the cluster and the stored runs, which a browser reads anew by itself.
func (s *Server) page(w http.ResponseWriter, r *http.Request) error {
	view := struct {
		webpage.Frame
		Cluster, Note string
		Tables        []pageTable
	}{Cluster: s.o.ClusterName}
	var err error
	if view.Frame, err = webpage.New(webpage.Content{}); err != nil {
		return err
	}
	view.Title, view.Refresh = "Benchmarks", refresh
	if s.o.Client == nil {
		view.Note = noCluster.text
	} else {
		for _, x := range []struct {
			title, plural string
			kind          client.Kind
		}{{"Jobs", "jobs", jobsResource}, {"Sweeps", "sweeps", sweepsResource}} {
			list, err := s.o.Client.Resource(x.kind).List(r.Context(), metav1.ListOptions{})
			if err != nil {
				view.Note = "The cluster does not answer."
				continue
			}
			view.Tables = append(view.Tables, liveTable(x.title, x.plural, list.Items))
		}
	}
	view.Tables = append(view.Tables, storedTable(s.o.Store.Index()))
	var text bytes.Buffer
	if err := webpage.Execute(&text, assets, "assets/page.html", nil, view); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", view.Header())
	_, err = text.WriteTo(w)
	return err
}

// liveTable shows the resources of a kind, the newest first.
func liveTable(title, plural string, list []unstructured.Unstructured) pageTable {
	t := pageTable{Title: title, Empty: "There are none.",
		Columns: []string{"Name", "Phase", "Progress", "Throughput", "Created", "More"}}
	slices.SortStableFunc(list, func(a, b unstructured.Unstructured) int {
		return b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time)
	})
	for i := range list[:min(len(list), maxPageRows)] {
		u := &list[i]
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		route := "/api/v1/" + plural + "/" + u.GetNamespace() + "/" + u.GetName()
		t.Rows = append(t.Rows, [][]cell{plainCell(u.GetNamespace() + "/" + u.GetName()), plainCell(phase),
			plainCell(progressOf(u)), plainCell(throughputOf(u)), plainCell(moment(u.GetCreationTimestamp().Time)),
			{{"status", route}, {"events", route + "/events"}, {"logs", route + "/logs"}}})
	}
	return t
}

// progressOf is how far a job, or a sweep, is.
func progressOf(u *unstructured.Unstructured) string {
	if total, ok, _ := unstructured.NestedInt64(u.Object, "status", "maxTotalRuns"); ok && total > 0 {
		done, _, _ := unstructured.NestedInt64(u.Object, "status", "completedRuns")
		failed, _, _ := unstructured.NestedInt64(u.Object, "status", "failedRuns")
		return fmt.Sprintf("%d of %d runs", done+failed, total)
	}
	phase, _, _ := unstructured.NestedString(u.Object, "status", "currentPhase")
	done, ok, _ := unstructured.NestedInt64(u.Object, "status", "phases", phase, "requestsCompleted")
	if !ok {
		return ""
	}
	if total, ok, _ := unstructured.NestedInt64(u.Object, "status", "phases", phase, "requestsTotal"); ok {
		return fmt.Sprintf("%d of %d requests", done, total)
	}
	return fmt.Sprintf("%d requests", done)
}

// throughputOf is the throughput of a job, at its end or so far.
func throughputOf(u *unstructured.Unstructured) string {
	for _, path := range [][]string{{"summary"}, {"liveMetrics", "metrics"}} {
		v, ok, _ := unstructured.NestedFieldNoCopy(u.Object,
			append(append([]string{"status"}, path...), "request_throughput", "avg")...)
		if f, isNumber := number(v); ok && isNumber {
			return fmt.Sprintf("%.2f req/s", f)
		}
	}
	return ""
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// storedTable shows the runs of the volume, the newest first.
func storedTable(index []operator.Entry) pageTable {
	t := pageTable{Title: "Stored results", Empty: "Nothing is stored yet.",
		Columns: []string{"Name", "Run", "Phase", "Model", "Throughput", "Latency p99", "Results"}}
	for _, e := range index[:min(len(index), maxPageRows)] {
		figure := func(tag, stat string) string {
			v, unit, ok := value(e, tag, stat)
			if !ok {
				return ""
			}
			return strings.TrimSpace(fmt.Sprintf("%.2f %s", v, unit))
		}
		base := "/api/v1/results/" + e.Namespace + "/" + e.Name + "/runs/" + e.Epoch
		links := []cell{{"all files", base + ".zip"}, {"summary", base + "/profile_export"}, {"list", base}}
		if e.Sweep {
			base = "/api/v1/sweeps/" + e.Namespace + "/" + e.Name + "/epochs/" + e.Epoch + "/artifacts"
			links = []cell{{"all files", base + ".zip"}, {"summary", base + "/aggregate.json"}, {"list", base}}
		}
		t.Rows = append(t.Rows, [][]cell{plainCell(e.Namespace + "/" + e.Name), plainCell(moment(e.Started)),
			plainCell(e.Phase), plainCell(e.Model), plainCell(figure("request_throughput", "avg")),
			plainCell(figure("request_latency", "p99")), links})
	}
	return t
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
