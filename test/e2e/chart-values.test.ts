import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { incidentRuleSpec, kinds, projectGrantSpec } from '../../src/operator/index.ts'
import { loadConfig, type Role } from '../../src/platform/config/index.ts'
import { clusterValues, extendedValues, fullValues } from '../support/chart/chart-values.ts'
import { mountedSecrets } from '../support/chart/mounted-secrets.ts'
import {
  chart,
  containersOf,
  helm,
  objectsIn,
  podIn,
  rendered,
  renderedObjects,
  renderedOnce,
} from '../support/chart/render.ts'
import type { KubeObject } from '../support/kube/kube-request.ts'
import { quarterOf } from '../support/suite/budget.ts'

const sets = [
  ['no values', {}],
  ['embedded, less of it', { operator: { enabled: false }, tests: { enabled: false } }],
  ['a Secret of one’s own', { bootstrap: { existingSecret: 'mine' } }],
  ['cluster', clusterValues],
  ['cluster, everything', fullValues],
  ['cluster, with other operators', extendedValues],
  ['cluster, with a move of the data of embedded mode', { ...fullValues, move: { enabled: true } }],
] as const

test.each([
  [1, null, '1'],
  [2, null, '1'],
  [3, null, '3'],
  [5, null, '3'],
  [1, 3, '3'],
  [3, 1, '1'],
])(
  'with %s servers of NATS and replicas %s, messages have %s copies',
  async (count, replicas, copies) => {
    const servers = Array.from({ length: count }, (_, at) => `nats://nats-${at}:4222`)
    const nats = replicas === null ? { servers } : { servers, replicas }
    const text = await rendered({ ...clusterValues, nats })
    const found = text.matchAll(/LOOPTRACE_NATS_REPLICAS\s+value: "?(\d)"?/g)
    expect(new Set([...found].map(([, value]) => value))).toEqual(new Set([copies]))
  },
)

const nodeOptions = 'NODE_OPTIONS'

test.each([
  ['worker', 'that of the chart', [], '--max-semi-space-size=16'],
  ['worker', 'the user’s own', [{ name: nodeOptions, value: '--trace-gc' }], '--trace-gc'],
  ['api', 'that of the chart', [], '--max-semi-space-size=8'],
])('role %s has one value of NODE_OPTIONS: %s', async (role, _whose, extraEnv, value) => {
  const objects = await renderedObjects({ ...clusterValues, pod: { extraEnv } })
  const found = objects.find(({ kind, metadata }) => {
    return kind === 'Deployment' && metadata.name === `looptrace-${role}`
  })
  const [container] = podIn(found ?? {})?.spec.containers ?? []
  const set = container.env.filter(({ name }: { name: string }) => name === nodeOptions)
  expect(set).toEqual([{ name: nodeOptions, value }])
})

describe.each(quarterOf(sets))('%s', (_name, values) => {
  test('passes helm lint', async () => {
    const { status, stdout } = await helm(['lint', '--strict', chart], values)
    expect(stdout).toContain('0 chart(s) failed')
    expect(status).toBe(0)
  })

  test('renders to the same bytes twice', async () => {
    expect(await rendered(values)).toBe(await renderedOnce(values))
  })

  test('gives every process only settings that it accepts', async () => {
    const pods = await podsOf(values)
    const loaded = pods.flatMap((pod) =>
      containersOf(pod).map((container) => {
        // The move reads the settings of role `all`.
        const role = (container.args[0] === 'move' ? 'all' : container.args[0]) as Role
        return loadConfig(role, environmentOf(pod, container)) && role
      }),
    )
    expect(loaded.length).toBeGreaterThan(0)
  })

  test('has no Secret in an environment variable, only in files that the container reads', async () => {
    // CRDs have a field of this name.
    const objects = (await renderedObjects(values)).filter(
      ({ kind }) => kind !== 'CustomResourceDefinition',
    )
    expect(JSON.stringify(objects)).not.toMatch(/secretKeyRef|secretRef/)
    const pods = await podsOf(values)
    for (const pod of pods) for (const container of containersOf(pod)) expectFiles(pod, container)
  })

  test('blocks no pod by a Secret that the pod itself creates', async () => {
    for (const pod of await podsOf(values)) {
      const makes = containersOf(pod).find(({ env }) =>
        env.some(({ name }: KubeObject) => name === 'LOOPTRACE_BOOTSTRAP_SECRET'),
      )
      if (makes === undefined) continue
      for (const container of containersOf(pod)) {
        const secrets = [...mountedSecrets(pod, container).values()].map(({ secret }) => secret)
        expect(secrets).not.toContain('looptrace-bootstrap')
      }
    }
  })

  test('has nothing in its pods that a restricted namespace refuses, or that no pod needs', async () => {
    for (const pod of await podsOf(values)) {
      const { spec } = pod
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 10_001,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      })
      for (const { securityContext, volumeMounts, resources } of containersOf(pod)) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(volumeMounts).toContainEqual({ name: 'tmp', mountPath: '/tmp' })
        expect(resources.limits.memory).toMatch(/^\d+[MG]i$/)
      }
    }
  })

  test('gives processes enough time to end, and probes their liveness', async () => {
    for (const pod of await podsOf(values)) {
      if (pod.spec.restartPolicy === 'Never') continue
      for (const { env, ports, name, ...container } of containersOf({
        spec: { containers: pod.spec.containers },
      })) {
        const ms = (variable: string) =>
          Number(env.find((one: KubeObject) => one.name === variable).value)
        const ends_ms = ms('LOOPTRACE_DRAIN_DELAY_MS') + ms('LOOPTRACE_GRACE_PERIOD_MS')
        expect(ends_ms).toBeLessThanOrEqual((pod.spec.terminationGracePeriodSeconds - 5) * 1000)
        const probed = container.livenessProbe.httpGet.port
        const port = ports.find((one: KubeObject) => one.name === probed)
        expect(port.containerPort).toBe(ms('LOOPTRACE_MANAGEMENT_PORT'))
        const isBeside = name === 'operator' && pod.spec.containers[0].name === 'looptrace'
        expect('readinessProbe' in container).toBe(!isBeside)
      }
    }
  })

  test('mounts the token only where the Kubernetes API is called', async () => {
    for (const pod of await podsOf(values)) {
      const withToken = containersOf(pod)
        .filter(({ volumeMounts }) => volumeMounts.some((one: KubeObject) => one.name === 'token'))
        .map(({ name }) => name)
      for (const name of withToken) expect(['secret', 'migrate', 'operator']).toContain(name)
      const volumes = pod.spec.volumes.map((one: KubeObject) => one.name)
      expect(volumes.includes('token')).toBe(withToken.length > 0)
    }
  })

  test('mounts what it names, and names what it mounts', async () => {
    for (const pod of await podsOf(values)) {
      const claims = pod.claims ?? []
      const volumes = [...pod.spec.volumes, ...claims].map((one: KubeObject) => one.name)
      const mounts = containersOf(pod).flatMap(({ volumeMounts }) =>
        volumeMounts.map((one: KubeObject) => one.name),
      )
      expect(new Set(mounts)).toEqual(new Set(volumes))
    }
  })

  test('selects by labels that no upgrade changes', async () => {
    for (const { spec } of await renderedObjects(values)) {
      const selectors = [spec?.selector?.matchLabels, spec?.podSelector?.matchLabels]
      for (const claim of spec?.volumeClaimTemplates ?? []) selectors.push(claim.metadata.labels)
      for (const labels of selectors.filter((one) => one !== undefined)) {
        expect(Object.keys(labels)).not.toContain('app.kubernetes.io/version')
        expect(Object.keys(labels)).not.toContain('helm.sh/chart')
      }
    }
  })
})

test('network policies let each role call the addresses in the values, and no others', async () => {
  const objects = await renderedObjects(fullValues)
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy')
  const ports = policies.map(({ metadata, spec }) => {
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress'])
    const called = spec.egress.filter((rule: KubeObject) => rule.to === undefined)
    const all = called.flatMap((rule: KubeObject) => rule.ports.map((one: KubeObject) => one.port))
    return [
      metadata.labels['app.kubernetes.io/component'],
      all.toSorted((a: number, b: number) => a - b),
    ]
  })
  const dns = [53, 53]
  expect(Object.fromEntries(ports)).toEqual({
    api: [...dns, 443, 3128, 4222, 4223, 5432, 6443, 8443, 9000],
    operator: [...dns, 443, 3128, 6443],
    proxy: [...dns, 443, 3128, 4222, 4223, 5432, 8000],
    worker: [...dns, 443, 3128, 4222, 4223, 5432, 6443, 8443, 9000],
  })
})

test('the examples are YAML, and their values are valid', async () => {
  const folder = join(chart, '../../examples')
  const names = (await readdir(folder, { recursive: true })).filter((name) =>
    name.endsWith('.yaml'),
  )
  expect(names.length).toBeGreaterThan(5)
  expect(names).toContain('flux/kustomizations.yaml')
  for (const name of names) {
    const objects = objectsIn(await readFile(join(folder, name), 'utf8'))
    expect(objects, name).not.toEqual([])
    if (name === 'values-cluster.yaml')
      expect(await rendered(objects[0])).toContain('kind: Ingress')
  }
})

test('the examples call Services and ports of the chart', async () => {
  const folder = join(chart, '../../examples')
  const ports = new Map<string, number[]>()
  for (const { kind, metadata, spec } of await renderedObjects(clusterValues)) {
    if (kind !== 'Service') continue
    ports.set(
      metadata.name,
      spec.ports.map(({ port }: { port: number }) => port),
    )
  }
  const called = new Set<string>()
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.yaml')) continue
    const text = await readFile(join(folder, name), 'utf8')
    for (const [, service = '', port] of text.matchAll(/http:\/\/([a-z-]+)\.looptrace:(\d+)/g)) {
      called.add(service)
      expect(ports.get(service), `${name}: ${service}`).toContain(Number(port))
    }
  }
  expect([...called].toSorted()).toEqual(['looptrace', 'looptrace-api'])
})

test('alerts, dashboard and scaling use existing metrics', async () => {
  const text = await renderedOnce(extendedValues)
  const page = await readFile(join(chart, '../../docs/reference/metrics.md'), 'utf8')
  const known = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
  const asked = new Set(text.match(/\b(looptrace|controller_runtime|workqueue)_[a-z_]+/g))
  const metrics = [...asked].map((name) => name.replace(/_(bucket|count|sum)$/, ''))
  expect(metrics.length).toBeGreaterThan(10)
  for (const name of metrics) expect(known).toContain(name)
})

test('the README has a row for each value', async () => {
  const values = parse(await readFile(join(chart, 'values.yaml'), 'utf8'))
  const readme = await readFile(join(chart, 'README.md'), 'utf8')
  const rows = [...readme.matchAll(/^\| `([\w.]+)` \|/gm)].map(([, name]) => name ?? '')
  const leaves = leavesOf(values).filter((leaf) => !rows.some((row) => leaf.startsWith(`${row}.`)))
  expect(leaves.length).toBeGreaterThan(100)
  expect(rows.filter((row) => !leavesOf(values).some((leaf) => leaf.startsWith(row)))).toEqual([])
  expect(leaves.filter((leaf) => !rows.includes(leaf))).toEqual([])
})

/** Paths of all values that are not a map, or are an empty one. */
function leavesOf(values: object, above = ''): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = above === '' ? name : `${above}.${name}`
    const isMap = value !== null && typeof value === 'object' && !Array.isArray(value)
    return isMap && Object.keys(value).length > 0 ? leavesOf(value, path) : [path]
  })
}

test('no template generates random values or reads the cluster', async () => {
  const names = await readdir(join(chart, 'templates'), { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile())
  expect(files.length).toBeGreaterThan(10)
  for (const { parentPath, name } of files) {
    const text = await readFile(join(parentPath, name), 'utf8')
    expect(text, name).not.toMatch(/\b(rand[A-Z]\w+|lookup|now|uuidv4|gen[A-Z]\w+|bitnami)\b/)
  }
})

/** The pods of the render; a StatefulSet's pod includes its claims. */
async function podsOf(values: object): Promise<KubeObject[]> {
  const pods = (await renderedObjects(values)).flatMap((object) => {
    const pod = podIn(object)
    const claims = (object.spec?.volumeClaimTemplates ?? []).map((one: KubeObject) => one.metadata)
    return pod === undefined ? [] : [{ ...pod, claims }]
  })
  expect(pods.length).toBeGreaterThan(0)
  return pods
}

/** Helm's YAML reads 0440 as octal, and this parser reads its digits. */
const helmMode = 440

/** Expects that a container reads exactly the Secrets that it mounts, and may not write them. */
function expectFiles(pod: KubeObject, container: KubeObject): void {
  const mounted = mountedSecrets(pod, container)
  expect([...mounted.keys()].toSorted()).toEqual(secretPathsIn(container))
  for (const { secret, mode } of mounted.values()) {
    expect(mode).toBe(secret === undefined ? 0o400 : helmMode)
  }
  const creates = ['secret', 'migrate'].includes(container.name)
  expect(creates ? ['bootstrap', undefined] : [undefined]).toContain(writableSecrets(container))
}

/** Paths of Secrets in the environment of a container. */
function secretPathsIn({ env }: KubeObject): string[] {
  const values: string[] = env.map(({ value }: KubeObject) => value)
  return values.filter((value) => /^\/etc\/looptrace\/\w+\//.test(value)).toSorted()
}

/** The volume of Secrets that a container may write. */
function writableSecrets({ volumeMounts }: KubeObject): string | undefined {
  const mounts = volumeMounts.filter(({ mountPath }: KubeObject) =>
    mountPath.startsWith('/etc/looptrace/'),
  )
  return mounts.find(({ readOnly }: KubeObject) => readOnly !== true)?.name
}

/** Contents of the Secrets, by key. */
const secretValues: Record<string, string> = {
  'admin-email': 'admin@example.com',
  'project-id': '01a1ffe9-c99e-75e1-9743-9aaee7a7b7aa',
}

/** The environment of a container; its files of Secrets exist on this machine. */
function environmentOf(pod: KubeObject, container: KubeObject): Record<string, string> {
  const files = mountedSecrets(pod, container)
  for (const { key } of files.values()) {
    writeFileSync(join(secretFolder, key), `${secretValues[key] ?? 'x'.repeat(60)}\n`)
  }
  // A variable is the path of a file, or JSON that names some.
  const values = container.env.map(({ name, value }: KubeObject) => {
    const found = [...files.values()].toSorted((a, b) => b.path.length - a.path.length)
    const local = found.reduce(
      (text, { path, key }) => text.replaceAll(path, join(secretFolder, key)),
      String(value),
    )
    return [name, local]
  })
  return Object.fromEntries(values)
}

test('the models of verification reach API and worker alone, with keys in files', async () => {
  for (const values of [fullValues, { verification: fullValues.verification }]) {
    const roles = (await podsOf(values)).flatMap((pod) =>
      containersOf(pod).flatMap((container) => {
        const environment = environmentOf(pod, container)
        if (environment['LOOPTRACE_VERIFICATION_MODELS'] === undefined) return []
        const role = container.args[0] as 'worker'
        const config = loadConfig(role, environment)
        expect(config.verification_models).toMatchObject([
          { name: 'judge', cents_per_million_input: 1_000_000, api_key: 'x'.repeat(60) },
          { name: 'nli', use: ['judge'] },
        ])
        expect(config.verification_budget_cents_per_day).toBe(1_000_000)
        return [role as string]
      }),
    )
    expect(roles.toSorted()).toEqual('mode' in values ? ['api', 'worker'] : ['all'])
  }
})

const secretFolder = mkdtempSync(join(tmpdir(), 'looptrace-chart-secrets-'))
afterAll(() => rmSync(secretFolder, { recursive: true }))

test('a signing key of your own is a file of the worker alone', async () => {
  const certification = { existingSecret: 'release-signing', signingKey: 'ed25519.pem' }
  const readers = async (values: object) => {
    const pods = await podsOf(values)
    return pods.flatMap((pod) =>
      containersOf(pod)
        .filter(({ env }) =>
          env.some(({ name }: KubeObject) => name === 'LOOPTRACE_CERTIFICATION_KEY_FILE'),
        )
        .map((container) => {
          const files = [...mountedSecrets(pod, container).values()]
          expect(files).toContainEqual(
            expect.objectContaining({ secret: 'release-signing', key: 'ed25519.pem' }),
          )
          return container.args[0]
        }),
    )
  }
  expect(await readers({ ...fullValues, certification })).toEqual(['worker'])
  expect(await readers({ certification })).toEqual(['all'])
  expect(await readers({ certification: { existingSecret: '' } })).toEqual([])
})

test('the providers file and the keys of providers are files of the proxy alone', async () => {
  const own = {
    providersFile: { existingSecret: 'providers', key: 'all.yaml' },
    providerKeys: { 'vertex-openai': { secret: 'llm', key: 'vertex' } },
  }
  for (const [values, role] of [
    [{ ...fullValues, ...own }, 'proxy'],
    [own, 'all'],
  ] as const) {
    const readers = (await podsOf(values)).flatMap((pod) =>
      containersOf(pod).flatMap((container) => {
        const files = mountedSecrets(pod, container)
        const file = files.get('/etc/looptrace/secrets/providers')
        const key = files.get('/etc/looptrace/secrets/provider_key_vertex_openai')
        if (file === undefined && key === undefined) return []
        expect(file).toMatchObject({ secret: 'providers', key: 'all.yaml' })
        expect(key).toMatchObject({ secret: 'llm', key: 'vertex' })
        const environment = environmentOf(pod, container)
        const config = loadConfig(container.args[0] as 'proxy', environment)
        expect(config.providers_file).toContain('all.yaml')
        return [container.args[0]]
      }),
    )
    expect(readers).toEqual([role])
  }
})

test('streams of the audit trail, with their secrets, are settings of the worker alone', async () => {
  const audit = {
    checkpointSinks: ['s3://checkpoints/looptrace', 'stdout'],
    stream: {
      webhook: {
        ...{ url: 'https://siem.example.com/hook', existingSecret: 'siem' },
        headersKey: 'headers',
      },
      otlp: { url: 'https://collector:4318/v1/logs', existingSecret: 'collector' },
    },
  }
  const readers = async (values: object) => {
    const pods = await podsOf(values)
    return pods.flatMap((pod) =>
      containersOf(pod).flatMap((container) => {
        const environment = environmentOf(pod, container)
        if (environment['LOOPTRACE_AUDIT_STREAM_OTLP_URL'] === undefined) return []
        expect(environment).toMatchObject({
          LOOPTRACE_AUDIT_CHECKPOINT_SINKS: 's3://checkpoints/looptrace,stdout',
          LOOPTRACE_AUDIT_STREAM_WEBHOOK_URL: 'https://siem.example.com/hook',
        })
        const files = [...mountedSecrets(pod, container).values()]
        for (const file of [
          { secret: 'siem', key: 'signing-secret' },
          { secret: 'siem', key: 'headers' },
          { secret: 'collector', key: 'headers' },
        ]) {
          expect(files).toContainEqual(expect.objectContaining(file))
        }
        return [container.args[0]]
      }),
    )
  }
  expect(await readers({ ...fullValues, audit })).toEqual(['worker'])
  expect(await readers({ audit })).toEqual(['all'])
  expect(await readers({})).toEqual([])
  const unsigned = { stream: { webhook: { url: 'https://siem.example.com/hook' } } }
  await expect(podsOf({ audit: unsigned })).rejects.toThrow('existingSecret')
})

describe('the grants of the installation', () => {
  const grantsIn = async (operator: object) => {
    const texts = (await podsOf({ operator })).flatMap((pod) =>
      containersOf(pod).flatMap(
        (container) => environmentOf(pod, container)['LOOPTRACE_OPERATOR_GRANTS'] ?? [],
      ),
    )
    expect(texts).toHaveLength(1)
    return JSON.parse(texts[0] ?? '')
  }

  test('are the first project in the namespace of the release, by default', async () => {
    const [grant, ...others] = await grantsIn({})
    expect(others).toEqual([])
    expect(grant).toMatchObject({
      name: 'agents-looptrace-first-project',
      spec: {
        project: { organization: 'default', name: 'default' },
        namespaces: { names: ['agents'] },
        // Only a grant of the values lets a namespace create a project.
        kinds: kinds.flatMap(({ kind, project }) => (project && !project.toRef ? [kind] : [])),
      },
    })
    expect(await grantsIn({ grantFirstProject: false })).toEqual([])
  })

  test('follow operator.projects and operator.grants, and the operator accepts them', async () => {
    const id = '0199aaaa-0000-7000-8000-000000000000'
    const more = { namespaces: { names: ['b'] }, kinds: ['RetentionPolicy'], project: { id } }
    const grants = await grantsIn({
      grantFirstProject: false,
      projects: { 'team-a': ['checkout', 'acme/search'], '*': [id] },
      grants: [{ name: 'mine', ...more }],
    })
    expect(grants.map(({ spec }: { spec: object }) => spec)).toMatchObject([
      { project: { id }, namespaces: { selector: {} } },
      { project: { organization: 'default', name: 'checkout' }, namespaces: { names: ['team-a'] } },
      { project: { organization: 'acme', name: 'search' }, namespaces: { names: ['team-a'] } },
      more,
    ])
    expect(grants.at(-1).name).toBe('agents-looptrace-mine')
    for (const { spec } of grants) projectGrantSpec.parse(spec)
    const names = grants.map(({ name }: { name: string }) => name)
    expect(new Set(names).size).toBe(4)
  })

  test('of every project are refused', async () => {
    const values = { operator: { projects: { a: ['*'] } } }
    const { status, stderr } = await helm(['template', chart], values)
    expect([status, stderr]).toEqual([1, expect.stringContaining('operator/projects/a/0')])
  })
})

describe('the default rules', () => {
  const rulesIn = async (defaultRules: object) => {
    const pods = await podsOf({ defaultRules })
    const texts = pods.flatMap((pod) =>
      containersOf(pod).flatMap(
        (container) => environmentOf(pod, container)['LOOPTRACE_OPERATOR_DEFAULT_RULES'] ?? [],
      ),
    )
    return texts.map((text): { name: string; spec: object }[] => JSON.parse(text))
  }
  const folder = join(chart, '../../examples/incident-rules')

  test('are left out by default', async () => {
    expect(await rulesIn({})).toEqual([])
  })

  test('are the rules of the examples, with the project and the channels of the values', async () => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml'))
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
    const examples = texts.flatMap((text) => objectsIn(text))
    expect(examples.length).toBeGreaterThan(3)
    const [rules = []] = await rulesIn({ enabled: true, notify: ['pager'] })
    const expected = examples.map(({ metadata, spec: { escalation: _, ...spec } }) => ({
      name: metadata.name,
      spec: {
        ...spec,
        projectRef: { organization: 'default', name: 'default' },
        notify: ['pager'],
      },
    }))
    expect(rules.toSorted(byName)).toEqual(expected.toSorted(byName))
    for (const { spec } of rules) incidentRuleSpec.parse(spec)
  })

  test('can be left out one by one, and may notify no channel', async () => {
    const [all = []] = await rulesIn({ enabled: true })
    expect(JSON.stringify(all)).not.toContain('notify')
    const exclude = [all[0]?.name]
    const id = '0199aaaa-0000-7000-8000-000000000000'
    const projectRef = { id, organization: null, name: null }
    const [left = []] = await rulesIn({ enabled: true, exclude, projectRef })
    expect(left.map(({ name }) => name)).toEqual(all.slice(1).map(({ name }) => name))
    for (const { spec } of left) expect(spec).toMatchObject({ projectRef: { id } })
  })

  test('let the operator create and delete rules in the namespace of the release only', async () => {
    const objects = await renderedObjects()
    const roles = objects.filter(({ rules }) =>
      rules?.some(
        ({ resources, verbs }: KubeObject) =>
          resources.includes('incidentrules') && verbs.includes('create'),
      ),
    )
    expect(roles.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ['Role', 'agents'],
    ])
  })

  const byName = (one: { name: string }, other: { name: string }) =>
    one.name < other.name ? -1 : 1
})

test('receivers of notifications are reachable by workers and the API only, at the ports of the values', async () => {
  const values = {
    ...fullValues,
    networkPolicy: { ...fullValues.networkPolicy, receiverPorts: [9093] },
  }
  const policies = (await renderedObjects(values)).filter(({ kind }) => kind === 'NetworkPolicy')
  const allowed = policies.filter(({ spec }) =>
    spec.egress.some(({ ports }: KubeObject) =>
      ports.some(({ port }: KubeObject) => port === 9093),
    ),
  )
  expect(allowed.map(({ metadata }) => metadata.labels['app.kubernetes.io/component'])).toEqual([
    'api',
    'worker',
  ])
})

test('nobody gets rights on grants by aggregation', async () => {
  const objects = await renderedObjects({ rbac: { aggregate: true } })
  const aggregated = objects.filter(({ metadata }) =>
    Object.keys(metadata.labels ?? {}).some((label) => label.includes('/aggregate-to-')),
  )
  expect(aggregated).toHaveLength(2)
  expect(JSON.stringify(aggregated)).toContain('retentionpolicies')
  expect(JSON.stringify(aggregated)).not.toContain('projectgrants')
  const byDefault = await renderedObjects()
  expect(JSON.stringify(byDefault)).not.toContain('/aggregate-to-')
})
