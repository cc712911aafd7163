{{- define "aiperf.name" -}}{{ .Values.nameOverride | trunc 40 | trimSuffix "-" }}{{- end }}
{{- define "aiperf.labels" -}}
app: {{ include "aiperf.name" . }}
app.kubernetes.io/name: aiperf
app.kubernetes.io/component: operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- define "aiperf.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}
