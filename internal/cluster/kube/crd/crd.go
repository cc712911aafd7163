// Package crd is what benchmarks are in Kubernetes: the resources AIPerfJob and AIPerfSweep as plain structs, their
// names and labels, the checks of a specification, and the definitions that a cluster is given.
//
// A specification is an envelope of config/schema with the fields of a deployment beside it. Keys are written in
// camelCase and read in both spellings; unknown ones are faults. The package must never know a cluster: it reads and
// writes mappings.
//
// It also makes of a job the objects that a cluster runs: Role, RoleBinding, ConfigMap, Secret, NetworkPolicy, and as
// the engine either a JobSet or indexed Jobs of Kubernetes with a headless Service. A job has one controller pod, in
// which the coordinator of a fleet runs beside the sidecar that serves its results, and pods of workers with one agent
// each. All names and host names are the same with both engines. [Build] is a pure function.
package crd

import (
	"encoding/json"
	"time"
)

// The names of the resources.
const (
	Group      = "aiperf.nvidia.com"
	Version    = "v1alpha1"
	APIVersion = Group + "/" + Version
	JobKind    = "AIPerfJob"
	SweepKind  = "AIPerfSweep"
	Jobs       = "aiperfjobs"
	Sweeps     = "aiperfsweeps"
)

// Labels and annotations. The tool's own win over those of users.
const (
	LabelApp             = "app"
	AppName              = "aiperf"
	LabelJob             = Group + "/job-id"
	LabelName            = Group + "/name"
	LabelRole            = Group + "/role"
	LabelSweep           = Group + "/sweep"
	LabelSweepUID        = Group + "/sweep-uid"
	LabelSweepRunEpoch   = Group + "/sweep-run-epoch"
	LabelVariationIndex  = Group + "/variation-index"
	LabelVariationLabel  = Group + "/variation-label"
	LabelTrialIndex      = Group + "/trial-index"
	LabelQueue           = "kueue.x-k8s.io/queue-name"
	LabelPriority        = "kueue.x-k8s.io/priority-class"
	LabelAccount         = Group + "/for-benchmarks"
	AnnotationValues     = Group + "/variation-values"
	AnnotationIdentity   = Group + "/run-identity"
	AnnotationModel      = Group + "/model"
	AnnotationEndpoint   = Group + "/endpoint"
	AnnotationHeartbeat  = Group + "/controller-heartbeat"
	AnnotationComplete   = Group + "/benchmark-complete"
	AnnotationClaimed    = Group + "/completion-claimed"
	AnnotationHeldBy     = Group + "/operator-id"
	RoleController       = "controller"
	RoleWorker           = "worker"
	RoleSweepController  = "sweep-controller"
	DefaultNamespace     = "aiperf-benchmarks"
	OperatorNamespace    = "aiperf-system"
	OperatorName         = "aiperf-operator"
	ResultsSecret        = OperatorName + "-results"
	DefaultTTLSeconds    = 300
	DirectTTLSeconds     = 28800
	DefaultConnections   = 100
	WorkersPerPod        = 10
	MaxVariations        = 200
	MaxTrials            = 10
	MaxJobName           = 40
	MaxChildName         = 35
	ResourcesBurstable   = "burstable"
	ResourcesGuaranteed  = "guaranteed"
	ResourcesNone        = "none"
	FailureContinue      = "continue"
	FailureAbort         = "abort"
	FinalizerResources   = Group + "/resources"
	maxVariationValues   = 2048
	defaultResultsTTL    = 30
	maxResultsTTL        = 365
	maxRunsWithoutTrials = 1
)

// Object is a resource as the API carries it.
type Object = map[string]any

// Metadata is what the API keeps of every resource.
type Metadata struct {
	Name              string            `json:"name,omitempty"`
	GenerateName      string            `json:"generateName,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	Generation        int64             `json:"generation,omitempty"`
	CreationTimestamp *time.Time        `json:"creationTimestamp,omitempty"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	Finalizers        []string          `json:"finalizers,omitempty"`
	OwnerReferences   []Owner           `json:"ownerReferences,omitempty"`
}

// Owner is the resource with which another one is deleted.
type Owner struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         bool   `json:"controller,omitempty"`
	BlockOwnerDeletion bool   `json:"blockOwnerDeletion,omitempty"`
}

// Job is an AIPerfJob: one benchmark.
type Job struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   Metadata   `json:"metadata"`
	Spec       Spec       `json:"spec"`
	Status     *JobStatus `json:"status,omitempty"`
}

// Sweep is an AIPerfSweep: jobs for the variations and trials of one benchmark.
type Sweep struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Metadata   Metadata     `json:"metadata"`
	Spec       Spec         `json:"spec"`
	Status     *SweepStatus `json:"status,omitempty"`
}

// Spec is the specification of both kinds: the envelope of a configuration file and the deployment.
type Spec struct {
	SchemaVersion string         `json:"schemaVersion,omitempty"`
	Benchmark     map[string]any `json:"benchmark"`
	// Sweep is for AIPerfSweep alone.
	Sweep        any            `json:"sweep,omitempty"`
	MultiRun     map[string]any `json:"multiRun,omitempty"`
	Plot         any            `json:"plot,omitempty"`
	Variables    map[string]any `json:"variables,omitempty"`
	RandomSeed   any            `json:"randomSeed,omitempty"`
	NoSweepTable any            `json:"noSweepTable,omitempty"`
	Deployment
	// ChildMetadata is for AIPerfSweep alone.
	ChildMetadata *ChildMetadata `json:"childMetadata,omitempty"`
}

// Deployment says where and how a benchmark runs.
type Deployment struct {
	Image                string `json:"image,omitempty"`
	ImagePullPolicy      string `json:"imagePullPolicy,omitempty"`
	ResourceMode         string `json:"resourceMode,omitempty"`
	ConnectionsPerWorker *int   `json:"connectionsPerWorker,omitempty"`
	// TimeoutSeconds is how long the benchmark may take; 0 leaves it to the operator.
	TimeoutSeconds          float64        `json:"timeoutSeconds,omitempty"`
	TTLSecondsAfterFinished *int           `json:"ttlSecondsAfterFinished,omitempty"`
	ResultsTTLDays          *int           `json:"resultsTtlDays,omitempty"`
	KeepFailedPods          bool           `json:"keepFailedPods,omitempty"`
	Cancel                  bool           `json:"cancel,omitempty"`
	SkipEndpointCheck       bool           `json:"skipEndpointCheck,omitempty"`
	FailurePolicy           *FailurePolicy `json:"failurePolicy,omitempty"`
	Scheduling              *Scheduling    `json:"scheduling,omitempty"`
	PodTemplate             *PodTemplate   `json:"podTemplate,omitempty"`
}

// FailurePolicy says what failed children do to a sweep.
type FailurePolicy struct {
	OnChildFailure string `json:"onChildFailure,omitempty"`
	// MaxFailures is the number of failed children from which on no further one starts; 0 is unlimited.
	MaxFailures int `json:"maxFailures,omitempty"`
}

// Queue is the name of the LocalQueue in Kueue, empty for none.
func (s *Spec) Queue() string {
	if s.Scheduling == nil {
		return ""
	}
	return s.Scheduling.QueueName
}

// Scheduling names the queue and the priority in Kueue.
type Scheduling struct {
	QueueName     string `json:"queueName,omitempty"`
	PriorityClass string `json:"priorityClass,omitempty"`
}

// PodTemplate is what users add to the pods; its values have the shapes of the Kubernetes API.
type PodTemplate struct {
	Env                           []Object          `json:"env,omitempty"`
	Volumes                       []Object          `json:"volumes,omitempty"`
	VolumeMounts                  []Object          `json:"volumeMounts,omitempty"`
	NodeSelector                  map[string]string `json:"nodeSelector,omitempty"`
	Tolerations                   []Object          `json:"tolerations,omitempty"`
	Affinity                      Object            `json:"affinity,omitempty"`
	Annotations                   map[string]string `json:"annotations,omitempty"`
	Labels                        map[string]string `json:"labels,omitempty"`
	ImagePullSecrets              []any             `json:"imagePullSecrets,omitempty"`
	ServiceAccountName            string            `json:"serviceAccountName,omitempty"`
	ContainerSecurityContext      Object            `json:"containerSecurityContext,omitempty"`
	PodSecurityContext            Object            `json:"podSecurityContext,omitempty"`
	ShareProcessNamespace         bool              `json:"shareProcessNamespace,omitempty"`
	PriorityClassName             string            `json:"priorityClassName,omitempty"`
	RuntimeClassName              string            `json:"runtimeClassName,omitempty"`
	SchedulerName                 string            `json:"schedulerName,omitempty"`
	TopologySpreadConstraints     []Object          `json:"topologySpreadConstraints,omitempty"`
	HostAliases                   []Object          `json:"hostAliases,omitempty"`
	DNSPolicy                     string            `json:"dnsPolicy,omitempty"`
	DNSConfig                     Object            `json:"dnsConfig,omitempty"`
	TerminationGracePeriodSeconds *int              `json:"terminationGracePeriodSeconds,omitempty"`
	InitContainers                []Object          `json:"initContainers,omitempty"`
	ExtraPodSpec                  Object            `json:"extraPodSpec,omitempty"`
}

// ChildMetadata are labels and annotations of the jobs of a sweep; those by which the sweep knows them win.
type ChildMetadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// TTL returns for how many seconds finished pods stay, def where the specification is silent; ok is false where they
// stay for good.
func (d *Deployment) TTL(def int) (seconds int, ok bool) {
	switch {
	case d.KeepFailedPods:
		return 0, false
	case d.TTLSecondsAfterFinished != nil:
		return *d.TTLSecondsAfterFinished, true
	}
	return def, true
}

// ToObject returns a resource as the API carries it.
func ToObject(resource any) (Object, error) {
	data, err := json.Marshal(resource)
	if err != nil {
		return nil, err
	}
	var o Object
	return o, json.Unmarshal(data, &o)
}

// fromObject fills a struct from a mapping.
func fromObject(o any, into any) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
