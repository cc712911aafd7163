package crd

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/pattern"
	"aiperf/internal/base/suggest"
	"aiperf/internal/config/schema"
)

// kind is what a field of a deployment holds.
type kind uint8

const (
	text kind = iota
	boolean
	whole
	number
	// section is a mapping with fields, free one with any content, texts one with texts as values.
	section
	free
	texts
	// list is a list of mappings, mixed one of texts or mappings.
	list
	mixed
)

// field is a key of a deployment. One table feeds the schema of the cluster and our own checks.
type field struct {
	name   string
	kind   kind
	help   string
	values []string
	// lo and hi are the limits of a number; NaN is none.
	lo, hi float64
	def    any
	fields []field
	// sweepOnly fields belong to AIPerfSweep.
	sweepOnly bool
}

func f(name string, k kind, help string) field {
	return field{name: name, kind: k, help: help, lo: math.NaN(), hi: math.NaN()}
}

func (x field) of(values ...string) field  { x.values = values; return x }
func (x field) from(lo, hi float64) field  { x.lo, x.hi = lo, hi; return x }
func (x field) with(fields ...field) field { x.fields = fields; return x }
func (x field) defaults(v any) field       { x.def = v; return x }
func (x field) onlySweep() field           { x.sweepOnly = true; return x }
func none() float64                        { return math.NaN() }
func named(list []field, name string) (field, bool) {
	i := slices.IndexFunc(list, func(x field) bool { return x.name == name })
	if i < 0 {
		return field{}, false
	}
	return list[i], true
}

// PullPolicies are when an image is pulled.
func PullPolicies() []string { return []string{"Always", "IfNotPresent", "Never"} }

// deployment are the fields beside the envelope.
func deployment() []field {
	return []field{
		f("image", text, "Image of all containers; required."),
		f("imagePullPolicy", text, "When the image is pulled.").of(PullPolicies()...),
		f("resourceMode", text, "burstable sets requests only, guaranteed limits equal to them, none neither.").
			of(ResourcesBurstable, ResourcesGuaranteed, ResourcesNone).defaults(ResourcesBurstable),
		f("connectionsPerWorker", whole, "Concurrency of a worker; the number of workers follows from it.").
			from(1, none()).defaults(DefaultConnections),
		f("timeoutSeconds", number, "Seconds that the benchmark may take; 0 leaves it to the operator.").from(0, none()),
		f("ttlSecondsAfterFinished", whole, "Seconds that finished pods stay.").from(0, none()),
		f("resultsTtlDays", whole, "Days that stored results stay at least.").from(1, maxResultsTTL),
		f("keepFailedPods", boolean, "Keep finished pods for good."),
		f("cancel", boolean, "Cancel the benchmark."),
		f("skipEndpointCheck", boolean, "Do not ask the server before the pods start."),
		f("failurePolicy", section, "What failed jobs do to a sweep.").with(
			f("onChildFailure", text, "Go on, or end the sweep at the first failed job.").
				of(FailureContinue, FailureAbort).defaults(FailureContinue),
			f("maxFailures", whole, "Failed jobs from which on no further one starts; 0 is unlimited.").
				from(0, none())),
		f("scheduling", section, "The queue in Kueue.").with(
			f("queueName", text, "Name of the LocalQueue."),
			f("priorityClass", text, "Name of the WorkloadPriorityClass.")),
		f("podTemplate", section, "What is added to the pods, as far as the Pod Security Standard restricted "+
			"allows it; values as in the Kubernetes API.").with(
			f("env", list, "Variables of the environment; those that the tool sets win."),
			f("volumes", list, "Volumes of the kinds that restricted allows."), f("volumeMounts", list, "Where they are mounted, in all containers."),
			f("nodeSelector", texts, "Labels of the nodes."), f("tolerations", list, "Taints that are tolerated."),
			f("affinity", free, "Rules of placement."), f("annotations", texts, "Annotations of the pods."),
			f("labels", texts, "Labels of the pods; those of the tool win."),
			f("imagePullSecrets", mixed, "Secrets of the registry: names, or mappings with a name."),
			f("serviceAccountName", text, "Service account of the pods. The operator uses it if it has the label "+
				LabelAccount+": \"true\"."),
			f("containerSecurityContext", free, "Over the security context of each container, within restricted."),
			f("podSecurityContext", free, "Over that of the pods, within restricted."),
			f("shareProcessNamespace", boolean, "Containers of a pod see each other's processes."),
			f("priorityClassName", text, "Priority class of the pods."), f("runtimeClassName", text, "Runtime class."),
			f("schedulerName", text, "Scheduler."), f("topologySpreadConstraints", list, "How pods are spread."),
			f("hostAliases", list, "Lines of /etc/hosts."), f("dnsPolicy", text, "DNS policy."),
			f("dnsConfig", free, "DNS settings."),
			f("terminationGracePeriodSeconds", whole, "Seconds between the request to end and the kill.").
				from(0, none()),
			f("initContainers", list, "Containers that run first; they get the security context of the others."),
			f("extraPodSpec", free, "Other fields of a pod's specification, but for those that the tool or the "+
				"template sets.")),
		f("childMetadata", section, "Metadata of the jobs of a sweep.").onlySweep().with(
			f("labels", texts, "Labels; those by which the sweep knows its jobs win."),
			f("annotations", texts, "Annotations.")),
	}
}

// faults collects what is wrong with a specification.
type faults struct{ texts []string }

func (l *faults) add(path, format string, args ...any) {
	l.texts = append(l.texts, path+": "+fmt.Sprintf(format, args...))
}

// canonical returns a mapping with the names of its known keys in camelCase. Unknown keys go to unknown.
func canonical(m Object, known []field, envelope []string, path string, l *faults, unknown *[]string) Object {
	out := Object{}
	for _, key := range sortedKeys(m) {
		name := schema.Camel(key)
		below := path + "." + key
		x, ok := named(known, name)
		if !ok && !slices.Contains(envelope, name) {
			*unknown = append(*unknown, below+nearest(name, known, envelope))
			continue
		}
		if _, twice := out[name]; twice {
			l.add(below, "is given in camelCase and in snake_case; keep one of them")
			continue
		}
		value := m[key]
		if ok && value != nil {
			if x.kind == section {
				if inner, isMap := value.(Object); isMap {
					value = canonical(inner, x.fields, nil, below, l, unknown)
				}
			}
			check(x, value, below, l)
		}
		if value != nil {
			out[name] = value
		}
	}
	return out
}

func nearest(name string, known []field, envelope []string) string {
	names := slices.Clone(envelope)
	for _, x := range known {
		names = append(names, x.name)
	}
	if near := suggest.Nearest(name, names); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

func sortedKeys(m Object) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// check checks the value of a field.
func check(x field, v any, path string, l *faults) {
	switch x.kind {
	case text:
		s, ok := v.(string)
		switch {
		case !ok:
			l.add(path, "must be a text")
		case x.values != nil && !slices.Contains(x.values, s):
			l.add(path, "is %q; choose %s", s, strings.Join(x.values, ", "))
		case x.name == "image" && strings.TrimSpace(s) == "":
			l.add(path, "is blank; name the image")
		}
	case boolean:
		if _, ok := v.(bool); !ok {
			l.add(path, "must be true or false")
		}
	case whole, number:
		n, ok := asNumber(v)
		switch {
		case !ok || math.IsNaN(n) || math.IsInf(n, 0):
			l.add(path, "must be a finite number")
		case x.kind == whole && n != math.Trunc(n):
			l.add(path, "is %v; it must be a whole number", v)
		case n < x.lo:
			l.add(path, "is %v; it must be at least %v", v, x.lo)
		case n > x.hi:
			l.add(path, "is %v; it must be at most %v", v, x.hi)
		}
	case section, free:
		if _, ok := v.(Object); !ok {
			l.add(path, "must be a mapping")
		}
	case texts:
		m, ok := v.(Object)
		if !ok {
			l.add(path, "must be a mapping of texts")
			return
		}
		for _, k := range sortedKeys(m) {
			if _, ok := m[k].(string); !ok {
				l.add(path+"."+k, "must be a text; put quotes around it")
			}
		}
	case list, mixed:
		items, ok := v.([]any)
		if !ok {
			l.add(path, "must be a list")
			return
		}
		for i, item := range items {
			_, isMap := item.(Object)
			_, isText := item.(string)
			if !isMap && !(x.kind == mixed && isText) {
				l.add(fmt.Sprintf("%s[%d]", path, i), "must be a mapping")
			}
		}
	}
}

func asNumber(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

var (
	dnsLabel     = pattern.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	dnsSubdomain = pattern.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)
