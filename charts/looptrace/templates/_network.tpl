{{/* The port of a URL, or the default port of its scheme. */}}
{{- define "looptrace.portOf" -}}
{{- $url := urlParse . }}
{{- $ports := dict "http" 80 "https" 443 "nats" 4222 "tls" 4222 "ws" 80 "wss" 443 }}
{{- regexFind "[0-9]+$" (regexFind ":[0-9]+$" $url.host) | default (get $ports $url.scheme | toString) }}
{{- end }}

{{/* Ports that a role calls, as a JSON list without duplicates. Takes root and role. */}}
{{- define "looptrace.egressPorts" -}}
{{- $values := .root.Values }}
{{- $ports := $values.networkPolicy.extraEgressPorts }}
{{- if has .role (list "all" "proxy") }}
{{- $ports = append $ports 443 }}
{{- range $name, $provider := $values.providers }}
{{- with $provider.baseUrl }}{{ $ports = append $ports (include "looptrace.portOf" . | int) }}{{ end }}
{{- end }}
{{- end }}
{{- if has .role (list "proxy" "api" "worker") }}
{{- $ports = append $ports (int $values.postgres.port) }}
{{- range $values.nats.servers }}{{ $ports = append $ports (include "looptrace.portOf" . | int) }}{{ end }}
{{- end }}
{{- if has .role (list "api" "worker") }}
{{- $ports = append $ports (int $values.clickhouse.port) }}
{{- end }}
{{- if has .role (list "all" "api" "worker") }}
{{- $ports = append $ports 443 }}
{{- with $values.s3.endpoint }}{{ $ports = append $ports (include "looptrace.portOf" . | int) }}{{ end }}
{{- end }}
{{- if ne .role "proxy" }}
{{- $ports = concat $ports $values.networkPolicy.apiServerPorts }}
{{- end }}
{{- if eq .role "operator" }}
{{- $ports = append $ports 8080 }}
{{- end }}
{{- $whole := list }}
{{- range $ports }}{{ $whole = append $whole (int .) }}{{ end }}
{{- $whole | uniq | toJson }}
{{- end }}
