{{/*
Default incident rules, as a JSON list of names and specs. The operator applies them, because Helm can't
create a resource and its CRD in one release.
*/}}
{{- define "looptrace.defaultRules" -}}
{{- $values := .Values.defaultRules }}
{{- $all := list }}
{{- range $rule := .Files.Get "files/default-rules.json" | default "[]" | fromJsonArray }}
{{- if not (has $rule.name $values.exclude) }}
{{- $spec := merge (dict "projectRef" $values.projectRef) $rule.spec }}
{{- with $values.notify }}{{ $_ := set $spec "notify" . }}{{ end }}
{{- $all = append $all (dict "name" $rule.name "spec" $spec) }}
{{- end }}
{{- end }}
{{- toJson $all }}
{{- end }}

{{/* Names of all default rules, separated by spaces. */}}
{{- define "looptrace.defaultRuleNames" -}}
{{- $names := list }}
{{- range .Files.Get "files/default-rules.json" | default "[]" | fromJsonArray }}{{ $names = append $names .name }}{{ end }}
{{- join " " $names }}
{{- end }}
