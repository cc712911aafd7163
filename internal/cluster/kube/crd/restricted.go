package crd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// templatePath is where a specification has its template of pods.
const templatePath = "spec.podTemplate"

// Restricted returns an error that names each field by which pods of the template would not keep the Pod Security
// Standard "restricted", or which the tool sets itself. What the standard allows passes. It is the only judgement of
// templates: [Parse], which commands and the operator use, and [Build], which makes the pods, ask it. The error
// is a [Faults].
//
// The pods have what the standard demands already: see [PodTemplate.ContainerSecurity] and [PodTemplate.PodSecurity].
func (t *PodTemplate) Restricted() error {
	if t == nil {
		return nil
	}
	l := &faults{}
	t.restricted(l)
	if len(l.texts) > 0 {
		return Faults(l.texts)
	}
	return nil
}

func (t *PodTemplate) restricted(l *faults) {
	security(t.ContainerSecurityContext, templatePath+".containerSecurityContext", l)
	podSecurity(t.PodSecurityContext, templatePath+".podSecurityContext", l)
	for i, v := range t.Volumes {
		volume(v, fmt.Sprintf("%s.volumes[%d]", templatePath, i), l)
	}
	for i, c := range t.InitContainers {
		container(c, fmt.Sprintf("%s.initContainers[%d]", templatePath, i), l)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Annotations)) {
		if value := t.Annotations[name]; strings.HasPrefix(name, appArmorAnnotation) && value != "runtime/default" &&
			!strings.HasPrefix(value, "localhost/") {
			l.forbidden(templatePath+".annotations."+name, value, "runtime/default or localhost/NAME")
		}
	}
	t.extra(l)
}

// appArmorAnnotation is how profiles of AppArmor were chosen before they had a field.
const appArmorAnnotation = "container.apparmor.security.beta.kubernetes.io/"

// taken are the fields of a pod that the tool sets, beside those that a template has itself.
var taken = map[string]string{"containers": "", "ephemeralContainers": "", "restartPolicy": "", "subdomain": "",
	"automountServiceAccountToken": "", "securityContext": "podSecurityContext", "serviceAccount": "serviceAccountName"}

// extra judges the fields of a pod that a template has no name for.
func (t *PodTemplate) extra(l *faults) {
	template, _ := named(deployment(), "podTemplate")
	for _, name := range sortedKeys(t.ExtraPodSpec) {
		path := templatePath + ".extraPodSpec." + name
		instead, set := taken[name]
		if _, own := named(template.fields, name); own {
			instead, set = name, true
		}
		switch {
		case instead != "":
			l.add(path, "is set by %s.%s", templatePath, instead)
		case set:
			l.add(path, "is set by the tool; remove it")
		case slices.Contains([]string{"hostNetwork", "hostPID", "hostIPC"}, name):
			never(t.ExtraPodSpec, name, templatePath+".extraPodSpec", l)
		}
	}
}

func (l *faults) forbidden(path string, value any, allowed string) {
	l.add(path, "is %v, which the Pod Security Standard \"restricted\" forbids; it allows %s", value, allowed)
}

// never adds a fault unless a field is missing, null or false.
func never(o Object, name, path string, l *faults) {
	if v := o[name]; v != nil && v != false {
		l.forbidden(path+"."+name, v, "only false")
	}
}

// one adds a fault unless a field is missing, null or one of the values.
func one(o Object, name, path string, l *faults, allowed ...string) {
	v, present := o[name]
	if s, ok := v.(string); present && v != nil && (!ok || !slices.Contains(allowed, s)) {
		l.forbidden(path+"."+name, v, strings.Join(slices.DeleteFunc(slices.Clone(allowed), func(s string) bool {
			return s == ""
		}), ", "))
	}
}

// below is a mapping within a mapping; anything else than a mapping is a fault, since nothing can be said of it.
func below(o Object, name, path string, l *faults) Object {
	v, ok := o[name].(Object)
	if !ok && o[name] != nil {
		l.add(path+"."+name, "must be a mapping")
	}
	return v
}

// security judges what the security contexts of containers and of pods have in common.
func security(o Object, path string, l *faults) {
	never(o, "privileged", path, l)
	never(o, "allowPrivilegeEscalation", path, l)
	if v := o["runAsNonRoot"]; v != nil && v != true {
		l.forbidden(path+".runAsNonRoot", v, "only true")
	}
	if n, ok := asNumber(o["runAsUser"]); o["runAsUser"] != nil && (!ok || n == 0) {
		l.forbidden(path+".runAsUser", o["runAsUser"], "any user but root, 0")
	}
	one(o, "procMount", path, l, "Default")
	one(below(o, "seccompProfile", path, l), "type", path+".seccompProfile", l, "RuntimeDefault", "Localhost")
	one(below(o, "appArmorProfile", path, l), "type", path+".appArmorProfile", l, "RuntimeDefault", "Localhost")
	linux := below(o, "seLinuxOptions", path, l)
	one(linux, "type", path+".seLinuxOptions", l, "", "container_t", "container_init_t", "container_kvm_t",
		"container_engine_t")
	for _, name := range []string{"user", "role"} {
		if v := linux[name]; v != nil && v != "" {
			l.forbidden(path+".seLinuxOptions."+name, v, "none")
		}
	}
	never(below(o, "windowsOptions", path, l), "hostProcess", path+".windowsOptions", l)
	capabilities := below(o, "capabilities", path, l)
	if add := capabilities["add"]; add != nil {
		names, ok := add.([]any)
		if !ok || slices.ContainsFunc(names, func(v any) bool { return v != "NET_BIND_SERVICE" }) {
			l.forbidden(path+".capabilities.add", add, "only NET_BIND_SERVICE")
		}
	}
}

// safeSysctls are those that the standard allows: they concern the pod alone.
var safeSysctls = []string{"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start",
	"net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
	"net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
	"net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}

// podSecurity judges the security context of pods.
func podSecurity(o Object, path string, l *faults) {
	security(o, path, l)
	if o["sysctls"] == nil {
		return
	}
	list, ok := o["sysctls"].([]any)
	if !ok {
		l.add(path+".sysctls", "must be a list")
	}
	for i, item := range list {
		sysctl, _ := item.(Object)
		if name, _ := sysctl["name"].(string); !slices.Contains(safeSysctls, name) {
			l.forbidden(fmt.Sprintf("%s.sysctls[%d].name", path, i), sysctl["name"], "only safe ones")
		}
	}
}

// volumeKinds are the sources of volumes that the standard allows.
var volumeKinds = []string{"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected",
	"secret"}

func volume(o Object, path string, l *faults) {
	for _, kind := range sortedKeys(o) {
		if kind != "name" && o[kind] != nil && !slices.Contains(volumeKinds, kind) {
			l.add(path+"."+kind, "is a kind of volume that the Pod Security Standard \"restricted\" forbids; it allows %s",
				strings.Join(volumeKinds, ", "))
		}
	}
}

// container judges a container of the user's own.
func container(o Object, path string, l *faults) {
	security(below(o, "securityContext", path, l), path+".securityContext", l)
	ports, _ := o["ports"].([]any)
	for i, item := range ports {
		port, _ := item.(Object)
		if n, ok := asNumber(port["hostPort"]); port["hostPort"] != nil && (!ok || n != 0) {
			l.forbidden(fmt.Sprintf("%s.ports[%d].hostPort", path, i), port["hostPort"], "none")
		}
	}
	for _, name := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		handler(below(o, name, path, l), path+"."+name, l)
	}
	hooks := below(o, "lifecycle", path, l)
	for _, name := range []string{"postStart", "preStop"} {
		handler(below(hooks, name, path+".lifecycle", l), path+".lifecycle."+name, l)
	}
}

// handler judges a probe or a hook: the node makes its request, which must not go to other hosts.
func handler(o Object, path string, l *faults) {
	for _, name := range []string{"httpGet", "tcpSocket"} {
		if host := below(o, name, path, l)["host"]; host != nil && host != "" {
			l.forbidden(path+"."+name+".host", host, "none")
		}
	}
}

// ContainerSecurity is the security context of a container: the tool's own, the user's over it as far as it is allowed,
// and all capabilities dropped whatever the user says.
func (t *PodTemplate) ContainerSecurity(own Object) Object {
	if t == nil {
		return own
	}
	return containerSecurity(own, t.ContainerSecurityContext)
}

func containerSecurity(own, user Object) Object {
	out := over(own, user)
	capabilities := over(asObject(own["capabilities"]), asObject(user["capabilities"]))
	capabilities["drop"] = []any{"ALL"}
	out["capabilities"] = capabilities
	return out
}

// PodSecurity is the security context of pods: the tool's own, and the user's over it as far as it is allowed.
func (t *PodTemplate) PodSecurity(own Object) Object {
	if t == nil {
		return own
	}
	return over(own, t.PodSecurityContext)
}

// InitContainer is a container of the user with the security that the standard demands of each container.
func InitContainer(user, security Object) Object {
	out := over(Object{}, user)
	out["securityContext"] = containerSecurity(security, asObject(user["securityContext"]))
	return out
}

// over is a copy of a mapping with the values of another one over its own. Null takes nothing away.
func over(own, user Object) Object {
	out := maps.Clone(own)
	if out == nil {
		out = Object{}
	}
	for k, v := range user {
		if v != nil {
			out[k] = v
		}
	}
	return out
}

func asObject(v any) Object { o, _ := v.(Object); return o }
