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
{{- if has .role (list "all" "api" "worker") }}
{{- $ports = concat $ports $values.networkPolicy.receiverPorts }}
{{- end }}
{{- if ne .role "proxy" }}
{{- $ports = concat $ports $values.networkPolicy.apiServerPorts }}
{{- end }}
{{- $whole := list }}
{{- range $ports }}{{ $whole = append $whole (int .) }}{{ end }}
{{- $whole | uniq | toJson }}
{{- end }}

{{/*
Rules for the stores, the providers and the Kubernetes API: to the addresses in `egress`, or to any
address. A rule without ports has those that the role calls. Takes root and role.
*/}}
{{- define "looptrace.egress" -}}
{{- $own := include "looptrace.egressPorts" . | fromJsonArray }}
{{- range .root.Values.networkPolicy.egress | default (list dict) }}
{{- if has $.role (.roles | default (list $.role)) }}
- ports:
    {{- range .ports | default $own }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  {{- if .cidr }}
  to:
    - ipBlock: {{ pick . "cidr" "except" | toJson }}
  {{- else if or (hasKey . "namespaceSelector") (hasKey . "podSelector") }}
  to:
    - {{ pick . "namespaceSelector" "podSelector" | toJson }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}
