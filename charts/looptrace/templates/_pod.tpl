{{/* Pod settings of a role merged over those of every pod, as YAML. Takes root and role. */}}
{{- define "looptrace.podValues" -}}
{{- $own := ternary dict (get (get .root.Values .role | default dict) "pod" | default dict) (eq .role "all") }}
{{- mergeOverwrite (deepCopy .root.Values.pod) $own | toYaml }}
{{- end }}

{{/* Metadata of a pod. Takes root and role. */}}
{{- define "looptrace.podMetadata" -}}
{{- $pod := include "looptrace.podValues" . | fromYaml -}}
labels:
  {{- include "looptrace.selector" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .role }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/part-of: looptrace
  {{- range $labels := list .root.Values.commonLabels $pod.labels }}
  {{- with $labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- with $pod.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
The pod spec without containers: identity, security and scheduling. Service links are disabled, because
their variables would begin with LOOPTRACE_. Takes root and role.
*/}}
{{- define "looptrace.podSpec" -}}
{{- $pod := include "looptrace.podValues" . | fromYaml -}}
serviceAccountName: {{ ternary (include "looptrace.operatorServiceAccount" .root) (include "looptrace.serviceAccount" .root) (eq .role "operator") }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with get $pod $field }}
{{ $field }}: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with $pod.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  - labelSelector:
      matchLabels:
        {{- include "looptrace.selector" $.root | nindent 8 }}
        app.kubernetes.io/component: {{ $.role }}
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{/*
A Looptrace container. Takes root, role, args (of the entry point), settings (a map), and optionally
name, resources, management (port of probes and metrics), ports, mounts, token, probes.
*/}}
{{- define "looptrace.container" -}}
{{- $pod := include "looptrace.podValues" (dict "root" .root "role" .podRole) | fromYaml -}}
name: {{ .name }}
image: {{ include "looptrace.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ toJson .args }}
env:
  {{- include "looptrace.env" .settings | trim | nindent 2 }}
  {{- with $pod.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
resources:
  {{- toYaml .resources | nindent 2 }}
{{- with .ports }}
ports:
  {{- range $name, $port := . }}
  - { name: {{ $name }}, containerPort: {{ $port }} }
  {{- end }}
{{- end }}
{{- with .probes }}
{{ . }}
{{- end }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if .token }}
  - { name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true }
  {{- end }}
  {{- with .mounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $pod.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Probes on the management port. The start probe allows for the recovery of a store. */}}
{{- define "looptrace.probes" -}}
{{ include "looptrace.probesOfLife" . }}
readinessProbe:
  httpGet: { path: /readyz, port: {{ . }} }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}

{{/* Probes without readiness: the embedded operator must not take the service out of traffic. */}}
{{- define "looptrace.probesOfLife" -}}
startupProbe:
  httpGet: { path: /livez, port: {{ . }} }
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 120
livenessProbe:
  httpGet: { path: /livez, port: {{ . }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{/* Settings of a serving process. Takes root, role, management, grace and drain in seconds. */}}
{{- define "looptrace.processSettings" -}}
LOOPTRACE_MANAGEMENT_HOST: 0.0.0.0
LOOPTRACE_MANAGEMENT_PORT: {{ .management | quote }}
LOOPTRACE_DRAIN_DELAY_MS: {{ mul .drain 1000 | quote }}
LOOPTRACE_GRACE_PERIOD_MS: {{ mul (sub .grace (add .drain 10)) 1000 | quote }}
{{- end }}

{{/*
The token of the service account for one container, in the form that Kubernetes mounts in all of them.
*/}}
{{- define "looptrace.tokenVolume" -}}
- name: token
  projected:
    sources:
      - serviceAccountToken: { path: token, expirationSeconds: 3607 }
      - configMap: { name: kube-root-ca.crt, items: [{ key: ca.crt, path: ca.crt }] }
      - downwardAPI: { items: [{ path: namespace, fieldRef: { fieldPath: metadata.namespace } }] }
{{- end }}

{{/* Volumes of a role: temporary files, the token, Secrets that are read as files. */}}
{{- define "looptrace.volumes" -}}
{{- $pod := include "looptrace.podValues" . | fromYaml -}}
- name: tmp
  emptyDir: { sizeLimit: {{ .tmpSize | default "256Mi" }} }
{{- if .token }}
{{ include "looptrace.tokenVolume" . }}
{{- end }}
{{- range .secrets }}
- name: {{ .name }}
  secret: { secretName: {{ .secret }}, defaultMode: 0440, items: [{ key: {{ .key }}, path: {{ .key }} }] }
{{- end }}
{{- with $pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
