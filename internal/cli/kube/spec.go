package kube

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/cli/command"
	"aiperf/internal/cluster/kube/crd"
)

// fill adds the flags of the deployment to a specification.
func (o *Deploy) fill(spec crd.Object, env func(string) (string, bool)) error {
	set := func(to crd.Object, key string, value any, given bool) {
		if given {
			to[key] = value
		}
	}
	body, _ := spec["benchmark"].(crd.Object)
	runtime, _ := body["runtime"].(crd.Object)
	if runtime == nil {
		runtime = crd.Object{}
	}
	runtime["ui"] = "none"
	set(runtime, "workers", o.workers, o.workers > 0)
	if body != nil {
		body["runtime"] = runtime
	}
	set(spec, "image", o.image, o.image != "")
	set(spec, "imagePullPolicy", o.pullPolicy, o.pullPolicy != "")
	if spec["image"] == nil {
		defaultImage(spec, env)
	}
	set(spec, "ttlSecondsAfterFinished", o.ttl, o.ttl >= 0)
	set(spec, "keepFailedPods", true, o.noTTL)
	set(spec, "skipEndpointCheck", true, o.skipEndpoint)
	scheduling, _ := spec["scheduling"].(crd.Object)
	if scheduling == nil {
		scheduling = crd.Object{}
	}
	for _, s := range []struct{ key, value, variable string }{
		{"queueName", o.queue, "AIPERF_K8S_JOBSET_KUEUE_DEFAULT_QUEUE_NAME"},
		{"priorityClass", o.priority, "AIPERF_K8S_JOBSET_KUEUE_DEFAULT_PRIORITY_CLASS"},
	} {
		value := s.value
		if value == "" && scheduling[s.key] == nil {
			value, _ = env(s.variable)
		}
		set(scheduling, s.key, value, value != "")
	}
	set(spec, "scheduling", scheduling, len(scheduling) > 0)
	pods, _ := spec["podTemplate"].(crd.Object)
	if pods == nil {
		pods = crd.Object{}
	}
	if err := o.pods(pods); err != nil {
		return err
	}
	set(spec, "podTemplate", pods, len(pods) > 0)
	return nil
}

// DefaultImage is the image of benchmarks that name none: that of this version, as make dist writes it. It is in no
// registry.
const DefaultImage = "aiperf:" + command.Release

// Variables of the image of benchmarks that name none.
const (
	imageVariable  = "AIPERF_K8S_DEFAULT_IMAGE"
	policyVariable = "AIPERF_K8S_DEFAULT_IMAGE_PULL_POLICY"
)

// defaultImage sets the image of a specification that has none.
func defaultImage(spec crd.Object, env func(string) (string, bool)) {
	image, _ := env(imageVariable)
	if spec["image"] = DefaultImage; image == "" {
		return
	}
	spec["image"] = image
	if policy, _ := env(policyVariable); policy != "" && spec["imagePullPolicy"] == nil {
		spec["imagePullPolicy"] = policy
	}
}

// pods adds the flags about pods to a template.
func (o *Deploy) pods(pods crd.Object) error {
	add := func(key string, items ...any) {
		before, _ := pods[key].([]any)
		pods[key] = append(before, items...)
	}
	join := func(key string, m map[string]string) {
		if len(m) == 0 {
			return
		}
		all, _ := pods[key].(crd.Object)
		if all == nil {
			all = crd.Object{}
		}
		for k, v := range m {
			all[k] = v
		}
		pods[key] = all
	}
	join("nodeSelector", o.nodeSelector)
	join("annotations", o.annotations)
	join("labels", o.labels)
	for _, t := range o.tolerations {
		add("tolerations", t)
	}
	for _, s := range o.pullSecrets {
		add("imagePullSecrets", s)
	}
	if o.account != "" {
		pods["serviceAccountName"] = o.account
	}
	for _, name := range slices.Sorted(maps.Keys(o.env)) {
		add("env", crd.Object{"name": name, "value": o.env[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(o.secretEnv)) {
		secret, key, ok := strings.Cut(o.secretEnv[name], "/")
		if !ok || secret == "" || key == "" {
			return fmt.Errorf("--env-from-secrets %s=%s: must be ENV=SECRET/KEY", name, o.secretEnv[name])
		}
		add("env", crd.Object{"name": name, "valueFrom": crd.Object{"secretKeyRef": crd.Object{"name": secret,
			"key": key}}})
	}
	for i, m := range o.secretMounts {
		name, _ := m["name"].(string)
		path, _ := m["mountPath"].(string)
		if name == "" || path == "" {
			return fmt.Errorf("--secret-mounts: %s lacks name or mountPath", crd.ObjectJSON(m))
		}
		for key := range m {
			if !slices.Contains([]string{"name", "mountPath", "subPath"}, key) {
				return fmt.Errorf("--secret-mounts: unknown key %q; known are name, mountPath, subPath", key)
			}
		}
		volume := "secret-" + strconv.Itoa(i)
		add("volumes", crd.Object{"name": volume, "secret": crd.Object{"secretName": name}})
		mount := crd.Object{"name": volume, "mountPath": path, "readOnly": true}
		if sub, ok := m["subPath"].(string); ok {
			mount["subPath"] = sub
		}
		add("volumeMounts", mount)
	}
	return nil
}
