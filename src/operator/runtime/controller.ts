import { backOff } from '../../kernel/back-off.ts'
import type { KubeClient } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { Kind } from '../contract.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { GrantBook } from '../tenancy/grant-book.ts'
import type { CachedResource } from './cached-resource.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { Failure } from './failure.ts'
import { createGatedReflector, type GatedReflector, type NamespaceGate } from './namespace-gate.ts'
import type { ControllerMetrics, OperatorMetrics, ReconcileResult } from './operator-metrics.ts'
import type { OperatorSettings } from './operator-settings.ts'
import { createOrphanSweep, type OrphanSweep } from './orphan-sweep.ts'
import type { Presence } from './presence.ts'
import { createProjectAccess, type ProjectAccess } from './project-access.ts'
import { createDeps, type ReconcileContext } from './reconcile-deps.ts'
import { type Next, reconcileResource } from './reconcile-resource.ts'
import type { Reflector, ReflectorOptions, ReflectorSink } from './reflector.ts'
import { createResourceCache, type OnStored, type ResourceCache } from './resource-cache.ts'
import { resourceOf } from './resource-writer.ts'
import { serviceBackoff, type Timing } from './timing.ts'
import { createWorkQueue, processKeys, type WorkQueue } from './work-queue.ts'

/** The cache, queue and workers of one kind. */
export type Controller = {
  kind: Kind
  reflectors: readonly Reflector[]
  /** Queues a resource if it is in the cache. */
  enqueue(key: string): void
  /** Queues the resources that refer to a Secret; its key is `namespace/name`. */
  enqueueReaders(secret: { key: string }): void
  /** Queues the resources of some namespaces, if grants matter to the kind. */
  enqueueGranted(namespaces: readonly string[]): void
  /** Returns the number of resources that a grant allows, or allowed at the last reconcile. */
  countUses(grant: string): number
  /** Queues all resources, then runs the workers until the signal aborts. */
  work(signal: AbortSignal): Promise<void>
}

export type ControllerOptions = {
  kube: KubeClient
  service: ServiceClient
  timing: Timing
  logger: Logger
  settings: OperatorSettings
  events: EventRecorder
  metrics: OperatorMetrics
  book: GrantBook
  countNamespaces: ReconcileContext['countNamespaces']
  countUses: ReconcileContext['countUses']
  kinds: ReconcileContext['kinds']
  presence: Presence
  gate: NamespaceGate
  areLabelsKnown: () => boolean
}

/**
 * Creates a controller as controller-runtime does: reflectors fill the cache, relevant changes put
 * keys into the queue, and a bounded number of workers reconcile, one at a time per key.
 */
export function createController(kind: Kind, options: ControllerOptions): Controller {
  const { timing, settings, logger } = options
  const metrics = options.metrics.controller(kind.kind.toLowerCase(), {
    workers: settings.workers,
    depth: () => queue.depth(),
    resources: () => {
      const not_ready = cache.notReady().length
      return { ready: cache.size() - not_ready, not_ready }
    },
    orphans: () => sweep?.waiting() ?? 0,
  })
  const queue = createWorkQueue(timing, metrics.queue)
  const onChange = (key: string) => {
    queue.add(key)
    // Others may have waited for the removal, for example of a project's older policy.
    if (cache.get(key) === undefined) for (const other of cache.notReady()) queue.add(other)
  }
  const onStored: OnStored = (key, before) => {
    const cached = cache.get(key)
    if (kind.toGrant !== undefined) noteGrant(kind, options.book, { key, cached, before })
    if (cached === undefined && before !== undefined) access?.forget(before)
    // The ceiling of keys is shared by the resources of a namespace.
    if (keysOf(kind, before) === keysOf(kind, cached)) return
    const namespace = (cached ?? before)?.meta.namespace ?? ''
    for (const other of cache.inNamespace(namespace)) queue.add(other.key)
  }
  const cache: ResourceCache = createResourceCache(kind, {
    onChange,
    onStored,
    class_name: settings.class_name,
  })
  const access = kind.project && createProjectAccess(kind, cache, options.book)
  const isWhole = settings.namespaces.length === 0 || kind.scope === 'Cluster'
  const namespaces = isWhole ? [undefined] : settings.namespaces
  const reflectors = namespaces.map((namespace) =>
    createKindReflector(
      { ...options, resource: resourceOf(kind), namespace },
      cache.sink(namespace),
      metrics,
    ),
  )
  options.gate.onChange((namespace) => {
    for (const { key } of cache.inNamespace(namespace)) queue.add(key)
  })
  /** Removes a resource from the cache if its namespace still does not match. */
  const evict = ({ key, meta: { namespace } }: CachedResource) => {
    if (options.gate.serves(namespace)) return
    for (const reflector of reflectors) reflector.leaveOut(namespace)
    cache.evict(key)
  }
  let sweep: OrphanSweep | undefined
  const work = async (signal: AbortSignal) => {
    const context: ReconcileContext = {
      ...options,
      kind,
      cache,
      access,
      signal,
      list_page_size: settings.list_page_size,
      proxy_url: settings.proxy_url,
      installation: options.presence.installation,
      onDrift: metrics.drifted,
    }
    sweep = access && createSweep(context, { ...options, access, onRevoked: metrics.orphanRevoked })
    for (const key of cache.keys()) queue.add(key)
    signal.addEventListener('abort', () => queue.close(), { once: true })
    if (signal.aborted) queue.close()
    const workers = processKeys(queue, settings.workers, async (key) => {
      await options.presence.whenAllowed(signal)
      await processKey({ key, queue, cache, context, metrics, logger, evict })
    })
    await Promise.all([workers, sweep?.run(signal)])
  }
  return {
    kind,
    reflectors,
    work,
    countUses: (grant) => countUses(cache, grant),
    enqueue: (key) => {
      if (cache.get(key) !== undefined) queue.add(key)
    },
    enqueueReaders: (secret) => {
      for (const key of readersOf(secret.key, kind, cache)) queue.add(key)
    },
    enqueueGranted: (namespaces) => {
      if (kind.project === undefined) return
      for (const { key } of namespaces.flatMap(cache.inNamespace)) queue.add(key)
    },
  }
}

function countUses(cache: ResourceCache, grant: string): number {
  const uses = (key: string) => cache.get(key)?.project.grant?.name === grant
  return cache.keys().filter(uses).length
}

/** Creates the sweep of a kind whose resources need a grant. */
function createSweep(
  context: ReconcileContext,
  options: ControllerOptions & { access: ProjectAccess; onRevoked: () => void },
): OrphanSweep {
  return createOrphanSweep({
    ...options,
    kind: context.kind,
    find: context.cache.get,
    installation: context.installation,
    whenAllowed: options.presence.whenAllowed,
    withdraw: async ({ project_id, owner }) => {
      const { kind, namespace, name, uid } = owner
      const gone = { kind, namespace, name, uid, generation: 0, created_at: '' }
      const meta = { ...gone, annotations: {}, external_id: undefined }
      const deps = createDeps(context, owner, project_id)
      await context.kind.project?.withdraw({ meta, status: {} }, deps)
    },
  })
}

/** Notes the grant of a ProjectGrant: in force, unreadable, or gone. */
function noteGrant(
  kind: Kind,
  book: GrantBook,
  stored: { key: string; cached: CachedResource | undefined; before: CachedResource | undefined },
): void {
  const { key, cached, before } = stored
  const isThere = cached !== undefined && !cached.deleting
  const name = (cached ?? before)?.meta.name ?? ''
  book.setUnreadable(name, isThere && cached.resource === undefined)
  book.put(key, isThere && cached.resource ? kind.toGrant?.(cached.resource) : undefined)
}

/** Returns the number of keys that a resource declares. */
function keysOf(kind: Kind, cached: CachedResource | undefined): number {
  return (cached?.resource && kind.project?.needs?.(cached.resource.spec).keys) ?? 0
}

/** Returns the keys of the resources that refer to a Secret of their namespace. */
function readersOf(secret_key: string, { reads_secrets }: Kind, cache: ResourceCache): string[] {
  const [namespace = '', name] = secret_key.split('/')
  const refers = ({ resource }: CachedResource) =>
    resource !== undefined && reads_secrets?.nameIn(resource.spec) === name
  return cache
    .inNamespace(namespace)
    .filter(refers)
    .map(({ key }) => key)
}

function createKindReflector(
  options: ControllerOptions & Pick<ReflectorOptions, 'resource' | 'namespace'>,
  sink: ReflectorSink,
  metrics: ControllerMetrics,
): GatedReflector {
  const { plural } = options.resource
  return createGatedReflector(options.gate, {
    ...options,
    sink,
    onList: (why) => metrics.listed(plural, why),
  })
}

type KeyWork = {
  key: string
  queue: WorkQueue
  cache: ResourceCache
  context: ReconcileContext
  metrics: ControllerMetrics
  logger: Logger
  /** Called for a resource that is not served, after its status says so. */
  evict: (cached: CachedResource) => void
}

/** Reconciles one key and schedules its next reconcile. */
async function processKey(work: KeyWork): Promise<void> {
  const { key, queue, cache, context, metrics, logger } = work
  const { clock } = context.timing
  const cached = cache.get(key)
  if (cached === undefined) {
    queue.drop(key)
    return queue.done(key)
  }
  const began_ms = clock.now_ms()
  const isServed = context.gate.serves(cached.meta.namespace)
  const next = await reconcileResource(context, cached)
  if (!isServed && next.type !== 'failed') work.evict(cached)
  const result = schedule(queue, key, next, context.timing)
  metrics.reconciled(result, clock.now_ms() - began_ms)
  if (next.type === 'failed') logFailure(logger, `${context.kind.kind} ${key}`, next)
  queue.done(key)
}

/** Schedules the next reconcile of a key. All of resync and back-off is decided here. */
function schedule(queue: WorkQueue, key: string, next: Next, timing: Timing): ReconcileResult {
  if (next.type !== 'failed') {
    queue.drop(key)
    if (next.type === 'again') queue.addAfter(key, next.after_ms)
    return 'success'
  }
  const { failure, resync_ms } = next
  if (failure.retry === 'wait') {
    queue.forget(key)
    queue.addAfter(key, Math.min(failure.after_ms ?? resync_ms, resync_ms))
    return 'requeue_after'
  }
  const failures = queue.fail(key)
  if (failure.retry === 'service') {
    const own_ms = backOff(serviceBackoff, failures, timing.random)
    queue.addAfter(key, Math.max(failure.after_ms ?? 0, own_ms))
    return 'error'
  }
  queue.addRateLimited(key, failure.after_ms ?? 0)
  return 'error'
}

/** Logs defects with their stack, and other failures once with a sentence. */
function logFailure(logger: Logger, resource: string, next: Next & { type: 'failed' }): void {
  const { failure, error, is_new } = next
  const fields = { resource, reason: failure.reason, message: failure.message }
  if (failure.reason === 'InternalError') {
    logger.error({ ...fields, err: error }, 'reconcile failed')
  } else if (!is_new || quiet.has(failure.retry)) {
    logger.debug(fields, 'reconcile will be retried')
  } else {
    logger.warn({ ...fields, ...statusFailure(error) }, 'reconcile failed')
  }
}

const quiet: ReadonlySet<Failure['retry']> = new Set(['wait', 'now'])

function statusFailure(error: unknown): object {
  return error instanceof AggregateError ? { detail: error.message } : {}
}
