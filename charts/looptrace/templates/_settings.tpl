{{/*
Settings of a role as a map of variables: a text, or for a variable with _FILE the Secret and key in
that file ({secret, key, shared}, see _secrets.tpl). The values in `settings` and `secretSettings`
override the others: null removes the other variable of a setting. Takes root and role.
*/}}
{{- define "looptrace.settings" -}}
{{- $login := ternary "login" "bootstrap" (ne .root.Values.bootstrap.existingSecret "") }}
{{- $groups := dict
  "all" (list "serving" "providers" "s3" "login" "demo" "verification" "certification" "checkpointSinks" "audit")
  "proxy" (list "serving" "providers" "postgres" "nats")
  "api" (list "serving" "postgres" "clickhouse" "nats" "s3" "secretKey" "verification" "checkpointSinks" "apiHeap")
  "worker" (list "postgres" "clickhouse" "nats" "s3" "secretKey" "verification" "certification" "checkpointSinks" "audit" "workerHeap")
  "migrate" (list "postgres" "clickhouse" "nats" $login)
  "secret" (list "bootstrap" "bootstrapFiles")
  "move" (list "postgres" "clickhouse" "nats" "s3" "move")
  "operator" (list "operator") }}
{{- range $group := get $groups .role }}
{{- include (printf "looptrace.settings.%s" $group) $.root }}
{{- end }}
{{- range $name, $value := .root.Values.settings }}
LOOPTRACE_{{ upper $name }}_FILE: null
LOOPTRACE_{{ upper $name }}: {{ $value | toString | quote }}
{{- end }}
{{- $known := .root.Files.Get "files/settings.json" | fromJson }}
{{- range $name, $from := .root.Values.secretSettings }}
{{- if has (get (dict "secret" "migrate" "move" "all") $.role | default $.role) (get $known $name | splitList " ") }}
LOOPTRACE_{{ upper $name }}: null
LOOPTRACE_{{ upper (trimSuffix "_file" $name) }}_FILE: {{ toJson $from }}
{{- end }}
{{- end }}
{{- end }}

{{- define "looptrace.settings.serving" }}
LOOPTRACE_HTTP_HOST: 0.0.0.0
LOOPTRACE_HTTP_PORT: "8080"
LOOPTRACE_OTLP_GRPC_HOST: 0.0.0.0
LOOPTRACE_OTLP_GRPC_PORT: "4317"
LOOPTRACE_DATA_DIRECTORY: /data
{{- end }}

{{- define "looptrace.settings.providers" }}
{{- range $name, $provider := .Values.providers }}
{{- with $provider.baseUrl }}
LOOPTRACE_{{ upper $name }}_BASE_URL: {{ . | quote }}
{{- end }}
{{- end }}
{{- with .Values.providersFile }}
{{- if .existingSecret }}
LOOPTRACE_PROVIDERS_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .key }}}
{{- end }}
{{- end }}
{{- range $name, $key := .Values.providerKeys }}
PROVIDER_KEY_{{ $name | replace "-" "_" | upper }}_FILE: {{ toJson $key }}
{{- end }}
{{- if .Values.tests.enabled }}
LOOPTRACE_SCRIPTED_BASE_URL: http://{{ include "looptrace.name" . }}-test:8090/v1
{{- end }}
{{- end }}

{{- define "looptrace.settings.postgres" }}
{{- with .Values.postgres }}
LOOPTRACE_POSTGRES_HOST: {{ .host | quote }}
LOOPTRACE_POSTGRES_PORT: {{ .port | quote }}
LOOPTRACE_POSTGRES_DATABASE: {{ .database | quote }}
LOOPTRACE_POSTGRES_SSL_MODE: {{ .sslMode | quote }}
{{- if .caSecret }}
LOOPTRACE_POSTGRES_CA_FILE: {secret: {{ quote .caSecret }}, key: {{ quote .caKey }}}
{{- end }}
LOOPTRACE_POSTGRES_USERNAME_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .usernameKey }}}
LOOPTRACE_POSTGRES_PASSWORD_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .passwordKey }}}
{{- end }}
{{- end }}

{{- define "looptrace.settings.clickhouse" }}
{{- with .Values.clickhouse }}
LOOPTRACE_CLICKHOUSE_URL: {{ ternary "https" "http" .tls }}://{{ .host }}:{{ .port }}
LOOPTRACE_CLICKHOUSE_DATABASE: {{ .database | quote }}
{{- with .cluster }}
LOOPTRACE_CLICKHOUSE_CLUSTER: {{ . | quote }}
{{- end }}
LOOPTRACE_CLICKHOUSE_USERNAME_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .usernameKey }}}
LOOPTRACE_CLICKHOUSE_PASSWORD_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .passwordKey }}}
{{- end }}
{{- end }}

{{- define "looptrace.settings.nats" }}
{{- with .Values.nats }}
LOOPTRACE_NATS_URL: {{ join "," .servers | quote }}
LOOPTRACE_NATS_REPLICAS: {{ .replicas | default (ternary 3 1 (ge (len .servers) 3)) | quote }}
LOOPTRACE_QUEUE_PARTITIONS: {{ .partitions | quote }}
{{- if .existingSecret }}
LOOPTRACE_NATS_CREDENTIALS_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .credentialsKey }}}
{{- end }}
{{- end }}
{{- end }}

{{- define "looptrace.settings.s3" }}
{{- with .Values.s3 }}
{{- if .bucket }}
LOOPTRACE_BLOBS_URL: {{ printf "s3://%s/%s" .bucket .prefix | trimSuffix "/" | quote }}
LOOPTRACE_BLOBS_S3_PATH_STYLE: {{ .pathStyle | quote }}
{{- with .region }}
LOOPTRACE_BLOBS_S3_REGION: {{ . | quote }}
{{- end }}
{{- with .endpoint }}
LOOPTRACE_BLOBS_S3_ENDPOINT: {{ . | quote }}
{{- end }}
{{- if .existingSecret }}
LOOPTRACE_BLOBS_S3_ACCESS_KEY_ID_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .accessKeyIdKey }}}
LOOPTRACE_BLOBS_S3_SECRET_ACCESS_KEY_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .secretAccessKeyKey }}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "looptrace.settings.secretKey" }}
LOOPTRACE_SECRET_KEY_FILE: {{ include "looptrace.fromBootstrap" (list . "secret-key") }}
{{- end }}

{{/* The volume of embedded mode, and its secret key. */}}
{{- define "looptrace.settings.move" }}
LOOPTRACE_DATA_DIRECTORY: /data
LOOPTRACE_SECRET_KEY_FILE: {{ include "looptrace.fromBootstrap" (list . "secret-key" false) }}
{{- end }}

{{/* The first login and the keys, from the Secret. */}}
{{- define "looptrace.settings.login" }}
LOOPTRACE_SECRET_KEY_FILE: {{ include "looptrace.fromBootstrap" (list . "secret-key") }}
LOOPTRACE_BOOTSTRAP_EMAIL_FILE: {{ include "looptrace.fromBootstrap" (list . "admin-email") }}
LOOPTRACE_BOOTSTRAP_PASSWORD_FILE: {{ include "looptrace.fromBootstrap" (list . "admin-password") }}
LOOPTRACE_BOOTSTRAP_PROJECT_KEY_FILE: {{ include "looptrace.fromBootstrap" (list . "project-key") }}
LOOPTRACE_BOOTSTRAP_PROJECT_ID_FILE: {{ include "looptrace.fromBootstrap" (list . "project-id") }}
LOOPTRACE_OPERATOR_KEY_FILE: {{ include "looptrace.fromBootstrap" (list . "operator-key") }}
{{- end }}

{{/* The name of the Secret to create, if no existing one is given. */}}
{{- define "looptrace.settings.bootstrap" }}
LOOPTRACE_BOOTSTRAP_SECRET: {{ .Release.Namespace }}/{{ include "looptrace.bootstrapSecret" . }}
LOOPTRACE_BOOTSTRAP_EMAIL: {{ .Values.bootstrap.adminEmail | quote }}
{{- end }}

{{- define "looptrace.settings.bootstrapFiles" }}
LOOPTRACE_BOOTSTRAP_DIRECTORY: /etc/looptrace/bootstrap
{{- end }}

{{- define "looptrace.settings.demo" }}
LOOPTRACE_DEMO: {{ .Values.embedded.demo | quote }}
{{- end }}

{{/* The models of verification. The key of a model is a file, whose path its entry names. */}}
{{- define "looptrace.settings.verification" }}
LOOPTRACE_VERIFICATION_BUDGET_CENTS_PER_DAY: {{ int64 .Values.verification.budgetCentsPerDay | quote }}
{{- $models := list }}
{{- range $i, $model := .Values.verification.models }}
{{- $entry := omit $model "apiKey" }}
{{- with $model.apiKey }}
{{- $variable := printf "MODEL_KEY_%d_FILE" $i }}
{{ $variable }}: {{ toJson . }}
{{- $entry = set $entry "api_key_file" (include "looptrace.secretPath" (list $variable .)) }}
{{- end }}
{{- $models = append $models $entry }}
{{- end }}
{{- with $models }}
LOOPTRACE_VERIFICATION_MODELS: {{ toJson . | quote }}
{{- end }}
{{- end }}

{{/* The key that signs statements; without it the service makes one and keeps it encrypted. */}}
{{- define "looptrace.settings.certification" }}
{{- with .Values.certification }}
{{- if .existingSecret }}
LOOPTRACE_CERTIFICATION_KEY_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .signingKey }}}
{{- end }}
{{- end }}
{{- end }}

{{/* Sinks of checkpoints: workers publish to them, API pods read them back. */}}
{{- define "looptrace.settings.checkpointSinks" }}
{{- with .Values.audit.checkpointSinks }}
LOOPTRACE_AUDIT_CHECKPOINT_SINKS: {{ join "," . | quote }}
{{- end }}
{{- end }}

{{/* Receivers of audit records. Their secrets are files. */}}
{{- define "looptrace.settings.audit" }}
{{- with .Values.audit.stream.webhook }}
{{- if .url }}
LOOPTRACE_AUDIT_STREAM_WEBHOOK_URL: {{ quote .url }}
LOOPTRACE_AUDIT_STREAM_WEBHOOK_SECRET_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .secretKey }}}
{{- if .headersKey }}
LOOPTRACE_AUDIT_STREAM_WEBHOOK_HEADERS_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .headersKey }}}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.audit.stream.otlp }}
{{- if .url }}
LOOPTRACE_AUDIT_STREAM_OTLP_URL: {{ quote .url }}
{{- if .existingSecret }}
LOOPTRACE_AUDIT_STREAM_OTLP_HEADERS_FILE: {secret: {{ quote .existingSecret }}, key: {{ quote .headersKey }}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "looptrace.settings.apiHeap" }}
{{- /* Saves 70 MB of memory (decision 67). */}}
NODE_OPTIONS: --max-semi-space-size=8
{{- end }}

{{- define "looptrace.settings.workerHeap" }}
{{- /* Saves 115 MB of memory for 4 % more processor time (decision 67). */}}
NODE_OPTIONS: --max-semi-space-size=16
{{- end }}

{{- define "looptrace.settings.operator" }}
LOOPTRACE_SERVICE_URL: {{ ternary "http://127.0.0.1:8080" (printf "http://%s-api:%v" (include "looptrace.name" .) .Values.apiService.port) (eq .Values.mode "embedded") }}
LOOPTRACE_OPERATOR_KEY_FILE: {{ include "looptrace.fromBootstrap" (list . "operator-key" (eq .Values.mode "embedded")) }}
LOOPTRACE_OPERATOR_NAMESPACE: {{ .Release.Namespace }}
LOOPTRACE_OPERATOR_LEASE: {{ include "looptrace.name" . }}-operator
LOOPTRACE_OPERATOR_INSTALLATION: {{ include "looptrace.name" . }}
{{- with .Values.operator.namespaces }}
LOOPTRACE_OPERATOR_NAMESPACES: {{ join "," . | quote }}
{{- end }}
{{- with .Values.operator.namespaceSelector }}
LOOPTRACE_OPERATOR_NAMESPACE_SELECTOR: {{ toJson . | quote }}
{{- end }}
LOOPTRACE_OPERATOR_PROXY_URL: {{ default (printf "http://%s.%s.svc:%v" (include "looptrace.name" .) .Release.Namespace .Values.service.ports.http) .Values.operator.proxyUrl | quote }}
LOOPTRACE_OPERATOR_GRANTS: {{ include "looptrace.grants" . | quote }}
{{- if .Values.defaultRules.enabled }}
LOOPTRACE_OPERATOR_DEFAULT_RULES: {{ include "looptrace.defaultRules" . | quote }}
{{- end }}
LOOPTRACE_OPERATOR_LEADER_ELECTION: {{ eq .Values.mode "cluster" | quote }}
{{- /* Saves memory: a small young generation 30 MiB, one V8 helper thread instead of three 10 MiB. */}}
NODE_OPTIONS: --max-semi-space-size=1 --v8-pool-size=1
{{- end }}

{{/* A map of settings as `env` of a container, sorted by name. */}}
{{- define "looptrace.env" -}}
{{- range $name, $value := . }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name }}
  value: {{ if kindIs "map" $value }}{{ include "looptrace.secretPath" (list $name $value) | quote }}{{ else }}{{ quote $value }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
