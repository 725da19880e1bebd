import { crdOf, type Kind } from '../../../src/operator/index.ts'
import { eventually } from '../eventually.ts'
import type { ApiServer } from './api-server.ts'
import type { KubeObject, KubeReply } from './kube-request.ts'

const group = 'looptrace.dev'
const version = 'v1alpha1'
const wait_ms_max = 60_000

/** Creates the CRDs of the kinds, and waits until the server serves them. */
export async function installKinds(server: ApiServer, kinds: readonly Kind[]): Promise<void> {
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const install = async (kind: Kind) => {
    const path = `${crds}/${kind.plural}.${group}?fieldManager=test&force=true`
    await server.tell('PATCH', path, { body: crdOf(kind) })
    await areServed(server, kind.plural)
  }
  await Promise.all(kinds.map(install))
}

/**
 * Waits until the resources of a kind can be listed. The server creates their storage at the first
 * request; if that request is the removal of the CRD, the removal may be delayed for minutes (its
 * finalizer does not retry after a conflict).
 */
export async function areServed(server: ApiServer, plural: string): Promise<void> {
  await eventually(`${plural} are served`, async () => {
    const { status } = await server.ask('GET', `/apis/${group}/${version}/${plural}`)
    return status === 200
  })
}

/**
 * Resources of one kind in one namespace (empty: of a cluster-scoped kind), as a client of the API
 * server sees them.
 */
export type Resources = {
  path(name?: string): string
  /** Applies the spec (and annotations) server-side as a person; returns any answer. */
  apply(name: string, spec: object, metadata?: object): Promise<KubeReply>
  /** undefined if it does not exist. */
  read(name: string): Promise<KubeObject | undefined>
  remove(name: string, policy?: 'Foreground' | 'Background' | 'Orphan'): Promise<void>
  /** Waits until the predicate holds; the error shows the last state. */
  until(name: string, what: string, is: (resource: KubeObject) => boolean): Promise<KubeObject>
  /** Waits until Ready is True for the current spec. */
  ready(name: string): Promise<KubeObject>
  /** Waits until Ready is False for this reason. */
  notReady(name: string, reason: string): Promise<KubeObject>
  /** Waits until it does not exist. */
  gone(name: string): Promise<void>
}

export function resourcesOf(server: ApiServer, kind: Kind, namespace: string): Resources {
  const path = (name = '') =>
    `/apis/${group}/${version}${namespace && `/namespaces/${namespace}`}/${kind.plural}${name && `/${name}`}`
  const read = async (name: string) => {
    const { status, body, text } = await server.ask('GET', path(name))
    if (status === 404) return undefined
    if (status !== 200) throw new Error(`${path(name)}: ${status} ${text}`)
    return body
  }
  const until: Resources['until'] = async (name, what, is) => {
    let last: KubeObject
    const asked = async () => {
      last = await read(name)
      return last !== undefined && is(last) ? last : undefined
    }
    return eventually(`${namespace}/${name} ${what}`, asked, {
      ...{ timeout_ms: wait_ms_max, interval_ms: 50 },
    }).catch((cause: unknown) => {
      throw new Error(`${cause}; it is ${JSON.stringify(last, undefined, 1)}`, { cause })
    })
  }
  return {
    path,
    read,
    until,
    apply: (name, spec, metadata = {}) =>
      server.ask('PATCH', `${path(name)}?fieldManager=person&force=true`, {
        body: {
          ...{ apiVersion: `${group}/${version}`, kind: kind.kind },
          ...{ metadata: { ...metadata, name, namespace }, spec },
        },
      }),
    remove: async (name, policy = 'Background') => {
      await server.tell('DELETE', path(name), { body: { propagationPolicy: policy } })
    },
    ready: (name) =>
      until(name, 'is ready', (resource) => {
        const ready = readyOf(resource)
        return ready?.status === 'True' && ready.observedGeneration === resource.metadata.generation
      }),
    notReady: (name, reason) =>
      until(name, `is not ready: ${reason}`, (resource) => {
        const ready = readyOf(resource)
        return ready?.status === 'False' && ready.reason === reason
      }),
    gone: async (name) => {
      const absent = async () => (await read(name)) === undefined
      await eventually(`${namespace}/${name} is gone`, absent, {
        ...{ timeout_ms: wait_ms_max, interval_ms: 50 },
      })
    },
  }
}

/** Its condition Ready. */
export function readyOf(resource: KubeObject): KubeObject | undefined {
  return resource?.status?.conditions?.find((one: { type: string }) => one.type === 'Ready')
}

/** The events of a namespace; returns the reasons of those about one resource. */
export async function eventReasons(
  server: ApiServer,
  namespace: string,
  name: string,
): Promise<string[]> {
  const { items } = await server.tell(
    'GET',
    `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
  )
  return items
    .filter((event: KubeObject) => event.regarding?.name === name)
    .map((event: KubeObject) => event.reason)
}
