package crd

import (
	"fmt"
	"strconv"
	"strings"
)

// SweepOptions says how the controller of a sweep is deployed.
type SweepOptions struct {
	Owner *Owner
	// Epoch names the run of the sweep, BaseURL is where results are served.
	Epoch, BaseURL, OperatorNamespace string
	// ResultsToken lets the controller read the results of its namespace from the results server.
	ResultsToken string
	// Marker is the file that says that the results are complete.
	Marker string
}

// ResultsTokenVariable is the variable with the token for the results server in the controller of a sweep.
const ResultsTokenVariable = "AIPERF_SWEEP_RESULTS_TOKEN"

const (
	sweepCPU    = 75
	sweepMemory = 512
)

// SweepHost is the host name of a sweep's controller.
func SweepHost(sweep, namespace string) string {
	return EngineName(sweep) + "-0." + EngineName(sweep) + "." + namespace + ".svc.cluster.local"
}

// SweepRules are what the controller of a sweep may do.
func SweepRules(sweep string) []any {
	return values{
		Object{"apiGroups": strs(Group), "resources": strs(Jobs),
			"verbs": strs("create", "delete", "get", "list", "patch", "update", "watch")},
		Object{"apiGroups": strs(Group), "resources": strs(Jobs + "/status"),
			"verbs": strs("get", "patch", "update")},
		Object{"apiGroups": strs(Group), "resources": strs(Sweeps, Sweeps+"/status"),
			"verbs": strs("get", "patch", "update"), "resourceNames": strs(sweep)},
		Object{"apiGroups": strs(""), "resources": strs("events"), "verbs": strs("create", "patch")},
	}
}

// BuildSweep returns the objects of a sweep in the order in which they are created: access, the token for the results
// server, a NetworkPolicy, a headless Service, and the Job of the controller.
func BuildSweep(sweep *Sweep, o SweepOptions) ([]Object, error) {
	if strings.TrimSpace(sweep.Spec.Image) == "" {
		return nil, fmt.Errorf("spec.image is missing: name the image of aiperf")
	}
	if err := sweep.Spec.PodTemplate.Restricted(); err != nil {
		return nil, err
	}
	// The pod is that of a job with this deployment.
	b := &builder{job: &Job{Metadata: sweep.Metadata, Spec: sweep.Spec}, name: EngineName(sweep.Metadata.Name),
		o: BuildOptions{Engine: EngineJobs, Operator: true, Owner: o.Owner, OperatorNamespace: o.OperatorNamespace}}
	name, namespace := sweep.Metadata.Name, sweep.Metadata.Namespace
	labels := func(x Object) Object {
		x["metadata"].(Object)["labels"] = SweepLabels(name)
		return x
	}
	role := labels(b.object("rbac.authorization.k8s.io/v1", "Role", b.name+"-role"))
	role["rules"] = SweepRules(name)
	binding := labels(b.object("rbac.authorization.k8s.io/v1", "RoleBinding", b.name+"-binding"))
	binding["subjects"] = values{Object{"kind": "ServiceAccount", "name": b.serviceAccount(), "namespace": namespace}}
	binding["roleRef"] = Object{"kind": "Role", "name": b.name + "-role", "apiGroup": "rbac.authorization.k8s.io"}
	service := labels(b.object("v1", "Service", b.name))
	service["spec"] = Object{"clusterIP": "None", "selector": SweepLabels(name), "publishNotReadyAddresses": true,
		"ports": values{Object{"name": "results", "port": PortResults, "targetPort": PortResults}}}
	job := labels(b.object("batch/v1", "Job", b.name))
	spec := b.jobSpec(1, sweepBackOff, b.sweepPod(name, namespace, o))
	b.ttl(spec)
	job["spec"] = spec
	policy := labels(b.policy(SweepLabels(name), ingress(PortResults, b.operator()...)))
	secret := labels(b.object("v1", "Secret", b.secretName("-results")))
	secret["type"], secret["stringData"] = "Opaque", Object{TokenKey: o.ResultsToken}
	objects := []Object{role, binding, secret, policy, service, job}
	for _, x := range objects {
		b.own(x)
	}
	return objects, nil
}

// sweepBackOff is how often the controller of a sweep is started again: it goes on where it was.
const sweepBackOff = 20

// SweepLabels are those of the objects of a sweep.
func SweepLabels(sweep string) Object {
	return Object{LabelApp: AppName, LabelSweep: sweep, LabelRole: RoleSweepController}
}

// sweepStay is for how many seconds the results of a sweep are served: until the operator has fetched them, which it
// does again after any pause of its own.
const sweepStay = 86400

func (b *builder) sweepPod(name, namespace string, o SweepOptions) Object {
	env := func(own ...Object) values {
		return b.env(append(own, variable("AIPERF_SWEEP_NAME", name), variable("AIPERF_SWEEP_NAMESPACE", namespace),
			variable("AIPERF_SWEEP_EPOCH", o.Epoch), variable("AIPERF_SWEEP_UID", b.job.Metadata.UID),
			variable("AIPERF_OPERATOR_BASE_URL", o.BaseURL))...)
	}
	controller := b.container(ContainerSweep, []string{"service", ContainerSweep, "--results-dir", ResultsDir}, sweepCPU,
		sweepMemory)
	controller["env"] = env(Object{"name": ResultsTokenVariable, "valueFrom": Object{"secretKeyRef": Object{
		"name": b.secretName("-results"), "key": TokenKey}}})
	controller["volumeMounts"] = b.mounts(mount("results", ResultsDir, false), mount("tmp", "/tmp", false))
	sidecar := b.container(ContainerResults, []string{"service", ContainerResults, "--results-dir", ResultsDir, "--port",
		strconv.Itoa(PortResults), "--stay", strconv.Itoa(sweepStay), "--marker", o.Marker}, sidecarCPU, sidecarMemory)
	sidecar["env"] = env()
	sidecar["ports"] = values{Object{"name": "results", "containerPort": PortResults}}
	sidecar["volumeMounts"] = b.mounts(mount("results", ResultsDir, false), mount("tmp", "/tmp", false))
	sidecar["livenessProbe"] = probe("/healthz", PortResults, false)
	sidecar["readinessProbe"] = probe("/healthz", PortResults, false)
	pod := b.pod(RoleSweepController, "OnFailure", values{controller, sidecar})
	labels := pod["metadata"].(Object)["labels"].(Object)
	delete(labels, LabelJob)
	for k, v := range SweepLabels(name) {
		labels[k] = v
	}
	if a := b.podAnnotations(nil); len(a) > 0 {
		pod["metadata"].(Object)["annotations"] = a
	}
	spec := pod["spec"].(Object)
	spec["automountServiceAccountToken"] = true
	spec["subdomain"] = EngineName(name)
	// The configuration and the token are those of jobs.
	var volumes values
	for _, v := range spec["volumes"].(values) {
		if n := v.(Object)["name"]; n != "config" && n != "token" {
			volumes = append(volumes, v)
		}
	}
	spec["volumes"] = volumes
	return pod
}
