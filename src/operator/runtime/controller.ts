import { backOff } from '../../kernel/back-off.ts'
import type { KubeClient } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { Kind } from '../contract.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { Failure } from './failure.ts'
import type { ControllerMetrics, OperatorMetrics, ReconcileResult } from './operator-metrics.ts'
import type { OperatorSettings } from './operator-settings.ts'
import { type Next, type ReconcileContext, reconcileResource } from './reconcile-resource.ts'
import { createReflector, type Reflector, type ReflectorSink } from './reflector.ts'
import { createResourceCache, type ResourceCache } from './resource-cache.ts'
import { resourceOf } from './resource-writer.ts'
import { serviceBackoff, type Timing } from './timing.ts'
import { createWorkQueue, type WorkQueue } from './work-queue.ts'

/** One kind: its cache, its queue, its workers. */
export type Controller = {
  kind: Kind
  reflectors: readonly Reflector[]
  /** Has a resource looked at, if there is one of that name. */
  enqueue(key: string): void
  /** Works on the queue until it is stopped; all resources are looked at once. */
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
}

/**
 * A controller by controller-runtime's frame: reflectors fill the cache, what is news there goes
 * into the queue by its key, a bounded number of workers reconcile, one at a time for a key.
 */
export function createController(kind: Kind, options: ControllerOptions): Controller {
  const { timing, settings, logger } = options
  const name = kind.kind.toLowerCase()
  const metrics = options.metrics.controller(name, {
    workers: settings.workers,
    depth: () => queue.depth(),
    resources: () => {
      const not_ready = cache.notReady().length
      return { ready: cache.size() - not_ready, not_ready }
    },
  })
  const queue = createWorkQueue(timing, metrics.queue)
  const cache: ResourceCache = createResourceCache(kind, (key) => {
    queue.add(key)
    // What went may be what others waited for, such as the older policy of a project.
    if (cache.get(key) === undefined) for (const other of cache.notReady()) queue.add(other)
  })
  const places = settings.namespaces.length === 0 ? [undefined] : settings.namespaces
  const reflectors = places.map((namespace) =>
    reflectorOf(
      { ...options, resource: resourceOf(kind), namespace },
      cache.sink(namespace),
      metrics,
    ),
  )
  const work = async (signal: AbortSignal) => {
    const context: ReconcileContext = {
      ...options,
      ...{ kind, cache, signal, list_page_size: settings.list_page_size },
      projects: settings.projects,
      onDrift: metrics.drifted,
    }
    for (const key of cache.keys()) queue.add(key)
    signal.addEventListener('abort', () => queue.close(), { once: true })
    if (signal.aborted) queue.close()
    const worker = async () => {
      for (;;) {
        const key = await queue.take()
        if (key === undefined) return
        await attend({ key, queue, cache, context, metrics, logger })
      }
    }
    await Promise.all(Array.from({ length: settings.workers }, worker))
  }
  return {
    ...{ kind, reflectors, work },
    enqueue: (key) => {
      if (cache.get(key) !== undefined) queue.add(key)
    },
  }
}

function reflectorOf(
  options: ControllerOptions &
    Pick<Parameters<typeof createReflector>[0], 'resource' | 'namespace'>,
  sink: ReflectorSink,
  metrics: ControllerMetrics,
): Reflector {
  const { plural } = options.resource
  return createReflector({ ...options, sink, onList: (why) => metrics.listed(plural, why) })
}

type Attendance = {
  key: string
  queue: WorkQueue
  cache: ResourceCache
  context: ReconcileContext
  metrics: ControllerMetrics
  logger: Logger
}

/** Reconciles one key and says when it comes again. */
async function attend({ key, queue, cache, context, metrics, logger }: Attendance): Promise<void> {
  const { clock } = context.timing
  const cached = cache.get(key)
  if (cached === undefined) {
    queue.drop(key)
    return queue.done(key)
  }
  const began_ms = clock.now_ms()
  const next = await reconcileResource(context, cached)
  const result = plan(queue, key, next, context.timing)
  metrics.reconciled(result, clock.now_ms() - began_ms)
  if (next.type === 'failed') tell(logger, `${context.kind.kind} ${key}`, next)
  queue.done(key)
}

/** When a key comes again: the one place that knows of resync and back-off. */
function plan(queue: WorkQueue, key: string, next: Next, timing: Timing): ReconcileResult {
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

/** Defects come with their stack, what others are at fault for with a sentence, once. */
function tell(logger: Logger, resource: string, next: Next & { type: 'failed' }): void {
  const { failure, error, is_news } = next
  const about = { resource, reason: failure.reason, message: failure.message }
  if (failure.reason === 'InternalError') {
    logger.error({ ...about, err: error }, 'a reconcile failed')
  } else if (!is_news || quiet.has(failure.retry)) {
    logger.debug(about, 'a reconcile is repeated')
  } else {
    logger.warn({ ...about, ...causeOf(error) }, 'a reconcile failed')
  }
}

const quiet: ReadonlySet<Failure['retry']> = new Set(['wait', 'now'])

function causeOf(error: unknown): object {
  return error instanceof AggregateError ? { detail: error.message } : {}
}
