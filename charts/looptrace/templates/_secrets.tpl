{{/*
Values of Secrets are files, and never environment variables: these are readable in the pod's
description of many tools, in crash dumps and in child processes. Each container mounts only its own.
The Secret of the first login is not mounted in a pod whose init container creates it: a missing
Secret would block the pod before its init container starts. Such values are `shared`: the init
container copies them into a volume in memory.
*/}}

{{/*
A value of the first login. Takes a list of root, key, and whether the pod creates the Secret (by
default yes).
*/}}
{{- define "looptrace.fromBootstrap" -}}
{{- $root := first . }}
{{- $mints := and (not $root.Values.bootstrap.existingSecret) (or (lt (len .) 3) (last .)) }}
{{- dict "secret" (include "looptrace.bootstrapSecret" $root) "key" (index . 1) "shared" $mints | toJson }}
{{- end }}

{{/* The file of a variable. Takes a list of the variable and its value, {secret, key, shared}. */}}
{{- define "looptrace.secretPath" -}}
{{- $value := last . }}
{{- if $value.shared }}/etc/looptrace/bootstrap/{{ $value.key }}
{{- else }}/etc/looptrace/secrets/{{ include "looptrace.secretFile" (first .) }}
{{- end }}
{{- end }}

{{- define "looptrace.secretFile" -}}
{{ . | trimPrefix "LOOPTRACE_" | trimSuffix "_FILE" | lower }}
{{- end }}

{{/* Mounts of a container for its Secrets. Takes name and settings. */}}
{{- define "looptrace.secretMounts" -}}
{{- $own := false }}
{{- range $variable, $value := .settings }}
{{- if kindIs "map" $value }}
{{- if $value.shared }}
- { name: bootstrap, mountPath: {{ include "looptrace.secretPath" (list $variable $value) }}, subPath: {{ $value.key }}, readOnly: true }
{{- else }}{{ $own = true }}
{{- end }}
{{- end }}
{{- end }}
{{- if $own }}
- { name: secrets-{{ .name }}, mountPath: /etc/looptrace/secrets, readOnly: true }
{{- end }}
{{- end }}

{{/* The volume of a container for its Secrets, if it reads any. Takes name and settings. */}}
{{- define "looptrace.secretVolume" -}}
{{- $items := dict }}
{{- range $variable, $value := .settings }}
{{- if and (kindIs "map" $value) (not (get (default dict $value) "shared")) }}
{{- $item := dict "key" $value.key "path" (include "looptrace.secretFile" $variable) }}
{{- $_ := set $items $value.secret (append (get $items $value.secret | default list) $item) }}
{{- end }}
{{- end }}
{{- with $items }}
- name: secrets-{{ $.name }}
  projected:
    defaultMode: 0440
    sources:
      {{- range $secret, $keys := . }}
      - secret: { name: {{ $secret }}, items: {{ toJson $keys }} }
      {{- end }}
{{- end }}
{{- end }}
