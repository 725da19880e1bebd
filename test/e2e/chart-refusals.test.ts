import { expect, test } from 'vitest'
import { clusterValues } from '../support/chart/chart-values.ts'
import { chart, helm } from '../support/chart/render.ts'

/**
 * Values with one fault each, and parts of its message: the value's name, and the expected value. Helm
 * reports all faults of a render at once, so that the faults of a list are in a single render.
 */
type Fault = readonly [values: object, ...words: string[]]

/** Faults that the schema finds; Helm reports them without those below. */
const schemaFaults: readonly Fault[] = [
  [{ mode: 'Embedded' }, '/mode', "'embedded', 'cluster'"],
  [{ modes: 'cluster' }, "'modes' not allowed"],
  [{ proxy: { replicas: 0 } }, '/proxy/replicas', 'got 0, want 1'],
  [{ postgres: { port: 99_999 } }, '/postgres/port', 'want 65,535'],
  [{ service: { type: 'External' } }, '/service/type', 'LoadBalancer'],
  [{ crds: { enabled: 'yes' } }, '/crds/enabled', 'want boolean'],
  [{ secretSettings: { smtp_url: 'hush' } }, '/secretSettings/smtp_url', 'want object'],
  [
    {
      verification: { models: [{ name: 'a', type: 'openai', url: 'https://a', api_key: 'hush' }] },
    },
    '/verification/models/0',
    'api_key',
  ],
  [{ operator: { proxyUrl: "http://a'b" } }, '/operator/proxyUrl'],
  [{ pod: { dnsPolicy: 'Cluster' } }, '/pod/dnsPolicy', 'ClusterFirst'],
]

const embeddedFaults: readonly Fault[] = [
  [{ postgres: { host: 'pg' } }, 'postgres.host: got "pg"', 'embedded mode brings its own'],
  [{ move: { enabled: true } }, 'move.enabled: got true', 'mode: cluster'],
  [{ nats: { servers: ['nats://n'] } }, 'nats.servers: got ["nats://n"]', 'mode: cluster'],
  [{ image: { digest: 'latest' } }, 'image.digest: got "latest"', 'sha256:'],
  [{ embedded: { persistence: { size: '20' } } }, 'persistence.size: got "20"', '20Gi'],
  [{ providers: { openai: { baseUrl: 'api.openai.com' } } }, 'providers.openai.baseUrl', 'http://'],
  [{ bootstrap: { adminEmail: 'admin' } }, 'bootstrap.adminEmail: got "admin"', 'e-mail address'],
  [{ ingress: { enabled: true } }, 'ingress.hosts: missing', 'expected the host names'],
  [
    { ingress: { enabled: true } },
    'networkPolicy.ingressFrom: missing, expected the pods of the controller of ingress',
    'allowAll: true',
  ],
  [{ service: { type: 'LoadBalancer' } }, 'expected the clients of service.type LoadBalancer'],
  [
    { metrics: { serviceMonitor: { enabled: true } } },
    'networkPolicy.metricsFrom: missing, expected the pods of Prometheus',
  ],
  [{ metrics: { serviceMonitor: { interval: 'often' } } }, 'interval: got "often"', '30s'],
  [
    { defaultRules: { enabled: true }, operator: { enabled: false } },
    'defaultRules.enabled: got true with operator.enabled false',
    'it applies the rules',
  ],
  [
    { defaultRules: { enabled: true, exclude: ['tfft'] } },
    'defaultRules.exclude: got "tfft", expected one of',
    'ttft',
  ],
  [
    { defaultRules: { enabled: true, projectRef: { id: 'x' } } },
    'defaultRules.projectRef: got',
    'expected either id',
  ],
  [{ settings: { LOG_LEVEL: 'debug' } }, 'settings.LOG_LEVEL', 'in lower case'],
  [{ settings: { looptrace_demo: true } }, 'settings.looptrace_demo', 'without its prefix, demo'],
  [{ settings: { smtp_url: 'x' } }, 'settings.smtp_url: is a secret', 'secretSettings'],
  [{ settings: { log_levle: 'debug' } }, 'settings.log_levle: unknown', 'such as log_level'],
  [{ settings: { retention_days: 1 } }, 'settings.retention_days: unknown', 'retention_hour'],
  [{ settings: { demo_file: '/x' } }, 'settings.demo_file: unknown', 'such as demo'],
  [
    { secretSettings: { smtp_ulr: { secret: 'mail', key: 'url' } } },
    'secretSettings.smtp_ulr: unknown, expected a setting',
    'such as smtp_url',
  ],
  [
    { secretSettings: { log_level: { secret: 'a', key: 'b' } }, settings: { log_level: 'c' } },
    'secretSettings.log_level: is in settings too',
    'only one',
  ],
  [
    {
      networkPolicy: {
        egress: [{ ports: [1] }, { cidr: '10.0.0.0' }, { cidr: '10.0.0.0/8', podSelector: {} }],
      },
    },
    'egress[0]: got {}, expected either a cidr',
    'egress[1]: got "10.0.0.0", expected addresses as a CIDR',
    'egress[2]: got {"cidr":"10.0.0.0/8","podSelector":{}}, expected either',
  ],
  [{ httpRoute: { enabled: true } }, 'httpRoute.parentRefs: missing', 'expected the gateways'],
  [{ grpcRoute: { enabled: true } }, 'grpcRoute.parentRefs: missing', 'expected the gateways'],
  [
    { httpRoute: { hostnames: ['a.example.com'] }, grpcRoute: { hostnames: ['a.example.com'] } },
    'grpcRoute.hostnames: got "a.example.com", which httpRoute has too',
  ],
  [{ s3: { region: 'eu' } }, 's3.region: got "eu" without s3.bucket', 'expected the bucket'],
  [{ proxy: { terminationGracePeriodSeconds: 5 } }, 'got 5, expected at least 25', 'drainSeconds'],
  [
    { serviceAccount: { create: false } },
    'serviceAccount.name: missing',
    'an existing service account',
  ],
  [
    { operator: { namespaces: ['a'], namespaceSelector: { matchLabels: { looptrace: 'on' } } } },
    'operator.namespaceSelector: got {"matchLabels":{"looptrace":"on"}} with operator.namespaces',
  ],
  [{ nats: { existingSecret: 'My_Secret' } }, 'nats.existingSecret: got "My_Secret"', 'expected'],
]

const clusterFaults: readonly Fault[] = [
  [{ nats: { servers: ['n:4222'] } }, 'nats.servers[0]: got "n:4222"', 'nats://'],
  [
    {
      acknowledge: { embeddedDataStays: true },
      embedded: { persistence: { whenDeleted: 'Delete' } },
    },
    'embedded.persistence.whenDeleted: got "Delete"',
    'expected Retain',
  ],
  [{ worker: { autoscaling: { enabled: true } } }, 'prometheusUrl: missing', 'KEDA'],
  [
    { api: { autoscaling: { enabled: true, minReplicas: 9, maxReplicas: 3 } } },
    'api.autoscaling.minReplicas: got 9',
    'expected at most maxReplicas, 3',
  ],
  [
    { postgres: { caSecret: 'ca' } },
    'postgres.caSecret: got "ca" with sslMode require',
    'expected sslMode verify-full',
  ],
  [{ api: { maxUnavailable: 0 } }, 'api.maxUnavailable: got 0', 'expected 1 or more'],
]

const nothingGiven: readonly Fault[] = [
  [{ mode: 'cluster' }, 'postgres.host: missing', 'which mode: cluster needs'],
  [{ mode: 'cluster' }, 'clickhouse.existingSecret: missing', 'expected the name of a Secret'],
  [{ mode: 'cluster' }, 'nats.servers: missing', 'nats://host:4222'],
]

test.each([
  ['the schema', {}, schemaFaults],
  ['embedded mode', {}, embeddedFaults],
  ['cluster mode', withoutServers(), clusterFaults],
  ['cluster mode without stores', {}, nothingGiven],
] as const)('%s: each wrong value is refused with a sentence', async (_what, base, faults) => {
  const values = faults.reduce<object>((sum, [one]) => merge(sum, one), base)
  const { status, stderr } = await helm(['template', 'looptrace', chart], values)
  expect(status).toBe(1)
  for (const [one, ...words] of faults) {
    for (const word of words) expect.soft(stderr, JSON.stringify(one)).toContain(word)
  }
})

test('the values of one fault each are refused alone too, and without them accepted', async () => {
  const [alone, none] = await Promise.all([
    helm(['template', 'looptrace', chart], { settings: { log_levle: 'debug' } }),
    helm(['template', 'looptrace', chart], { settings: { log_level: 'debug' } }),
  ])
  expect(alone.status).toBe(1)
  expect(alone.stderr.match(/^ {2}\S+: /gm)).toEqual(['  settings.log_levle: '])
  expect(none.status).toBe(0)
})

test('default rules are refused in a namespace that the operator does not watch', async () => {
  const { stderr } = await helm(['template', 'looptrace', chart], {
    ...{ defaultRules: { enabled: true }, operator: { namespaces: ['team-a'] } },
  })
  expect(stderr).toContain('operator.namespaces: got ["team-a"] with defaultRules.enabled')
})

test('a namespace selector that the operator could not use is refused', async () => {
  const key = 'a'
  const at = '/operator/namespaceSelector'
  const faults: readonly Fault[] = [
    [{ matchLabel: {} }, at, "'matchLabel' not allowed"],
    [{ matchLabels: { 'a b': 'c' } }, "invalid propertyName 'a b'"],
    [{ matchLabels: { a: 'b c' } }, `${at}/matchLabels/a`],
    [{ matchLabels: {} }, `${at}/matchLabels`],
    [{ matchExpressions: [{ key, operator: 'In' }] }, `${at}/matchExpressions/0`, 'values'],
    [
      { matchExpressions: [{ key, operator: 'Exists', values: ['b'] }] },
      `${at}/matchExpressions/0/values`,
    ],
  ]
  const render = (namespaceSelector: object) =>
    helm(['template', 'looptrace', chart], { operator: { namespaceSelector } })
  await Promise.all(
    faults.map(async ([selector, ...words]) => {
      const { stderr } = await render(selector)
      for (const word of words) expect.soft(stderr, JSON.stringify(selector)).toContain(word)
    }),
  )
  const expression = { key, operator: 'NotIn', values: ['b', ''] }
  const { stdout } = await render({ matchExpressions: [expression] })
  expect(stdout).toContain(JSON.stringify(JSON.stringify({ matchExpressions: [expression] })))
})

function withoutServers(): object {
  return { ...clusterValues, nats: {} }
}

/** Merges values; throws when both give a different value, because one fault would hide the other. */
function merge(to: object, from: object): object {
  const merged: Record<string, unknown> = { ...to }
  for (const [key, value] of Object.entries(from)) {
    const before = merged[key]
    if (isMap(before) && isMap(value)) merged[key] = merge(before, value)
    else if (before !== undefined && before !== value) throw new Error(`${key} is given twice`)
    else merged[key] = value
  }
  return merged
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
