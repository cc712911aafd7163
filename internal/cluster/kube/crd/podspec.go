package crd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

func variable(name, value string) Object { return Object{"name": name, "value": value} }

// env are the variables of all containers that the tool sets; those of users with the same names are dropped.
func (b *builder) env(own ...Object) values {
	out := values{
		variable("AIPERF_JOB_ID", b.job.Metadata.Name),
		variable("AIPERF_JOB_UID", b.job.Metadata.UID),
		variable("AIPERF_NAMESPACE", b.job.Metadata.Namespace),
		variable("AIPERF_OPERATOR_MANAGED", "1"),
		variable("AIPERF_K8S_CONTROLLER_HOST", ControllerHost(b.job.Metadata.Name, b.job.Metadata.Namespace)),
		variable("HF_HOME", HubDir),
		variable("HOME", "/tmp"),
	}
	for _, e := range own {
		out = append(out, e)
	}
	if t := b.job.Spec.PodTemplate; t != nil {
		for _, e := range t.Env {
			if !slices.ContainsFunc(out, func(x any) bool { return x.(Object)["name"] == e["name"] }) {
				out = append(out, clone(e))
			}
		}
	}
	return out
}

// clone is a deep copy of a value of JSON, so that objects share nothing.
func clone(o Object) Object { return copied(o).(Object) }

func copied(v any) any {
	switch v := v.(type) {
	case Object:
		out := make(Object, len(v))
		for k, x := range v {
			out[k] = copied(x)
		}
		return out
	case values:
		out := make(values, len(v))
		for i, x := range v {
			out[i] = copied(x)
		}
		return out
	}
	return v
}

func mount(name, path string, readOnly bool) Object {
	m := Object{"name": name, "mountPath": path}
	if readOnly {
		m["readOnly"] = true
	}
	return m
}

func (b *builder) mounts(own ...Object) values {
	var out values
	for _, m := range own {
		out = append(out, m)
	}
	if t := b.job.Spec.PodTemplate; t != nil {
		for _, m := range t.VolumeMounts {
			out = append(out, clone(m))
		}
	}
	return out
}

// resources of a container by the mode of the job.
func (b *builder) resources(cpu, memory int) Object {
	amounts := func() Object {
		return Object{"cpu": strconv.Itoa(cpu) + "m", "memory": strconv.Itoa(memory) + "Mi"}
	}
	switch b.job.Spec.ResourceMode {
	case ResourcesNone:
		return Object{}
	case ResourcesGuaranteed:
		return Object{"requests": amounts(), "limits": amounts()}
	}
	return Object{"requests": amounts()}
}

func probe(path string, port int, startup bool) Object {
	p := Object{"httpGet": Object{"path": path, "port": port}, "initialDelaySeconds": 5, "periodSeconds": 10,
		"timeoutSeconds": 5, "failureThreshold": 10}
	if startup {
		p["initialDelaySeconds"], p["periodSeconds"], p["failureThreshold"] = 0, 5, 30
	}
	return p
}

// toolSecurity is what the standard "restricted" asks for, and a read-only root.
func toolSecurity() Object {
	return Object{"runAsNonRoot": true, "runAsUser": runAs, "runAsGroup": runAs, "allowPrivilegeEscalation": false,
		"readOnlyRootFilesystem": true, "capabilities": Object{"drop": strs("ALL")},
		"seccompProfile": Object{"type": "RuntimeDefault"}}
}

func (b *builder) container(name string, args []string, cpu, memory int) Object {
	security := clone(b.job.Spec.PodTemplate.ContainerSecurity(toolSecurity()))
	c := Object{"name": name, "image": b.job.Spec.Image, "command": strs("aiperf"), "args": strs(args...),
		"securityContext": security, "terminationMessagePolicy": "FallbackToLogsOnError"}
	if p := b.job.Spec.ImagePullPolicy; p != "" {
		c["imagePullPolicy"] = p
	}
	if r := b.resources(cpu, memory); len(r) > 0 {
		c["resources"] = r
	}
	return c
}

// runAs is the user and the group of the containers.
const runAs = 1000

// ControllerArgs are the arguments of the coordinator.
func ControllerArgs(agents int) []string {
	return []string{"profile", "--config", ConfigDir + "/" + ConfigKey, "--wait-for-agents", strconv.Itoa(agents),
		"--nats-listen", fmt.Sprintf("0.0.0.0:%d", PortNATS), "--nats-token-file", TokenDir + "/" + TokenKey,
		"--nats-allow-clear-text", "--ui", "none"} // within the cluster's network
}

// AgentArgs are the arguments of an agent.
func AgentArgs(job, namespace string) []string {
	return []string{"agent", "--join", fmt.Sprintf("nats://%s:%d", ControllerHost(job, namespace), PortNATS),
		"--token-file", TokenDir + "/" + TokenKey, "--name", "$(AIPERF_POD_NAME)", "--cache-dir", DatasetsDir,
		"--allow-clear-text", "--allow-programs", "--allow-path", "/"} // the pod is the job's, as its image and its volumes are
}

// SidecarArgs are the arguments of the sidecar that serves results for a number of seconds after the run.
func SidecarArgs(seconds int) []string {
	return []string{"service", "results-sidecar", "--results-dir", ResultsDir, "--port", strconv.Itoa(PortResults),
		"--stay", strconv.Itoa(seconds)}
}

func (b *builder) controllerPod() Object {
	job := b.job.Metadata.Name
	coordinator := b.container(ContainerController, ControllerArgs(b.t.Pods), controllerCPU, controllerMemory)
	coordinator["env"] = b.env(variable("AIPERF_CONTROLLER_POD", "1"))
	coordinator["ports"] = values{Object{"name": "api", "containerPort": PortAPI},
		Object{"name": "nats", "containerPort": PortNATS}}
	coordinator["volumeMounts"] = b.mounts(mount("config", ConfigDir, true), mount("token", TokenDir, true),
		mount("results", ResultsDir, false), mount("datasets", DatasetsDir, false),
		mount("tokenizer-cache", HubDir, false), mount("tmp", "/tmp", false))
	coordinator["startupProbe"] = probe("/healthz", PortAPI, true)
	coordinator["livenessProbe"] = probe("/healthz", PortAPI, false)

	stay, ok := b.job.Spec.TTL(DirectTTLSeconds)
	if b.o.Operator {
		stay, ok = b.job.Spec.TTL(DefaultTTLSeconds)
	}
	if !ok { // the pods are kept, not the process
		stay = DefaultTTLSeconds
	}
	sidecar := b.container(ContainerResults, SidecarArgs(stay), sidecarCPU, sidecarMemory)
	sidecar["env"] = b.env()
	sidecar["ports"] = values{Object{"name": "results", "containerPort": PortResults}}
	sidecar["volumeMounts"] = b.mounts(mount("results", ResultsDir, false), mount("tmp", "/tmp", false))
	sidecar["startupProbe"] = probe("/healthz", PortResults, true)
	sidecar["livenessProbe"] = probe("/healthz", PortResults, false)
	sidecar["readinessProbe"] = probe("/healthz", PortResults, false)

	pod := b.pod(RoleController, "Never", values{coordinator, sidecar})
	pod["metadata"].(Object)["annotations"] = b.podAnnotations(Object{"prometheus.io/scrape": "true",
		"prometheus.io/port": strconv.Itoa(PortAPI), "prometheus.io/path": "/metrics"})
	spec := pod["spec"].(Object)
	spec["automountServiceAccountToken"] = true
	if b.o.Engine != EngineJobSet {
		spec["subdomain"] = EngineName(job)
	}
	return pod
}

func (b *builder) workerPod() Object {
	job := b.job.Metadata
	index := "metadata.annotations['batch.kubernetes.io/job-completion-index']"
	if b.o.Engine == EngineJobSet {
		index = "metadata.labels['jobset.sigs.k8s.io/job-index']"
	}
	agent := b.container(ContainerAgent, AgentArgs(job.Name, job.Namespace), workerCPU, workerMemory)
	agent["env"] = b.env(Object{"name": "AIPERF_POD_INDEX",
		"valueFrom": Object{"fieldRef": Object{"fieldPath": index}}},
		Object{"name": "AIPERF_POD_NAME", "valueFrom": Object{"fieldRef": Object{"fieldPath": "metadata.name"}}},
		variable("AIPERF_SERVICE_HEALTH_ENABLED", "true"), variable("AIPERF_SERVICE_HEALTH_HOST", "0.0.0.0"),
		variable("AIPERF_SERVICE_HEALTH_PORT", strconv.Itoa(PortHealth)))
	agent["ports"] = values{Object{"name": "health", "containerPort": PortHealth}}
	agent["startupProbe"] = probe("/healthz", PortHealth, true)
	agent["livenessProbe"] = probe("/healthz", PortHealth, false)
	agent["readinessProbe"] = probe("/readyz", PortHealth, false)
	agent["volumeMounts"] = b.mounts(mount("config", ConfigDir, true), mount("token", TokenDir, true),
		mount("results", ResultsDir, false), mount("datasets", DatasetsDir, false),
		mount("tokenizer-cache", HubDir, false), mount("tmp", "/tmp", false))
	pod := b.pod(RoleWorker, "OnFailure", values{agent})
	if a := b.podAnnotations(nil); len(a) > 0 {
		pod["metadata"].(Object)["annotations"] = a
	}
	spec := pod["spec"].(Object)
	spec["automountServiceAccountToken"] = false
	if b.o.Engine != EngineJobSet {
		spec["subdomain"] = EngineName(job.Name)
	}
	return pod
}

// podAnnotations are those of the tool over those of the user.
func (b *builder) podAnnotations(own Object) Object {
	out := Object{}
	if t := b.job.Spec.PodTemplate; t != nil {
		for k, v := range t.Annotations {
			out[k] = v
		}
	}
	maps.Copy(out, own)
	return out
}

// pod is a pod template with what the user adds.
func (b *builder) pod(role, restart string, containers values) Object {
	labels := JobLabels(b.job.Metadata.Name)
	labels[LabelRole] = role
	empty := func(name string) Object { return Object{"name": name, "emptyDir": Object{}} }
	volumes := values{Object{"name": "config", "configMap": Object{"name": b.name + "-config"}},
		Object{"name": "token", "secret": Object{"secretName": b.secretName("-token")}},
		empty("results"), empty("datasets"), empty("tokenizer-cache"), empty("tmp")}
	security := clone(b.job.Spec.PodTemplate.PodSecurity(Object{"runAsNonRoot": true, "runAsUser": runAs,
		"runAsGroup": runAs, "fsGroup": runAs, "seccompProfile": Object{"type": "RuntimeDefault"}}))
	spec := Object{"restartPolicy": restart, "containers": containers, "securityContext": security}
	if t := b.job.Spec.PodTemplate; t != nil {
		for k, v := range t.Labels {
			if !reserved(k) {
				labels[k] = v
			}
		}
		for _, v := range t.Volumes {
			volumes = append(volumes, clone(v))
		}
		b.template(spec, t)
	}
	spec["volumes"] = volumes
	return Object{"metadata": Object{"labels": labels}, "spec": spec}
}

// template copies the other fields of the user's template.
func (b *builder) template(spec Object, t *PodTemplate) {
	fields, err := ToObject(t)
	if err != nil {
		panic(err) // it was read from JSON
	}
	for _, key := range []string{"env", "volumes", "volumeMounts", "annotations", "labels", "containerSecurityContext",
		"podSecurityContext"} {
		delete(fields, key)
	}
	if secrets, ok := fields["imagePullSecrets"].(values); ok {
		for i, s := range secrets {
			if name, ok := s.(string); ok {
				secrets[i] = Object{"name": name}
			}
		}
	}
	for i, c := range t.InitContainers {
		fields["initContainers"].(values)[i] = InitContainer(clone(c), toolSecurity())
	}
	maps.Copy(spec, asObject(fields["extraPodSpec"])) // nothing that is set here: crd.PodTemplate.Restricted
	delete(fields, "extraPodSpec")
	maps.Copy(spec, fields)
}

// ObjectJSON is an object as indented JSON.
func ObjectJSON(o Object) string {
	data, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		panic(err) // objects hold values of JSON only
	}
	return string(data)
}
