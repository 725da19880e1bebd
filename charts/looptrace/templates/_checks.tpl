{{/*
Checks of values that the schema can't express, such as values that exclude each other. Each template
returns a list of faults, one per line.
*/}}
{{- define "looptrace.checks" -}}
{{- $faults := include (printf "looptrace.checks.%s" .Values.mode) . }}
{{- $faults = cat $faults (include "looptrace.checks.pods" .)
    (include "looptrace.checks.network" .) (include "looptrace.checks.both" .) (include "looptrace.checks.settings" .) (include "looptrace.checks.forms" .) | trim }}
{{- if $faults }}
{{- fail (printf "invalid values:%s" (regexReplaceAll "\\s*\\|\\s*" $faults "\n  ")) }}
{{- end }}
{{- end }}

{{- define "looptrace.checks.embedded" -}}
{{- range $store, $title := dict "postgres" "PostgreSQL" "clickhouse" "ClickHouse" }}
{{- with get (get $.Values $store) "host" }}
|{{ $store }}.host: got {{ quote . }}, expected no value: embedded mode brings its own {{ $title }}. Set mode: cluster to use yours
{{- end }}
{{- end }}
{{- if .Values.move.enabled }}
|move.enabled: got true, expected false: embedded mode has no stores to move data into. Set mode: cluster
{{- end }}
{{- with .Values.nats.servers }}
|nats.servers: got {{ toJson . }}, expected no servers: embedded mode has its own queue. Set mode: cluster to use yours
{{- end }}
{{- end }}

{{- define "looptrace.checks.cluster" -}}
{{- if and .Values.acknowledge.embeddedDataStays (eq .Values.embedded.persistence.whenDeleted "Delete") }}
|embedded.persistence.whenDeleted: got "Delete" with acknowledge.embeddedDataStays, expected Retain, and an upgrade in embedded mode before the change of mode: otherwise the volume is deleted with its pod
{{- end }}
{{- range $store := list "postgres" "clickhouse" }}
{{- $values := get $.Values $store }}
{{- if not $values.host }}
|{{ $store }}.host: missing, expected the host of your {{ $store }}, which mode: cluster needs
{{- end }}
{{- if not $values.existingSecret }}
|{{ $store }}.existingSecret: missing, expected the name of a Secret with {{ $values.usernameKey }} and {{ $values.passwordKey }} of your {{ $store }}
{{- end }}
{{- end }}
{{- if not .Values.nats.servers }}
|nats.servers: missing, expected the URLs of your NATS servers, [nats://host:4222], which mode: cluster needs
{{- end }}
{{- if and .Values.postgres.caSecret (ne .Values.postgres.sslMode "verify-full") }}
|postgres.caSecret: got {{ quote .Values.postgres.caSecret }} with sslMode {{ .Values.postgres.sslMode }}, expected sslMode verify-full, which checks certificates
{{- end }}
{{- range $role := list "proxy" "api" "worker" }}
{{- with get (get $.Values $role) "autoscaling" }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
|{{ $role }}.autoscaling.minReplicas: got {{ .minReplicas }}, expected at most maxReplicas, {{ .maxReplicas }}
{{- end }}
{{- if and .enabled (eq (default "" .type) "keda") (not .prometheusUrl) }}
|{{ $role }}.autoscaling.prometheusUrl: missing, expected the URL of Prometheus, where KEDA reads the queue length, http://prometheus:9090
{{- end }}
{{- end }}
{{- end }}
{{- range $role := list "proxy" "api" "worker" "operator" }}
{{- if eq (get (get $.Values $role) "maxUnavailable" | toString) "0" }}
|{{ $role }}.maxUnavailable: got 0, expected 1 or more, or "" for no budget. With 0 no node can be drained
{{- end }}
{{- end }}
{{- end }}

{{- define "looptrace.checks.pods" -}}
{{- range $role := list "embedded" "proxy" "api" "worker" "operator" }}
{{- with get $.Values $role }}
{{- $least := add .drainSeconds 15 }}
{{- if lt (int .terminationGracePeriodSeconds) (int $least) }}
|{{ $role }}.terminationGracePeriodSeconds: got {{ .terminationGracePeriodSeconds }}, expected at least {{ $least }}: drainSeconds and 15 s to finish open work
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "looptrace.checks.both" -}}
{{- with .Values.operator }}
{{- if and .namespaces .namespaceSelector }}
|operator.namespaceSelector: got {{ toJson .namespaceSelector }} with operator.namespaces, expected one of them
{{- end }}
{{- end }}
{{- if .Values.defaultRules.enabled }}
{{- if not .Values.operator.enabled }}
|defaultRules.enabled: got true with operator.enabled false, expected the operator too: it applies the rules
{{- end }}
{{- if and .Values.operator.namespaces (not (has .Release.Namespace .Values.operator.namespaces)) }}
|operator.namespaces: got {{ toJson .Values.operator.namespaces }} with defaultRules.enabled, expected {{ .Release.Namespace }} too: the rules are created there
{{- end }}
{{- if eq (hasKey .Values.defaultRules.projectRef "id") (hasKey .Values.defaultRules.projectRef "name") }}
|defaultRules.projectRef: got {{ toJson .Values.defaultRules.projectRef }}, expected either id, or name and organization (null removes a value)
{{- end }}
{{- range $name := .Values.defaultRules.exclude }}
{{- if not (has $name (include "looptrace.defaultRuleNames" $ | splitList " ")) }}
|defaultRules.exclude: got {{ quote $name }}, expected one of {{ include "looptrace.defaultRuleNames" $ | replace " " ", " }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.s3 }}
{{- range $name := list "prefix" "region" "endpoint" "existingSecret" }}
{{- if and (get $.Values.s3 $name) (not $.Values.s3.bucket) }}
|s3.{{ $name }}: got {{ get $.Values.s3 $name | quote }} without s3.bucket, expected the bucket too
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
|ingress.hosts: missing, expected the host names of the Ingress
{{- end }}
{{- range $route := list "httpRoute" "grpcRoute" }}
{{- with get $.Values $route }}
{{- if and .enabled (not .parentRefs) }}
|{{ $route }}.parentRefs: missing, expected the gateways of the route, [{name: …}]
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.httpRoute.enabled .Values.grpcRoute.enabled }}
{{- range $host := .Values.grpcRoute.hostnames }}
{{- if has $host $.Values.httpRoute.hostnames }}
|grpcRoute.hostnames: got {{ quote $host }}, which httpRoute has too, expected another host name: a gateway refuses one of the routes
{{- end }}
{{- end }}
{{- end }}
{{- if not .Values.serviceAccount.create }}
{{- if not .Values.serviceAccount.name }}
|serviceAccount.name: missing, expected the name of an existing service account, because serviceAccount.create is false
{{- end }}
{{- if and (eq .Values.mode "cluster") .Values.operator.enabled (not .Values.serviceAccount.operatorName) }}
|serviceAccount.operatorName: missing, expected the name of the operator's service account, because serviceAccount.create is false
{{- end }}
{{- end }}
{{- end }}

{{/* Checks that the network policies let the clients in that the values ask for. */}}
{{- define "looptrace.checks.network" -}}
{{- $policy := .Values.networkPolicy }}
{{- if and $policy.enabled (not $policy.allowAll) }}
{{- if not $policy.ingressFrom }}
{{- range $route := list "ingress" "httpRoute" "grpcRoute" }}
{{- if (get $.Values $route).enabled }}
|networkPolicy.ingressFrom: missing, expected the pods of the controller of {{ $route }}, [{namespaceSelector: …}], or networkPolicy.allowAll: true
{{- end }}
{{- end }}
{{- range $service := list "service" "apiService" }}
{{- if ne (get (get $.Values $service) "type") "ClusterIP" }}
|networkPolicy.ingressFrom: missing, expected the clients of {{ $service }}.type {{ get (get $.Values $service) "type" }}, [{ipBlock: {cidr: …}}], or networkPolicy.allowAll: true
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not $policy.metricsFrom) }}
|networkPolicy.metricsFrom: missing, expected the pods of Prometheus, [{namespaceSelector: …}], because metrics.serviceMonitor.enabled is true
{{- end }}
{{- end }}
{{- range $i, $rule := $policy.egress }}
{{- $selects := or (hasKey $rule "namespaceSelector") (hasKey $rule "podSelector") }}
{{- if eq $selects (hasKey $rule "cidr") }}
|networkPolicy.egress[{{ $i }}]: got {{ omit $rule "ports" "roles" | toJson }}, expected either a cidr, or a namespaceSelector and a podSelector
{{- else if and $rule.except $selects }}
|networkPolicy.egress[{{ $i }}].except: expected it with a cidr only
{{- end }}
{{- range $cidr := concat (ternary (list $rule.cidr) list (hasKey $rule "cidr")) ($rule.except | default list) }}
{{- if not (regexMatch "^[0-9a-fA-F.:]+/[0-9]{1,3}$" $cidr) }}
|networkPolicy.egress[{{ $i }}]: got {{ quote $cidr }}, expected addresses as a CIDR, 10.0.0.0/8
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Checks of `settings` and `secretSettings` against the settings of the product. */}}
{{- define "looptrace.checks.settings" -}}
{{- $known := .Files.Get "files/settings.json" | fromJson }}
{{- range $name, $value := .Values.settings }}
{{- if not (regexMatch "^[a-z][a-z0-9_]*$" $name) }}
|settings.{{ $name }}: expected the name of a setting in lower case, without LOOPTRACE_
{{- else if hasPrefix "looptrace_" $name }}
|settings.{{ $name }}: expected the name without its prefix, {{ trimPrefix "looptrace_" $name }}
{{- else if or (get $known $name | splitList " " | has "secret") (regexMatch "(password|secret|_key$|access_key)" $name) }}
|settings.{{ $name }}: is a secret and would be readable in the pod spec, expected it in secretSettings, which reads it from a Secret
{{- else if not (hasKey $known $name) }}
|settings.{{ $name }}: unknown, expected a setting of docs/reference/configuration.md, such as {{ include "looptrace.nearest" (list $name $known) }}
{{- else if or (kindIs "map" $value) (kindIs "slice" $value) }}
|settings.{{ $name }}: got {{ toJson $value }}, expected a text, a number or true or false
{{- end }}
{{- end }}
{{- range $name, $from := .Values.secretSettings }}
{{- if not (hasKey $known $name) }}
|secretSettings.{{ $name }}: unknown, expected a setting of docs/reference/configuration.md, such as {{ include "looptrace.nearest" (list $name $known) }}
{{- else if hasKey $.Values.settings $name }}
|secretSettings.{{ $name }}: is in settings too, expected only one of them
{{- end }}
{{- end }}
{{- end }}

{{/*
The three known names that share most pairs of letters with an unknown one. Takes a list of the name
and the known settings.
*/}}
{{- define "looptrace.nearest" -}}
{{- $pairs := list }}
{{- range $i, $_ := until (sub (len (first .)) 1 | int) }}
{{- $pairs = append $pairs (substr $i (add $i 2 | int) (first $)) }}
{{- end }}
{{- $ranked := list }}
{{- range $known, $_ := last . }}
{{- $shared := 0 }}
{{- range uniq $pairs }}{{ if contains . $known }}{{ $shared = add $shared 1 }}{{ end }}{{ end }}
{{- $rank := sub 10000 (div (mul 20000 $shared) (add (len $pairs) (len $known))) }}
{{- $ranked = append $ranked (printf "%05d %s" (int $rank) $known) }}
{{- end }}
{{- $names := list }}
{{- range slice (sortAlpha $ranked) 0 3 }}{{ $names = append $names (splitList " " . | last) }}{{ end }}
{{- join ", " $names }}
{{- end }}

{{/* Checks of the format of texts. */}}
{{- define "looptrace.checks.forms" -}}
{{- $url := list "^https?://[^ ]+$" "a URL, http:// or https://" }}
{{- $size := list "^[0-9]+(\\.[0-9]+)?(Ki|Mi|Gi|Ti)$" "a size with its unit, 20Gi" }}
{{- $object := list "^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$" "the name of a Kubernetes object" }}
{{- $v := .Values }}
{{- $texts := list
  (list "image.digest" $v.image.digest (list "^sha256:[0-9a-f]{64}$" "sha256: and 64 hexadecimal digits"))
  (list "bootstrap.adminEmail" (default "-" $v.bootstrap.adminEmail) (list "^[^@ ]+@[^@ ]+$" "an e-mail address"))
  (list "bootstrap.existingSecret" $v.bootstrap.existingSecret $object)
  (list "postgres.existingSecret" $v.postgres.existingSecret $object)
  (list "clickhouse.existingSecret" $v.clickhouse.existingSecret $object)
  (list "nats.existingSecret" $v.nats.existingSecret $object)
  (list "s3.existingSecret" $v.s3.existingSecret $object)
  (list "s3.endpoint" $v.s3.endpoint $url)
  (list "s3.prefix" $v.s3.prefix (list "^[^/]" "a folder without a leading slash"))
  (list "embedded.tmpSize" $v.embedded.tmpSize $size)
  (list "embedded.persistence.size" $v.embedded.persistence.size $size)
  (list "proxy.spoolSize" $v.proxy.spoolSize $size)
  (list "api.spoolSize" $v.api.spoolSize $size)
  (list "worker.autoscaling.prometheusUrl" $v.worker.autoscaling.prometheusUrl $url)
  (list "metrics.serviceMonitor.interval" $v.metrics.serviceMonitor.interval (list "^[0-9]+(ms|s|m|h)$" "a time with its unit, 30s"))
}}
{{- range $name, $provider := $v.providers }}
{{- $texts = append $texts (list (printf "providers.%s.baseUrl" $name) $provider.baseUrl $url) }}
{{- end }}
{{- range $i, $server := $v.nats.servers }}
{{- $texts = append $texts (list (printf "nats.servers[%d]" $i) $server (list "^(nats|tls|ws|wss)://[^ ,]+$" "a URL, nats:// or tls://")) }}
{{- end }}
{{- range $role := list "proxy" "api" "worker" "operator" }}
{{- $texts = append $texts (list (printf "%s.maxUnavailable" $role) (get (get $v $role) "maxUnavailable" | toString) (list "^[0-9]+%?$" "a number of pods or a share, 1 or 25%")) }}
{{- end }}
{{- range $text := $texts }}
{{- $form := last $text }}
{{- with index $text 1 }}
{{- if not (regexMatch (first $form) (toString .)) }}
|{{ first $text }}: got {{ toString . | quote }}, expected {{ last $form }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
