package crd_test

import (
	"strings"
	"testing"

	"aiperf/internal/cluster/kube/crd"
)

// TestTemplatesKeepTheStandardRestricted has a case for each control of the Pod Security Standard, and one for each field
// that the tool sets itself. The error names the field.
func TestTemplatesKeepTheStandardRestricted(t *testing.T) {
	for template, field := range map[string]string{
		"extraPodSpec: {hostNetwork: true}":                                            "extraPodSpec.hostNetwork",
		"extraPodSpec: {hostPID: true}":                                                "extraPodSpec.hostPID",
		"extraPodSpec: {hostIPC: true}":                                                "extraPodSpec.hostIPC",
		"extraPodSpec: {hostPID: 'true'}":                                              "extraPodSpec.hostPID",
		"volumes: [{name: v, emptyDir: {}}, {name: h, hostPath: {path: /}}]":           "volumes[1].hostPath",
		"volumes: [{name: v, nfs: {server: s, path: /}}]":                              "volumes[0].nfs",
		"volumes: [{name: v, emptyDir: {}, hostPath: {path: /}}]":                      "volumes[0].hostPath",
		"containerSecurityContext: {privileged: true}":                                 "containerSecurityContext.privileged",
		"containerSecurityContext: {allowPrivilegeEscalation: true}":                   "allowPrivilegeEscalation",
		"containerSecurityContext: {runAsNonRoot: false}":                              "runAsNonRoot",
		"containerSecurityContext: {runAsUser: 0}":                                     "runAsUser",
		"containerSecurityContext: {procMount: Unmasked}":                              "procMount",
		"containerSecurityContext: {seccompProfile: {type: Unconfined}}":               "seccompProfile.type",
		"containerSecurityContext: {seccompProfile: Unconfined}":                       "seccompProfile",
		"containerSecurityContext: {appArmorProfile: {type: Unconfined}}":              "appArmorProfile.type",
		"containerSecurityContext: {capabilities: {add: [SYS_ADMIN]}}":                 "capabilities.add",
		"containerSecurityContext: {capabilities: {add: [NET_BIND_SERVICE, NET_RAW]}}": "capabilities.add",
		"containerSecurityContext: {seLinuxOptions: {type: spc_t}}":                    "seLinuxOptions.type",
		"containerSecurityContext: {seLinuxOptions: {user: root}}":                     "seLinuxOptions.user",
		"containerSecurityContext: {windowsOptions: {hostProcess: true}}":              "windowsOptions.hostProcess",
		"podSecurityContext: {runAsUser: 0}":                                           "podSecurityContext.runAsUser",
		"podSecurityContext: {runAsNonRoot: false}":                                    "podSecurityContext.runAsNonRoot",
		"podSecurityContext: {seccompProfile: {type: Unconfined}}":                     "podSecurityContext.seccompProfile",
		"podSecurityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}":           "podSecurityContext.sysctls[0].name",
		"podSecurityContext: {windowsOptions: {hostProcess: true}}":                    "podSecurityContext.windowsOptions",
		"annotations: {container.apparmor.security.beta.kubernetes.io/agent: unconfined}": "annotations.container.apparmor" +
			".security.beta.kubernetes.io/agent",
		"initContainers: [{name: i, image: i, securityContext: {privileged: true}}]": "initContainers[0].securityContext.privileged",
		"initContainers: [{name: i, image: i, securityContext: {runAsUser: 0}}]":     "initContainers[0].securityContext.runAsUser",
		"initContainers: [{name: i, image: i, ports: [{hostPort: 80}]}]":             "initContainers[0].ports[0].hostPort",
		"initContainers: [{name: i, livenessProbe: {httpGet: {host: h, port: 1}}}]":  "livenessProbe.httpGet.host",
		"initContainers: [{name: i, lifecycle: {preStop: {tcpSocket: {host: h}}}}]":  "lifecycle.preStop.tcpSocket.host",
		// What the tool or the template sets has no second way in.
		"extraPodSpec: {containers: []}":                         "extraPodSpec.containers",
		"extraPodSpec: {initContainers: []}":                     "extraPodSpec.initContainers",
		"extraPodSpec: {volumes: []}":                            "extraPodSpec.volumes",
		"extraPodSpec: {ephemeralContainers: []}":                "extraPodSpec.ephemeralContainers",
		"extraPodSpec: {securityContext: {}}":                    "extraPodSpec.securityContext",
		"extraPodSpec: {serviceAccountName: admin}":              "extraPodSpec.serviceAccountName",
		"extraPodSpec: {serviceAccount: admin}":                  "extraPodSpec.serviceAccount",
		"extraPodSpec: {automountServiceAccountToken: true}":     "extraPodSpec.automountServiceAccountToken",
		"extraPodSpec: {restartPolicy: Always, tolerations: []}": "extraPodSpec.restartPolicy",
	} {
		_, err := crd.Parse(read(t, job("  podTemplate: {"+template+"}\n")))
		if err == nil || !strings.Contains(err.Error(), "spec.podTemplate."+strings.Split(template, ":")[0]) ||
			!strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v; want %s", template, err, field)
		}
		if _, err := crd.Parse(read(t, sweep("  sweep: {type: grid}\n  podTemplate: {"+template+"}\n"))); err == nil {
			t.Errorf("a sweep with %s passes", template)
		}
	}
}

func TestTemplatesMayHaveWhatRestrictedAllows(t *testing.T) {
	for _, template := range []string{
		"nodeSelector: {a: b}", "tolerations: [{operator: Exists}]", "affinity: {}", "labels: {a: b}",
		"annotations: {a: b, container.apparmor.security.beta.kubernetes.io/agent: runtime/default}",
		"volumes: [{name: a, persistentVolumeClaim: {claimName: c}}, {name: b, secret: {secretName: s}}, " +
			"{name: c, configMap: {name: c}}, {name: d, emptyDir: {medium: Memory}}, {name: e, csi: {driver: d}}, " +
			"{name: f, ephemeral: {}}, {name: g, projected: {}}, {name: h, downwardAPI: {}}]",
		"volumeMounts: [{name: a, mountPath: /data}]", "imagePullSecrets: [a, {name: b}]", "serviceAccountName: a",
		"shareProcessNamespace: true", "priorityClassName: high", "runtimeClassName: gvisor", "hostAliases: []",
		"containerSecurityContext: {runAsUser: 2000, readOnlyRootFilesystem: false, privileged: false, " +
			"capabilities: {add: [NET_BIND_SERVICE]}, seccompProfile: {type: Localhost, localhostProfile: p}, " +
			"seLinuxOptions: {type: container_t, level: s0}, runAsNonRoot: null}",
		"podSecurityContext: {fsGroup: 2000, supplementalGroups: [1], sysctls: [{name: net.ipv4.ip_local_port_range, " +
			"value: '1024 65535'}]}",
		"initContainers: [{name: i, image: i, securityContext: {runAsUser: 5}, ports: [{containerPort: 1}]}]",
		"extraPodSpec: {hostNetwork: false, enableServiceLinks: false, activeDeadlineSeconds: 5, hostUsers: false, " +
			"resources: {requests: {cpu: 1}}}",
	} {
		if _, err := crd.Parse(read(t, job("  podTemplate: {"+template+"}\n"))); err != nil {
			t.Errorf("%s: %v", template, err)
		}
	}
}
