import { spawn } from 'node:child_process'
import type { Kind } from '../../../src/operator/index.ts'
import { eventually } from '../eventually.ts'
import { type ApiServer, knownUsers, startApiServer } from './api-server.ts'
import type { KubeObject } from './kube-request.ts'
import { grant, operatorRules } from './operator-rules.ts'
import { installKinds } from './resources.ts'
import { atEndOfProcess } from './worker-end.ts'

let ofWorker: Promise<ApiServer> | undefined

/**
 * Returns the API server of this worker, which its test files use one after the other, with these
 * kinds, and with an operator's permissions for exactly them. Each test uses namespaces of its own. Its
 * disposal deletes what operators of a later file would see; the server ends with the worker. A test
 * may stop, pause or compact it, if it runs again at the end.
 */
export async function sharedApiServer(kinds: readonly Kind[] = []): Promise<ApiServer> {
  const server = await runningServer()
  await installKinds(server, kinds)
  if (kinds.length > 0) await grant(server, operatorRules(kinds.map(({ plural }) => plural)))
  // A copy by spread would fix the process id of the moment.
  return Object.create(server, {
    [Symbol.asyncDispose]: { value: () => removeObjects(server) },
  })
}

/** A test that failed may have left the server stopped; then it starts another one. */
async function runningServer(): Promise<ApiServer> {
  const before = await ofWorker?.catch(() => undefined)
  if (before !== undefined && (await isReady(before))) return before
  ofWorker = startApiServer({ users: knownUsers })
  const server = await ofWorker
  // vitest gives a worker half a second, and the folder can take longer.
  const remove = () => spawn('rm', ['-rf', server.directory], { detached: true, stdio: 'ignore' })
  atEndOfProcess(() => remove().unref())
  return server
}

async function isReady(server: ApiServer): Promise<boolean> {
  return server.ask('GET', '/readyz').then(
    ({ status }) => status === 200,
    () => false,
  )
}

/** Deletes all resources of the product's group, and what operators keep beside them. */
async function removeObjects(server: ApiServer): Promise<void> {
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const { items } = await server.tell('GET', crds)
  const plurals = items.map(({ spec }: KubeObject) => spec.names.plural)
  const places = [
    ...plurals.map((plural: string) => `looptrace.dev/v1alpha1 ${plural}`),
    ...['v1 secrets', 'coordination.k8s.io/v1 leases'],
  ]
  await Promise.all(places.map((place) => removeAll(server, place)))
}

const at_once_max = 8

async function removeAll(server: ApiServer, place: string): Promise<void> {
  const [version = '', plural] = place.split(' ')
  const root = version.includes('/') ? `/apis/${version}` : `/api/${version}`
  // A server that was just restarted opens the storage of a kind at the first request.
  const listed = await eventually(`${place} are listed`, async () => {
    const { status, body } = await server.ask('GET', `${root}/${plural}`)
    return status === 200 && body
  })
  const left = listed.items.values()
  const work = async () => {
    for (const { metadata } of left) await remove(server, { root, plural, metadata })
  }
  await Promise.all(Array.from({ length: at_once_max }, work))
}

async function remove(
  server: ApiServer,
  { root, plural, metadata }: { root: string; plural: string | undefined; metadata: KubeObject },
): Promise<void> {
  const { namespace, name, finalizers } = metadata
  const path = `${root}${namespace ? `/namespaces/${namespace}` : ''}/${plural}/${name}`
  const type = 'application/merge-patch+json'
  const free = { type, body: { metadata: { finalizers: null } } }
  const answers = [
    ...(finalizers ? [await server.ask('PATCH', path, free)] : []),
    await server.ask('DELETE', path),
  ]
  for (const { status, text } of answers) {
    if (status >= 300 && status !== 404) throw new Error(`${path}: ${status} ${text}`)
  }
}
