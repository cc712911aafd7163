package operator

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"aiperf/internal/cluster/kube/crd"
)

// counters are what the operator counts of its own work.
type counters struct {
	// phases are those of the resources as they were seen last.
	phases map[key]string
	// looks and errors are by the kind of the resource, ends by the phase with which a job ended.
	looks, errors, ends map[string]int
}

func newCounters() counters {
	return counters{phases: map[key]string{}, looks: map[string]int{}, errors: map[string]int{}, ends: map[string]int{}}
}

// seen notes the phase of a resource; one without a phase waits for its first look.
func (o *Operator) seen(k key, phase string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counters.phases[k] = cmp.Or(phase, crd.Pending)
}

// gone forgets a resource that does not exist any more.
func (o *Operator) gone(k key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.counters.phases, k)
}

// looked counts a look at a resource.
func (o *Operator) looked(k key, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counters.looks[k.kind]++
	if err != nil {
		o.counters.errors[k.kind]++
	}
}

// counted counts the end of a job.
func (o *Operator) counted(phase string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counters.ends[phase]++
}

// Metrics answers a page for Prometheus about the operator's own work.
func (o *Operator) Metrics(version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		o.writeMetrics(w, version)
	})
}

func (o *Operator) writeMetrics(w io.Writer, version string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	family := func(name, kind, help string) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	family("aiperf_operator_info", "gauge", "Version of the operator.")
	fmt.Fprintf(w, "aiperf_operator_info{version=%q} 1\n", version)
	family("aiperf_operator_leader", "gauge", "1 while this operator leads and has seen all resources once.")
	leads := 0
	if o.ready {
		leads = 1
	}
	fmt.Fprintf(w, "aiperf_operator_leader %d\n", leads)
	family("aiperf_operator_resources", "gauge", "Resources by kind and phase.")
	byPhase := map[[2]string]int{}
	for k, phase := range o.counters.phases {
		byPhase[[2]string{k.kind, phase}]++
	}
	for _, k := range slices.SortedFunc(maps.Keys(byPhase), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	}) {
		fmt.Fprintf(w, "aiperf_operator_resources{kind=%q,phase=%q} %d\n", k[0], k[1], byPhase[k])
	}
	for _, c := range []struct {
		name, label, help string
		values            map[string]int
	}{
		{"aiperf_operator_looks_total", "kind", "Looks at resources.", o.counters.looks},
		{"aiperf_operator_errors_total", "kind", "Looks that failed and are made again.", o.counters.errors},
		{"aiperf_operator_jobs_ended_total", "phase", "Jobs that this operator has ended, by their last phase.",
			o.counters.ends},
	} {
		family(c.name, "counter", c.help)
		for _, value := range slices.Sorted(maps.Keys(c.values)) {
			fmt.Fprintf(w, "%s{%s=%q} %d\n", c.name, c.label, value, c.values[value])
		}
	}
	family("aiperf_operator_queue", "gauge", "Resources that wait for a look.")
	waiting := 0
	if o.queue != nil {
		waiting = o.queue.Len()
	}
	fmt.Fprintf(w, "aiperf_operator_queue %d\n", waiting)
}
