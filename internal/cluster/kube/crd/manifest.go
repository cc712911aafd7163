package crd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/config/schema"
)

type values = []any

// Engine runs the pods of a job.
type Engine string

// The engines.
const (
	// EngineJobs are indexed Jobs of Kubernetes itself.
	EngineJobs Engine = "jobs"
	// EngineJobSet is the JobSet of sigs.k8s.io/jobset, where the cluster has it.
	EngineJobSet Engine = "jobset"
)

// Ports of the pods.
const (
	PortAPI     = 9090
	PortResults = 9091
	PortNATS    = 4222
	PortHealth  = 8080
)

// Paths in the pods.
const (
	ConfigDir   = "/etc/aiperf"
	ConfigKey   = "run_config.json"
	TokenDir    = "/etc/aiperf-token"
	TokenKey    = "token"
	ResultsDir  = "/results"
	DatasetsDir = "/aiperf/datasets"
	HubDir      = "/aiperf/hf_home"
)

// Names of containers.
const (
	ContainerController = "control-plane"
	ContainerResults    = "results-sidecar"
	ContainerAgent      = "agent"
	ContainerSweep      = "sweep-controller"
)

// DefaultAccount is the service account of pods that name none.
const DefaultAccount = "default"

// JobSetAPI is the version of JobSet that is written.
const JobSetAPI = "jobset.x-k8s.io/v1alpha2"

// BuildOptions says how a job is deployed.
type BuildOptions struct {
	Engine Engine
	// Token is the shared secret of coordinator and agents.
	Token string
	// Operator reports that the operator creates the objects; else finished pods stay for eight hours, since nothing
	// else stores the results.
	Operator bool
	// Owner is the resource with which the objects are deleted; nil for none.
	Owner *Owner
	// Run is the resolved benchmark; nil has Build resolve it.
	Run *config.Run
	// OperatorNamespace is where the operator's pods may connect from; "" is crd.OperatorNamespace.
	OperatorNamespace string
}

// EngineName is the name of a job's engine, and of its headless Service.
func EngineName(job string) string { return AppName + "-" + job }

// ControllerJob and WorkersJob are the names of the Jobs of a job, with both engines.
func ControllerJob(job string) string { return EngineName(job) + "-controller-0" }

// WorkersJob is the name of the first Job of the workers; with indexed Jobs it is the only one.
func WorkersJob(job string) string { return EngineName(job) + "-workers-0" }

// ControllerHost is the host name of the controller pod.
func ControllerHost(job, namespace string) string {
	return ControllerJob(job) + "-0." + EngineName(job) + "." + namespace + ".svc.cluster.local"
}

// JobLabels are those of all objects of a job.
func JobLabels(job string) Object {
	return Object{LabelApp: AppName, LabelJob: job}
}

// JobSelector selects the pods of a job.
func JobSelector(job string) string {
	return LabelApp + "=" + AppName + "," + LabelJob + "=" + job
}

// builder makes the objects of one job.
type builder struct {
	job  *Job
	o    BuildOptions
	run  *config.Run
	t    Topology
	name string
}

// Build returns the objects of a job in the order in which they are created. The engine comes last.
func Build(job *Job, o BuildOptions) ([]Object, error) {
	if err := ValidJobName(job.Metadata.Name); err != nil {
		return nil, fmt.Errorf("the name of the job: %w", err)
	}
	if job.Metadata.Namespace == "" {
		return nil, fmt.Errorf("the job %s has no namespace", job.Metadata.Name)
	}
	if strings.TrimSpace(job.Spec.Image) == "" {
		return nil, fmt.Errorf("spec.image is missing: name the image of aiperf")
	}
	if err := job.Spec.PodTemplate.Restricted(); err != nil {
		return nil, err
	}
	b := &builder{job: job, o: o, run: o.Run, name: EngineName(job.Metadata.Name)}
	if b.run == nil {
		r, _, err := job.Spec.Resolve("spec", nil)
		if err != nil {
			return nil, err
		}
		b.run = r
	}
	var err error
	if b.t, err = TopologyOf(&job.Spec, b.run); err != nil {
		return nil, err
	}
	if _, err := SharesOf(b.t); err != nil {
		return nil, err
	}
	config, err := b.configMap()
	if err != nil {
		return nil, err
	}
	objects := append(b.access(), config, b.secret(), b.networkPolicy())
	if o.Engine == EngineJobSet {
		objects = append(objects, b.jobSet())
	} else {
		objects = append(objects, b.service(), b.controllerJob(), b.workersJob())
	}
	for _, x := range objects {
		b.own(x)
	}
	return objects, nil
}

// own names the owner of an object.
func (b *builder) own(x Object) {
	if b.o.Owner != nil {
		x["metadata"].(Object)["ownerReferences"] = values{OwnerReference(*b.o.Owner)}
	}
}

// OwnerReference is an owner as metadata have it.
func OwnerReference(o Owner) Object {
	return Object{"apiVersion": o.APIVersion, "kind": o.Kind, "name": o.Name, "uid": o.UID,
		"controller": o.Controller, "blockOwnerDeletion": o.BlockOwnerDeletion}
}

func (b *builder) object(apiVersion, kind, name string) Object {
	return Object{"apiVersion": apiVersion, "kind": kind, "metadata": Object{"name": name,
		"namespace": b.job.Metadata.Namespace, "labels": JobLabels(b.job.Metadata.Name)}}
}

func strs(texts ...string) values {
	out := make(values, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

// access is what the controller pod may do: follow the pods and services of its namespace, for the discovery of server
// metrics, and mark its own job.
func (b *builder) access() []Object {
	role := b.object("rbac.authorization.k8s.io/v1", "Role", b.name+"-role")
	read := strs("get", "list", "watch")
	role["rules"] = values{
		Object{"apiGroups": strs(Group), "resources": strs(Jobs), "verbs": strs("get", "patch"),
			"resourceNames": strs(b.job.Metadata.Name)},
		Object{"apiGroups": strs(""), "resources": strs("pods", "services", "endpoints"), "verbs": read},
	}
	binding := b.object("rbac.authorization.k8s.io/v1", "RoleBinding", b.name+"-binding")
	binding["subjects"] = values{Object{"kind": "ServiceAccount", "name": b.serviceAccount(),
		"namespace": b.job.Metadata.Namespace}}
	binding["roleRef"] = Object{"kind": "Role", "name": b.name + "-role", "apiGroup": "rbac.authorization.k8s.io"}
	return []Object{role, binding}
}

func (b *builder) serviceAccount() string {
	if t := b.job.Spec.PodTemplate; t != nil && t.ServiceAccountName != "" {
		return t.ServiceAccountName
	}
	return DefaultAccount
}

// configMap holds the run as the coordinator reads it.
func (b *builder) configMap() (Object, error) {
	cfg := SnakeKeys(schema.Body(), b.job.Spec.Benchmark)
	runtime := Object{}
	for k, v := range asObject(cfg["runtime"]) {
		runtime[k] = v
	}
	runtime["workers"], runtime["record_processors"] = b.t.Workers, b.t.Processors
	runtime["api_port"], runtime["api_host"] = PortAPI, "0.0.0.0"
	delete(runtime, "workers_per_pod")
	delete(runtime, "workers_min")
	cfg["runtime"] = runtime
	artifacts := Object{}
	for k, v := range asObject(cfg["artifacts"]) {
		artifacts[k] = v
	}
	artifacts["dir"] = ResultsDir
	cfg["artifacts"] = artifacts
	run := Object{"benchmark_id": b.job.Metadata.Name, "cfg": cfg, "artifact_dir": ResultsDir,
		"variables": orEmpty(b.job.Spec.Variables)}
	if seed := b.job.Spec.RandomSeed; seed != nil {
		run["random_seed"] = seed
	}
	text, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("the benchmark cannot be written as JSON: %w", err)
	}
	c := b.object("v1", "ConfigMap", b.name+"-config")
	c["data"] = Object{ConfigKey: string(text)}
	return c, nil
}

func orEmpty(o Object) Object {
	if o == nil {
		return Object{}
	}
	return o
}

// secretName is the name of a secret of the job. With an owner it holds the owner's UID: the operator, which may not
// read secrets, so knows that one which exists already is from an earlier try.
func (b *builder) secretName(suffix string) string {
	if b.o.Owner == nil {
		return b.name + suffix
	}
	return b.name + suffix + "-" + b.o.Owner.UID
}

// secret holds what coordinator and agents know each other by.
func (b *builder) secret() Object {
	s := b.object("v1", "Secret", b.secretName("-token"))
	s["type"] = "Opaque"
	s["stringData"] = Object{TokenKey: b.o.Token}
	return s
}

// networkPolicy opens each port to those who need it: the coordinator's message server to the job's own agents, its API
// to the pods of the namespace and to the operator, and the results to the operator. Nobody reaches the agents. Policies
// add up: one of the user's own can let Prometheus in.
func (b *builder) networkPolicy() Object {
	agents := JobLabels(b.job.Metadata.Name)
	agents[LabelRole] = RoleWorker
	return b.policy(JobLabels(b.job.Metadata.Name),
		ingress(PortNATS, pods(agents)),
		ingress(PortAPI, append(values{pods(Object{})}, b.operator()...)...),
		ingress(PortResults, b.operator()...))
}

// policy is a NetworkPolicy for the pods with some labels. Rules that let nobody in are left out: as the API reads them,
// they let everybody in.
func (b *builder) policy(selected Object, rules ...Object) Object {
	n := b.object("networking.k8s.io/v1", "NetworkPolicy", b.name)
	open := values{}
	for _, r := range rules {
		if len(r["from"].(values)) > 0 {
			open = append(open, r)
		}
	}
	n["spec"] = Object{"podSelector": Object{"matchLabels": selected}, "policyTypes": strs("Ingress"), "ingress": open}
	return n
}

func ingress(port int, from ...any) Object {
	return Object{"from": append(values{}, from...), "ports": values{Object{"protocol": "TCP", "port": port}}}
}

func pods(labels Object) Object {
	if len(labels) == 0 {
		return Object{"podSelector": Object{}}
	}
	return Object{"podSelector": Object{"matchLabels": labels}}
}

// operator is where connections of the operator come from; nowhere for a job without one.
func (b *builder) operator() values {
	if !b.o.Operator {
		return nil
	}
	peer := pods(Object{"app.kubernetes.io/name": AppName, "app.kubernetes.io/component": "operator"})
	peer["namespaceSelector"] = Object{"matchLabels": Object{
		"kubernetes.io/metadata.name": cmp.Or(b.o.OperatorNamespace, OperatorNamespace)}}
	return values{peer}
}

// service gives the pods of indexed Jobs their host names.
func (b *builder) service() Object {
	s := b.object("v1", "Service", b.name)
	s["spec"] = Object{"clusterIP": "None", "selector": JobLabels(b.job.Metadata.Name),
		"publishNotReadyAddresses": true,
		"ports": values{Object{"name": "api", "port": PortAPI, "targetPort": PortAPI},
			Object{"name": "results", "port": PortResults, "targetPort": PortResults},
			Object{"name": "nats", "port": PortNATS, "targetPort": PortNATS}}}
	return s
}

// annotations say at a glance what a job measures.
func (b *builder) annotations() Object {
	return Object{AnnotationModel: strings.Join(b.run.Models, ","), AnnotationEndpoint: b.endpoints()}
}

func (b *builder) endpoints() string {
	endpoint := asObject(b.job.Spec.Benchmark["endpoint"])
	switch urls := endpoint["urls"].(type) {
	case string:
		return urls
	case values:
		texts := make([]string, len(urls))
		for i, u := range urls {
			texts[i] = fmt.Sprint(u)
			if item, ok := u.(map[string]any); ok { // with headers of its own, which are nobody's business here
				texts[i], _ = item["url"].(string)
			}
		}
		return strings.Join(texts, ",")
	}
	if u, ok := endpoint["url"].(string); ok {
		return u
	}
	return ""
}

// queue adds the labels of Kueue to an engine and suspends it: Kueue starts it once there is room.
func (b *builder) queue(x Object) {
	s := b.job.Spec.Scheduling
	if s == nil || s.QueueName == "" && s.PriorityClass == "" {
		return
	}
	labels := x["metadata"].(Object)["labels"].(Object)
	if s.PriorityClass != "" {
		labels[LabelPriority] = s.PriorityClass
	}
	if b.job.Spec.Queue() != "" {
		labels[LabelQueue] = s.QueueName
		x["spec"].(Object)["suspend"] = true
	}
}

// ttl sets how long a finished engine stays.
func (b *builder) ttl(spec Object) {
	def := DirectTTLSeconds
	if b.o.Operator {
		def = DefaultTTLSeconds
	}
	if seconds, ok := b.job.Spec.TTL(def); ok {
		spec["ttlSecondsAfterFinished"] = seconds
	}
}

const (
	workerBackOff = 20
	// workersGone is the TTL of the Jobs of workers below a JobSet, which keeps its own.
	workersGone = 0
)

func (b *builder) jobSpec(count, backOff int, pod Object) Object {
	spec := Object{"parallelism": count, "completions": count, "completionMode": "Indexed", "backoffLimit": backOff,
		"template": pod}
	return spec
}

func (b *builder) controllerJob() Object {
	j := b.object("batch/v1", "Job", ControllerJob(b.job.Metadata.Name))
	j["metadata"].(Object)["annotations"] = b.annotations()
	spec := b.jobSpec(1, 0, b.controllerPod())
	b.ttl(spec)
	b.deadline(spec)
	j["spec"] = spec
	if b.o.Operator && b.job.Spec.Queue() != "" {
		spec["suspend"] = true // until the operator sees that Kueue has admitted the workers
	} else {
		b.queue(j)
	}
	return j
}

func (b *builder) workersJob() Object {
	j := b.object("batch/v1", "Job", WorkersJob(b.job.Metadata.Name))
	spec := b.jobSpec(b.t.Pods, workerBackOff, b.workerPod())
	b.ttl(spec)
	j["spec"] = spec
	b.queue(j)
	return j
}

// deadline bounds a job without an operator, which would do it itself.
func (b *builder) deadline(spec Object) {
	if s := b.job.Spec.TimeoutSeconds; s > 0 && !b.o.Operator {
		spec["activeDeadlineSeconds"] = int64(s)
	}
}

func (b *builder) jobSet() Object {
	controller := b.jobSpec(1, 0, b.controllerPod())
	b.deadline(controller)
	workers := b.jobSpec(1, workerBackOff, b.workerPod())
	if !b.job.Spec.KeepFailedPods {
		workers["ttlSecondsAfterFinished"] = workersGone
	}
	j := b.object(JobSetAPI, "JobSet", b.name)
	j["metadata"].(Object)["annotations"] = b.annotations()
	spec := Object{"network": Object{"enableDNSHostnames": true},
		"successPolicy": Object{"operator": "All", "targetReplicatedJobs": strs("controller")},
		"replicatedJobs": values{
			Object{"name": "controller", "replicas": 1, "template": Object{"spec": controller}},
			Object{"name": "workers", "replicas": b.t.Pods, "template": Object{"spec": workers}}}}
	b.ttl(spec)
	j["spec"] = spec
	b.queue(j)
	return j
}

var ownLabels = []string{LabelApp, LabelJob, LabelName, LabelRole}

func reserved(name string) bool { return slices.Contains(ownLabels, name) }
