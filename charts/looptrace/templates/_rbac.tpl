{{/* Metadata of a Role or ClusterRole. Takes root, name, namespace (none: cluster), labels. */}}
{{- define "looptrace.rbacMetadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "looptrace.labels" .root | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/*
A role of the operator and its binding, in a namespace or in the cluster. Takes root, subject, name,
namespace (none: cluster), rules.
*/}}
{{- define "looptrace.operatorRole" -}}
{{- $scope := ternary "Role" "ClusterRole" (not (empty .namespace)) -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $scope }}
metadata: {{- include "looptrace.rbacMetadata" . | nindent 2 }}
rules: {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $scope }}Binding
metadata: {{- include "looptrace.rbacMetadata" . | nindent 2 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: {{ $scope }}, name: {{ .name }} }
subjects:
  - {{ toJson .subject }}
{{- end }}

{{/* The Lease by which installations notice each other; `presenceName` of the operator. */}}
{{- define "looptrace.presenceLease" -}}
{{- $class := get .Values.settings "operator_class" | default "default" }}
{{- $name := get .Values.settings "operator_installation" | default (include "looptrace.name" .) }}
{{- printf "looptrace-%s-%s" $class (printf "%s/%s" .Release.Namespace $name | sha256sum | trunc 8) }}
{{- end }}

{{/*
Permissions of the operator: watch its kinds, write their finalizers, annotations and status, manage
Secrets with keys, and create events. Takes the plurals of the kinds.
*/}}
{{- define "looptrace.operatorRules" -}}
{{- $status := list }}
{{- $finalizers := list }}
{{- range . }}
{{- $status = append $status (printf "%s/status" .) }}
{{- $finalizers = append $finalizers (printf "%s/finalizers" .) }}
{{- end -}}
- apiGroups: [looptrace.dev]
  resources: {{ toJson . }}
  verbs: [get, list, watch, patch]
- apiGroups: [looptrace.dev]
  resources: {{ toJson $status }}
  verbs: [patch]
- apiGroups: [looptrace.dev]
  resources: {{ toJson $finalizers }}
  verbs: [update]
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, list, watch, create, update, delete]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{/*
Permissions of the operator outside of namespaces: read ProjectGrants and write their status and
annotations, apply the grants of the installation, read the labels of namespaces, and create events
about grants.
*/}}
{{- define "looptrace.grantRules" -}}
- apiGroups: [looptrace.dev]
  resources: [projectgrants]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [looptrace.dev]
  resources: [projectgrants/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end }}

{{/*
Permissions of the operator to create and delete default rules, in the namespace of the release. With
defaultRules.enabled false it deletes former ones.
*/}}
{{- define "looptrace.defaultRuleRules" -}}
- apiGroups: [looptrace.dev]
  resources: [incidentrules]
  verbs: [create, delete]
{{- end }}

{{/*
Permissions of the operator to notice other installations, whose Leases may be in any namespace. The
uid of kube-system identifies the cluster.
*/}}
{{- define "looptrace.presenceRules" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [list]
- apiGroups: [""]
  resources: [namespaces]
  resourceNames: [kube-system]
  verbs: [get]
{{- end }}
