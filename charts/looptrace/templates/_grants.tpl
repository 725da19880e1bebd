{{/*
ProjectGrants of the installation, as a JSON list of names and specs. The operator applies them,
because Helm can't create a resource and its CRD in one release. Only `grants` of the values can let a
namespace create a project.
*/}}
{{- define "looptrace.grants" -}}
{{- $values := .Values.operator }}
{{- $release := printf "%s-%s" .Release.Namespace (include "looptrace.name" .) }}
{{- $kinds := list }}
{{- range .Files.Get "files/kinds.json" | default "[]" | fromJsonArray }}
{{- if not (or (eq (.scope | default "") "Cluster") (eq .kind "Project")) }}{{ $kinds = append $kinds .kind }}{{ end }}
{{- end }}
{{- $all := list }}
{{- if $values.grantFirstProject }}
{{- $spec := dict "project" (dict "organization" "default" "name" "default")
    "namespaces" (dict "names" (list .Release.Namespace)) "kinds" $kinds "scopes" $values.grantedScopes }}
{{- $all = append $all (dict "name" (printf "%s-first-project" $release) "spec" $spec) }}
{{- end }}
{{- range $namespace, $projects := $values.projects }}
{{- range $project := $projects }}
{{- $selection := ternary (dict "selector" dict) (dict "names" (list $namespace)) (eq $namespace "*") }}
{{- $spec := dict "project" (include "looptrace.grantedProject" $project | fromJson) "namespaces" $selection
    "kinds" $kinds "scopes" $values.grantedScopes }}
{{- $name := printf "%s-%s" $release (printf "%s/%s" $namespace $project | sha256sum | trunc 12) }}
{{- $all = append $all (dict "name" $name "spec" $spec) }}
{{- end }}
{{- end }}
{{- range $values.grants }}
{{- $all = append $all (dict "name" (printf "%s-%s" $release .name) "spec" (omit . "name")) }}
{{- end }}
{{- toJson $all }}
{{- end }}

{{/* The project of a grant, from an id, `organization/name`, or a name. */}}
{{- define "looptrace.grantedProject" -}}
{{- if regexMatch "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$" . }}
{{- toJson (dict "id" .) }}
{{- else if contains "/" . }}
{{- $parts := regexSplit "/" . 2 }}
{{- toJson (dict "organization" (first $parts) "name" (last $parts)) }}
{{- else }}
{{- toJson (dict "organization" "default" "name" .) }}
{{- end }}
{{- end }}
