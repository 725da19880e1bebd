{{/* Pod settings of a role merged over those of every pod, as YAML. Takes root and role. */}}
{{- define "looptrace.podValues" -}}
{{- $own := get (get .root.Values .role | default dict) "pod" | default dict }}
{{- include "looptrace.merged" (list .root.Values.pod $own) }}
{{- end }}

{{/*
A map merged over another one, as YAML: maps are merged, other values replaced, and null removes a
value. Takes a list of both.
*/}}
{{- define "looptrace.merged" -}}
{{- $merged := deepCopy (first .) }}
{{- range $key, $value := last . }}
{{- if kindIs "invalid" $value }}
{{- $_ := unset $merged $key }}
{{- else if and (kindIs "map" $value) (kindIs "map" (get $merged $key)) }}
{{- $_ := set $merged $key (include "looptrace.merged" (list (get $merged $key) $value) | fromYaml) }}
{{- else }}
{{- $_ := set $merged $key $value }}
{{- end }}
{{- end }}
{{- toYaml $merged }}
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
{{- with ternary (omit $pod.securityContext "runAsUser" "runAsGroup" "fsGroup") $pod.securityContext .root.Values.openshift }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "priorityClassName"
  "hostAliases" "dnsPolicy" "dnsConfig" }}
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
A Looptrace container. Takes root, podRole, name, args (of the entry point), settings (a map),
resources, and optionally ports, mounts, token, probes (their port), readiness (whether it has that
probe), main (whether `lifecycle` is for it).
*/}}
{{- define "looptrace.container" -}}
{{- $pod := include "looptrace.podValues" (dict "root" .root "role" .podRole) | fromYaml -}}
name: {{ .name }}
image: {{ include "looptrace.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ toJson .args }}
env:
  {{- /* A name is there once: a server-side apply refuses it twice. */}}
  {{- $settings := .settings }}
  {{- range $pod.extraEnv }}{{ $settings = omit $settings .name }}{{ end }}
  {{- include "looptrace.env" $settings | trim | nindent 2 }}
  {{- with $pod.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $pod.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.containerSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .main }}
{{- with $pod.lifecycle }}
lifecycle:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
resources:
  {{- toYaml .resources | nindent 2 }}
{{- with .ports }}
ports:
  {{- range $name, $port := . }}
  - { name: {{ $name }}, containerPort: {{ $port }} }
  {{- end }}
{{- end }}
{{- if .probes }}
{{ include "looptrace.probes" (dict "port" .probes "readiness" .readiness "own" $pod.probes) | trim }}
{{- end }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if .token }}
  - { name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true }
  {{- end }}
  {{- with include "looptrace.secretMounts" (pick . "name" "settings") | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .mounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $pod.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/*
Probes on the management port, with the values in `pod.probes` merged over those of the chart. The start
probe allows for the recovery of a store. The embedded operator has no readiness probe: it must not
take the service out of traffic. Takes port, readiness, own.
*/}}
{{- define "looptrace.probes" -}}
{{- $life := dict "httpGet" (dict "path" "/livez" "port" .port) }}
{{- $probes := dict
  "startup" (merge (dict "periodSeconds" 5 "timeoutSeconds" 3 "failureThreshold" 120) $life)
  "liveness" (merge (dict "periodSeconds" 10 "timeoutSeconds" 5 "failureThreshold" 6) $life) }}
{{- if .readiness }}
{{- $ready := dict "httpGet" (dict "path" "/readyz" "port" .port) }}
{{- $_ := set $probes "readiness" (merge (dict "periodSeconds" 5 "timeoutSeconds" 5 "failureThreshold" 2) $ready) }}
{{- end }}
{{- range $name, $probe := $probes }}
{{ $name }}Probe:
  {{- include "looptrace.merged" (list $probe (get $.own $name | default dict)) | nindent 2 }}
{{- end }}
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

{{/*
Volumes of a pod: temporary files, the token, the values that its init container shares, and the
Secrets of its containers. Takes root, role, tmpSize, token, shared, containers (settings by name).
*/}}
{{- define "looptrace.volumes" -}}
{{- $pod := include "looptrace.podValues" . | fromYaml -}}
- name: tmp
  emptyDir: { sizeLimit: {{ .tmpSize | default "256Mi" }} }
{{- if .token }}
{{ include "looptrace.tokenVolume" . }}
{{- end }}
{{- if .shared }}
- name: bootstrap
  emptyDir: { medium: Memory, sizeLimit: 1Mi }
{{- end }}
{{- range $name, $settings := .containers }}
{{- with include "looptrace.secretVolume" (dict "name" $name "settings" $settings) | trim }}
{{ . }}
{{- end }}
{{- end }}
{{- with $pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
