/** The minimal values of cluster mode. */
export const clusterValues = {
  mode: 'cluster',
  postgres: { host: 'pg-rw', existingSecret: 'pg-app' },
  clickhouse: { host: 'clickhouse', existingSecret: 'clickhouse-login' },
  nats: { servers: ['nats://nats:4222'] },
}

/** A container of a platform team that a restricted namespace accepts. */
function restricted(name: string): object {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  return { name, image: `registry.example.com/${name}:1`, securityContext }
}

/** All features that need no additional kinds of resources. */
export const fullValues = {
  ...clusterValues,
  commonLabels: { team: 'llm' },
  image: { digest: `sha256:${'0'.repeat(64)}` },
  imagePullSecrets: [{ name: 'pull' }],
  postgres: {
    ...clusterValues.postgres,
    sslMode: 'verify-full',
    caSecret: 'pg-ca',
  },
  clickhouse: { ...clusterValues.clickhouse, tls: true, port: 8443, cluster: 'main' },
  nats: {
    servers: ['nats://nats-0:4222', 'tls://nats-1:4223'],
    existingSecret: 'nats',
    replicas: 3,
  },
  s3: {
    bucket: 'archives',
    prefix: 'looptrace',
    region: 'eu-central-1',
    endpoint: 'http://minio:9000',
    pathStyle: true,
    existingSecret: 's3',
  },
  settings: { log_level: 'debug', audit_days: '400', judge_budget_cents_per_day: '50' },
  secretSettings: { smtp_url: { secret: 'mail', key: 'url' } },
  certification: { existingSecret: 'release-signing' },
  verification: {
    models: [
      {
        ...{ name: 'judge', type: 'openai', use: ['judge', 'extract'], model: 'gpt' },
        url: 'https://llm.example.com/v1',
        ...{ cents_per_million_input: 1_000_000, cents_per_million_output: 0.5 },
        apiKey: { secret: 'llm', key: 'llm-key' },
      },
      { name: 'nli', type: 'nli-http', url: 'http://nli:8000', cents_per_million_input: 0 },
    ],
    budgetCentsPerDay: 1_000_000,
  },
  providers: { openai: { baseUrl: 'http://vllm.llm:8000/v1' } },
  pod: {
    labels: { billing: 'agents' },
    annotations: { note: 'all' },
    nodeSelector: { pool: 'llm' },
    tolerations: [{ key: 'llm', operator: 'Exists' }],
    priorityClassName: 'high',
    workloadLabels: { tier: 'llm' },
    workloadAnnotations: { 'reloader.example.com/auto': 'true' },
    revisionHistoryLimit: 3,
    hostAliases: [{ ip: '10.1.2.3', hostnames: ['provider.internal'] }],
    dnsPolicy: 'ClusterFirst',
    dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
    probes: { startup: { failureThreshold: 300 }, readiness: { periodSeconds: 2 } },
    envFrom: [{ configMapRef: { name: 'proxy-environment' } }],
    initContainers: [restricted('sql-proxy')],
    extraContainers: [restricted('log-shipper')],
    extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca/ca.crt' }],
    extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca' }],
  },
  proxy: {
    autoscaling: { enabled: true },
    pod: {
      nodeSelector: { pool: 'edge' },
      probes: { readiness: { failureThreshold: 4 } },
      revisionHistoryLimit: 1,
      topologySpreadConstraints: [],
    },
  },
  api: { autoscaling: { enabled: true } },
  worker: { autoscaling: { enabled: true, type: 'external' } },
  operator: { namespaces: ['team-a', 'team-b'], projects: { 'team-a': ['default'] } },
  ingress: { enabled: true, className: 'nginx', hosts: ['looptrace.example.com'] },
  metrics: { dashboard: { enabled: true } },
  networkPolicy: {
    ingressFrom: [{ namespaceSelector: {} }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    extraEgressPorts: [3128],
  },
  extraObjects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } },
    "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: '{{ .Release.Name }}-two' }",
  ],
}

/** Features that need the kinds of other operators. */
export const extendedValues = {
  ...fullValues,
  worker: {
    autoscaling: { enabled: true, prometheusUrl: 'http://prometheus.monitoring:9090' },
  },
  httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }] },
  grpcRoute: {
    enabled: true,
    parentRefs: [{ name: 'gateway', sectionName: 'grpc' }],
    hostnames: ['otlp.example.com'],
  },
  metrics: {
    dashboard: { enabled: true },
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true },
  },
}
