{{/* Metadata of a role: in a namespace, or in none. Takes root, name, namespace, maybe labels. */}}
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
What the operator may do: watch its kinds, note their finalizers and ids, write their status; keep
Secrets with keys; tell events. Takes the plurals of the kinds.
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
