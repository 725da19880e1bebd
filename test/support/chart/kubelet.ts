import { sleep } from '../../../src/kernel/time.ts'
import type { KubeObject } from '../kube/kube-request.ts'
import {
  type ContainerProcess,
  type PodOptions,
  startContainer,
  whenReady,
} from './pod-processes.ts'

/** Replaces the StatefulSet controller and a node, in one namespace. */
export type Kubelet = {
  /** The long-running containers, by name. */
  running: ReadonlyMap<string, ContainerProcess>
  /** The output of all containers. */
  output(): string
  /** Stops the long-running containers; returns their exit statuses. */
  stopPods(): Promise<Record<string, number | null>>
  /** Restarts the pod on its volumes, as an upgrade of its template would. */
  startPods(): Promise<void>
  stop(): Promise<void>
}

const look_ms = 100

/**
 * Runs what is installed: the pod of a StatefulSet as processes, its init containers first, and
 * single pods to their end. Both get the corresponding status. An upgrade restarts nothing.
 */
export function startKubelet(options: PodOptions): Kubelet {
  const running = new Map<string, ContainerProcess>()
  const all: ContainerProcess[] = []
  const seen = new Set<string>()
  const stopped = new AbortController()
  let trouble = ''
  const start = async (pod: KubeObject, container: KubeObject) => {
    const started = await startContainer(pod, container, options)
    all.push(started)
    return started
  }
  const once = async (object: KubeObject, run: (object: KubeObject) => Promise<void>) => {
    if (seen.has(object.metadata.uid)) return
    seen.add(object.metadata.uid)
    await run(object).catch((error: unknown) => {
      trouble += `\n${error instanceof Error ? error.stack : error}`
    })
  }
  const loop = async () => {
    while (!stopped.signal.aborted) {
      for (const set of await items(options, 'apis/apps/v1', 'statefulsets')) {
        await once(set, async (found) => {
          await runSet(found.spec.template, start, running)
          await tellStatus(options, found, setStatus(found))
        })
      }
      for (const pod of await items(options, 'api/v1', 'pods')) {
        await once(pod, async (found) => {
          const ended = await (await start(found, found.spec.containers[0])).ended
          await tellStatus(options, found, podStatus(ended))
        })
      }
      await sleep(look_ms, stopped.signal)
    }
  }
  const done = loop()
  const startPods = async () => {
    for (const set of await items(options, 'apis/apps/v1', 'statefulsets')) {
      await runSet(set.spec.template, start, running)
    }
  }
  const stopPods = async () => {
    const names = [...running.keys()]
    const ended = await Promise.all([...running.values()].map((container) => container.stop()))
    running.clear()
    return Object.fromEntries(names.map((name, i) => [name, ended[i] ?? null]))
  }
  return {
    running,
    output: () => all.map(({ output }) => output()).join('\n') + trouble,
    stopPods,
    startPods,
    stop: async () => {
      stopped.abort()
      await done
      await stopPods()
    },
  }
}

async function runSet(
  pod: KubeObject,
  start: (pod: KubeObject, container: KubeObject) => Promise<ContainerProcess>,
  running: Map<string, ContainerProcess>,
): Promise<void> {
  for (const container of pod.spec.initContainers ?? []) {
    const started = await start(pod, container)
    const status = await started.ended
    if (status !== 0) throw new Error(`${started.name} ended with ${status}`)
  }
  for (const container of pod.spec.containers) {
    running.set(container.name, await start(pod, container))
  }
  await Promise.all([...running.values()].map(whenReady))
}

async function items(
  { server, namespace }: PodOptions,
  api: string,
  plural: string,
): Promise<KubeObject[]> {
  const { items } = await server.tell('GET', `/${api}/namespaces/${namespace}/${plural}`)
  return items.map((item: KubeObject) => ({
    ...item,
    path: `/${api}/namespaces/${namespace}/${plural}/${item.metadata.name}`,
  }))
}

async function tellStatus({ server }: PodOptions, { path }: KubeObject, status: object) {
  const type = 'application/merge-patch+json'
  await server.tell('PATCH', `${path}/status`, { body: { status }, type })
}

function setStatus({ metadata }: KubeObject): object {
  const revisions = { currentRevision: 'one', updateRevision: 'one' }
  const counts = { replicas: 1, readyReplicas: 1, currentReplicas: 1, updatedReplicas: 1 }
  return { ...revisions, ...counts, availableReplicas: 1, observedGeneration: metadata.generation }
}

function podStatus(ended: number | null): object {
  return { phase: ended === 0 ? 'Succeeded' : 'Failed' }
}
