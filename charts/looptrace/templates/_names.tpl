{{/* Name of every object, or the prefix of its name. */}}
{{- define "looptrace.name" -}}
{{- $own := default .Chart.Name .Values.nameOverride }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $own) (contains $own .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Labels by which Services and workloads select their pods; they never change. */}}
{{- define "looptrace.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "looptrace.labels" -}}
{{ include "looptrace.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: looptrace
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Metadata of a namespaced object. Takes root, name and optionally role. */}}
{{- define "looptrace.metadata" -}}
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "looptrace.labels" .root | nindent 4 }}
    {{- with .role }}
    app.kubernetes.io/component: {{ . }}
    {{- end }}
    {{- with .labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "looptrace.image" -}}
{{- with .Values.image }}
{{- $tag := default (printf "%s%s" $.Chart.AppVersion (ternary "-embedded" "" (eq $.Values.mode "embedded"))) .tag }}
{{- .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ $tag }}{{ end }}
{{- end }}
{{- end }}

{{/* Roles with a workload, sorted by name. */}}
{{- define "looptrace.roles" -}}
{{- if eq .Values.mode "embedded" }}all
{{- else }}api{{ if .Values.operator.enabled }} operator{{ end }} proxy worker
{{- end }}
{{- end }}

{{/* The roles that serve completions and the product APIs. */}}
{{- define "looptrace.dataRole" -}}{{ ternary "all" "proxy" (eq .Values.mode "embedded") }}{{- end }}
{{- define "looptrace.apiRole" -}}{{ ternary "all" "api" (eq .Values.mode "embedded") }}{{- end }}

{{- define "looptrace.serviceAccount" -}}
{{- default (include "looptrace.name" .) .Values.serviceAccount.name }}
{{- end }}

{{/* The service account of the operator; in embedded mode that of the single pod. */}}
{{- define "looptrace.operatorServiceAccount" -}}
{{- if eq .Values.mode "embedded" }}{{ include "looptrace.serviceAccount" . }}
{{- else }}{{ default (printf "%s-operator" (include "looptrace.name" .)) .Values.serviceAccount.operatorName }}
{{- end }}
{{- end }}

{{/* The Secret with the first login and the keys that the roles share. */}}
{{- define "looptrace.bootstrapSecret" -}}
{{- default (printf "%s-bootstrap" (include "looptrace.name" .)) .Values.bootstrap.existingSecret }}
{{- end }}
