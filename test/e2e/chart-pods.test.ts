import { expect, test } from 'vitest'
import { routeCatalogue } from '../../src/roles/catalogues.ts'
import { clusterValues, extendedValues, fullValues } from '../support/chart/chart-values.ts'
import { containersOf, podIn, renderedObjects } from '../support/chart/render.ts'
import type { KubeObject } from '../support/kube/kube-request.ts'

/** Settings of a platform team for pods, network policies and routes, in renders of the chart. */
const roles = ['api', 'operator', 'proxy', 'worker']

test('OpenShift gets no user and no groups, by one value or by null, and all else stays', async () => {
  const none = { runAsUser: null, runAsGroup: null, fsGroup: null }
  const sets = [
    { openshift: true },
    { pod: { securityContext: none } },
    { ...clusterValues, openshift: true, proxy: { pod: { securityContext: { fsGroup: 7 } } } },
  ]
  for (const values of sets) {
    const pods = (await renderedObjects(values)).flatMap((object) => podIn(object) ?? [])
    expect(pods.length).toBeGreaterThan(1)
    for (const { spec } of pods) {
      expect(spec.securityContext).toEqual({
        runAsNonRoot: true,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      })
      for (const container of containersOf({ spec })) {
        expect(Object.keys(container.securityContext).toSorted()).toEqual([
          ...['allowPrivilegeEscalation', 'capabilities', 'readOnlyRootFilesystem'],
        ])
      }
    }
  }
})

test('a role’s null removes a value of all pods, and its other values are merged over them', async () => {
  const proxy = {
    pod: {
      securityContext: { runAsUser: 1_000_650_000, runAsGroup: null },
      containerSecurityContext: { readOnlyRootFilesystem: false },
    },
  }
  const deployments = deploymentsIn(await renderedObjects({ ...clusterValues, proxy }))
  const { spec } = deployments['proxy'].spec.template
  expect(spec.securityContext).toMatchObject({ runAsUser: 1_000_650_000, fsGroup: 10_001 })
  expect(spec.securityContext).not.toHaveProperty('runAsGroup')
  expect(spec.containers[0].securityContext.readOnlyRootFilesystem).toBe(false)
  const api = deployments['api'].spec.template.spec
  expect(api.securityContext.runAsGroup).toBe(10_001)
  expect(api.containers[0].securityContext.readOnlyRootFilesystem).toBe(true)
})

test('pods, containers and Deployments have the fields of the values', async () => {
  const deployments = deploymentsIn(await renderedObjects(fullValues))
  expect(Object.keys(deployments)).toEqual(roles)
  const { hostAliases, dnsPolicy, dnsConfig, lifecycle, envFrom } = fullValues.pod
  for (const role of roles) {
    const { metadata, spec } = deployments[role]
    expect(metadata.labels).toMatchObject({ tier: 'llm', 'app.kubernetes.io/component': role })
    expect(metadata.annotations).toEqual(fullValues.pod.workloadAnnotations)
    expect(spec.strategy).toMatchObject({ rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } })
    const pod = spec.template.spec
    expect(pod).toMatchObject({ hostAliases, dnsPolicy, dnsConfig })
    expect(names(pod.containers)).toEqual([role, 'log-shipper'])
    const own = ['api', 'worker'].includes(role) ? ['migrate'] : []
    expect(names(pod.initContainers)).toEqual(['sql-proxy', ...own])
    expect(pod.containers[0]).toMatchObject({ lifecycle, envFrom })
    for (const init of pod.initContainers.slice(1)) {
      expect(init.envFrom).toEqual(envFrom)
      expect(init).not.toHaveProperty('lifecycle')
    }
  }
  expect(deployments['api'].spec.revisionHistoryLimit).toBe(3)
  expect(deployments['proxy'].spec.revisionHistoryLimit).toBe(1)
  expect(deployments['proxy'].spec.template.spec).not.toHaveProperty('topologySpreadConstraints')
})

test('thresholds of probes are merged over the chart’s, for all pods and for a role', async () => {
  const deployments = deploymentsIn(await renderedObjects(fullValues))
  const [proxy, api] = ['proxy', 'api'].map(
    (role) => deployments[role].spec.template.spec.containers[0],
  )
  const httpGet = { path: '/readyz', port: 'management' }
  expect(api.readinessProbe).toEqual({
    ...{ httpGet, periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 2 },
  })
  expect(proxy.readinessProbe).toEqual({ ...api.readinessProbe, failureThreshold: 4 })
  expect(api.startupProbe).toMatchObject({ failureThreshold: 300, periodSeconds: 5 })
  expect(api.livenessProbe).toMatchObject({ failureThreshold: 6, httpGet: { path: '/livez' } })
})

test('the embedded pod has them too, and its test pod none that would keep it from ending', async () => {
  const { pod } = fullValues
  const updateStrategy = { type: 'OnDelete' }
  const objects = await renderedObjects({ pod: { ...pod, updateStrategy } })
  const { spec } = objects.find(({ kind }) => kind === 'StatefulSet')
  expect(spec).toMatchObject({ updateStrategy, revisionHistoryLimit: 3 })
  const inside = spec.template.spec
  expect(names(inside.initContainers)).toEqual(['sql-proxy', 'secret'])
  expect(names(inside.containers)).toEqual(['looptrace', 'operator', 'log-shipper'])
  expect(inside.containers[0].lifecycle).toEqual(pod.lifecycle)
  expect(inside.containers[1]).not.toHaveProperty('lifecycle')
  const test = objects.find(({ kind }) => kind === 'Pod')
  expect(names(test.spec.containers)).toEqual(['smoke-test'])
  expect(test.spec).not.toHaveProperty('initContainers')
})

test('Ingress and HTTPRoute send the data plane to the proxy, and the API and pages to the API', async () => {
  const objects = await renderedObjects(extendedValues)
  const [ingress, route] = ['Ingress', 'HTTPRoute'].map((wanted) =>
    objects.find(({ kind }) => kind === wanted),
  )
  const ofIngress = ingress.spec.rules[0].http.paths.map(({ path, backend }: KubeObject) => ({
    ...{ path, service: backend.service.name },
  }))
  const ofRoute = route.spec.rules.map(({ matches, backendRefs }: KubeObject) => ({
    ...{ path: matches?.[0].path.value ?? '/', service: backendRefs[0].name },
  }))
  const urls = routeCatalogue().map(({ url }) => url)
  expect(urls).toContain('/invitation')
  for (const rules of [ofIngress, ofRoute] as { path: string; service: string }[][]) {
    const byLength = rules.toSorted((a, b) => b.path.length - a.path.length)
    for (const url of urls) {
      const rule = byLength.find(({ path }) => url.startsWith(path))
      const isApi = rule?.service.endsWith('-api')
      expect([url, isApi]).toEqual([url, !url.startsWith('/v1/')])
    }
  }
})

test('only the release’s namespace may call, and none may read metrics, unless a value names them', async () => {
  const calls = [{ port: 'http' }, { port: 'otlp-grpc' }]
  const [all] = policiesIn(await renderedObjects({}))
  expect(all.spec.ingress).toEqual([{ from: [{ podSelector: {} }], ports: calls }])

  const { ingressFrom, metricsFrom } = fullValues.networkPolicy
  const policies = policiesIn(await renderedObjects(fullValues))
  for (const { metadata, spec } of policies) {
    const role = metadata.labels['app.kubernetes.io/component']
    const ports = role === 'api' ? calls.slice(0, 1) : calls
    const from = [{ podSelector: {} }, ...ingressFrom]
    const served = ['api', 'proxy'].includes(role) ? [{ from, ports }] : []
    expect(spec.ingress).toEqual([...served, { from: metricsFrom, ports: [{ port: 9464 }] }])
  }

  const [open] = policiesIn(await renderedObjects({ networkPolicy: { allowAll: true } }))
  const management = [{ port: 9464 }, { port: 9465 }]
  expect(open.spec.ingress).toEqual([{ ports: calls }, { ports: management }])
})

test('egress goes to the named addresses only, at the ports of a rule or of the role', async () => {
  const dnsServers = [{ namespaceSelector: { matchLabels: { name: 'kube-system' } } }]
  const stores = { namespaceSelector: {}, podSelector: { matchLabels: { app: 'postgres' } } }
  const networkPolicy = {
    dnsServers,
    egress: [
      { cidr: '10.0.0.0/8', except: ['10.9.0.0/16'] },
      { ...stores, ports: [5432] },
      { cidr: '203.0.113.7/32', ports: [443], roles: ['proxy'] },
    ],
  }
  const policies = policiesIn(await renderedObjects({ ...clusterValues, networkPolicy }))
  expect(policies.map(({ metadata }) => metadata.name)).toEqual(
    roles.map((role) => `looptrace-${role}`),
  )
  for (const { metadata, spec } of policies) {
    const role = metadata.labels['app.kubernetes.io/component']
    const [dns, ...rules] = spec.egress
    expect(dns.to).toEqual(dnsServers)
    for (const { to } of rules) expect(to).toHaveLength(1)
    const named = rules.filter(({ to }: KubeObject) => !toOwnPods(to))
    const own = role === 'proxy' ? [443, 5432, 4222] : expect.arrayContaining([6443])
    expect(named.map(({ to, ports }: KubeObject) => [to[0], portsOf(ports)])).toEqual([
      [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.9.0.0/16'] } }, own],
      [stores, [5432]],
      ...(role === 'proxy' ? [[{ ipBlock: { cidr: '203.0.113.7/32' } }, [443]]] : []),
    ])
  }
})

test('a GRPCRoute sends traces and logs to the OTLP port, beside the HTTPRoute', async () => {
  const objects = await renderedObjects(extendedValues)
  const { spec } = objects.find(({ kind }) => kind === 'GRPCRoute')
  expect(spec).toMatchObject({
    parentRefs: [{ name: 'gateway', sectionName: 'grpc' }],
    hostnames: ['otlp.example.com'],
  })
  const [{ matches, backendRefs }] = spec.rules
  expect(matches.map(({ method }: KubeObject) => method.service)).toEqual([
    'opentelemetry.proto.collector.trace.v1.TraceService',
    'opentelemetry.proto.collector.logs.v1.LogsService',
  ])
  const service = objects.find(
    ({ kind, metadata }) => kind === 'Service' && metadata.name === 'looptrace',
  )
  const [{ name, port }] = backendRefs
  expect(name).toBe('looptrace')
  expect(service.spec.ports.find((one: KubeObject) => one.port === port).targetPort).toBe(
    'otlp-grpc',
  )
  expect(objects.filter(({ kind }) => kind === 'HTTPRoute')).toHaveLength(1)
})

function deploymentsIn(objects: readonly KubeObject[]): Record<string, KubeObject> {
  const found = objects.filter(({ kind }) => kind === 'Deployment')
  return Object.fromEntries(
    found.map((one) => [one.metadata.labels['app.kubernetes.io/component'], one]),
  )
}

function policiesIn(objects: readonly KubeObject[]): KubeObject[] {
  return objects.filter(({ kind }) => kind === 'NetworkPolicy')
}

function names(containers: readonly KubeObject[]): string[] {
  return containers.map(({ name }) => name)
}

function toOwnPods([{ podSelector }]: KubeObject): boolean {
  return podSelector?.matchLabels?.['app.kubernetes.io/instance'] !== undefined
}

function portsOf(ports: readonly KubeObject[]): number[] {
  return ports.map(({ port }) => port)
}
