import { backOff } from '../../kernel/back-off.ts'
import {
  type KubeClient,
  KubeExpired,
  type KubeObject,
  type KubeResource,
  KubeUnavailable,
  type WatchEvent,
} from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { OperatorSettings } from './operator-settings.ts'
import { type Timing, watchBackoff } from './timing.ts'

/** A mirror of the objects of one resource type. */
export type Reflector = {
  /** Returns null once the whole list has been read, else the reason why it has not. */
  unsynced(): string | null
  /** Lists and watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Lists again soon, at most once per second; `why` is for metrics. */
  relist(why: string): void
}

/** Minimum time between two lists that `relist` requests. */
const minRequestedListMs = 1_000

/** After this many failed watches in a row the version is suspect, so the reflector lists again. */
const maxWatchFailures = 3
/** Bounds a list: 1,000 pages of 500 are half a million objects, beyond one operator's scale. */
const pages_max = 1_000

/**
 * Creates a reflector by the rules of client-go (`tools/cache`): it lists by pages, watches from
 * the list's version with bookmarks, resumes from the last version when the connection breaks,
 * lists again when the version is gone (410), and backs off after failures. In addition it lists on
 * a timer, ends silent watches and obeys Retry-After.
 */
export function createReflector(options: ReflectorOptions): Reflector {
  const { timing, settings, logger } = options
  const named = { resource: options.resource.plural, namespace: options.namespace }
  let unsynced: string | null = 'not listed yet'
  let why = 'start'
  let position: Position | undefined
  let failures = 0
  let requested: string | undefined
  let watch = new AbortController()

  /** Waits until a requested list is due, and forgets the position. */
  const obeyRequest = async (signal: AbortSignal): Promise<void> => {
    if (requested === undefined || position === undefined) return
    const due_ms = position.listed_ms + minRequestedListMs
    await timing.sleep(Math.max(0, due_ms - timing.clock.now_ms()), signal)
    why = requested
    position = undefined
  }
  const step = async (signal: AbortSignal): Promise<void> => {
    const now_ms = timing.clock.now_ms()
    if (position !== undefined && now_ms - position.listed_ms >= settings.relist_ms) {
      why = 'timer'
      position = undefined
    }
    await obeyRequest(signal)
    if (position === undefined) {
      requested = undefined
      options.onList?.(why)
      position = { version: await listAll(options, signal), listed_ms: timing.clock.now_ms() }
      if (unsynced !== null) logger.info(named, 'cache synced')
      unsynced = null
    }
    watch = new AbortController()
    // Requested while the list was read.
    if (requested !== undefined) return
    await watchOnce(options, position, AbortSignal.any([signal, watch.signal]), () => {
      failures = 0
    })
  }
  const recordFailure = (error: unknown): number => {
    failures += 1
    if (error instanceof KubeExpired || failures % maxWatchFailures === 0) {
      why = error instanceof KubeExpired ? 'expired' : 'failures'
      position = undefined
    }
    const message = error instanceof Error ? error.message : String(error)
    if (unsynced !== null) unsynced = message
    const retryAfterMs = error instanceof KubeUnavailable ? (error.retry_after_ms ?? 0) : 0
    const wait_ms = Math.max(retryAfterMs, backOff(watchBackoff, failures, timing.random))
    logger.warn({ ...named, failures, wait_ms, reason: message }, 'watch or list failed')
    return wait_ms
  }
  return {
    unsynced: () => unsynced,
    relist: (reason) => {
      requested = reason
      watch.abort()
    },
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await step(signal)
        } catch (error) {
          if (signal.aborted) return
          await timing.sleep(recordFailure(error), signal)
        }
      }
    },
  }
}

async function listAll(options: ReflectorOptions, signal: AbortSignal): Promise<string> {
  const { kube, resource, namespace, label_selector, metadata_only, sink } = options
  const page_size = options.settings.list_page_size
  const uids = new Set<string>()
  let next: string | undefined
  sink.listing()
  for (let page = 0; page < pages_max; page += 1) {
    const query = { namespace, label_selector, metadata_only, page_size, next, signal }
    const list = await kube.list(resource, query)
    for (const object of list.items) {
      uids.add(object.metadata.uid)
      sink.changed(object)
    }
    next = list.next
    if (next === undefined) {
      sink.listed(uids)
      return list.resource_version
    }
  }
  throw new TooManyPages(`${resource.plural}: a list of over ${pages_max} pages`)
}

class TooManyPages extends Error {
  override readonly name = 'TooManyPages'
}

/** A watch that ends sooner without an event counts as failed. */
const shortWatchMs = 1_000

/** A watch ended at once without an event: a fault of the server or of a proxy. */
class WatchTooShort extends Error {
  override readonly name = 'WatchTooShort'
}

/**
 * Watches once from the position, which moves with every event and bookmark. Returns when the
 * server ends the watch, it is silent for `watch_idle_ms`, or the next list is due; rejects when
 * the watch fails. Only silence reveals a dead connection, and servers send a bookmark per minute.
 */
async function watchOnce(
  options: ReflectorOptions,
  position: Position,
  signal: AbortSignal,
  onAlive: () => void,
): Promise<void> {
  const { kube, resource, namespace, label_selector, metadata_only, timing, settings } = options
  const { clock, random } = timing
  const over = new AbortController()
  const end = () => over.abort()
  signal.addEventListener('abort', end, { once: true })
  const began_ms = clock.now_ms()
  let lastEventMs = began_ms
  let hasEvents = false
  const events = kube.watch(resource, {
    namespace,
    label_selector,
    metadata_only,
    resource_version: position.version,
    timeout_ms: settings.watch_timeout_ms * (1 + random()),
    signal: over.signal,
  })
  const reading = (async () => {
    for await (const event of events) {
      if (over.signal.aborted) return
      lastEventMs = clock.now_ms()
      hasEvents = true
      onAlive()
      applyEvent(options, position, event)
    }
  })()
  // After the watch was ended, the result of reading it does not matter.
  reading.catch(() => undefined)
  const watchdog = async () => {
    while (!over.signal.aborted) {
      const end_ms = Math.min(
        lastEventMs + settings.watch_idle_ms,
        position.listed_ms + settings.relist_ms,
      )
      if (clock.now_ms() >= end_ms) return
      await timing.sleep(end_ms - clock.now_ms(), over.signal)
    }
  }
  try {
    await Promise.race([reading, watchdog()])
    if (signal.aborted) return
    if (!hasEvents && clock.now_ms() - began_ms < shortWatchMs) {
      throw new WatchTooShort('the watch ended at once without an event')
    }
  } finally {
    over.abort()
    signal.removeEventListener('abort', end)
  }
}

function applyEvent({ sink }: ReflectorOptions, position: Position, event: WatchEvent): void {
  if (event.type === 'bookmark') {
    position.version = event.resource_version
    return
  }
  position.version = event.object.metadata.resourceVersion
  if (event.type === 'changed') sink.changed(event.object)
  else sink.deleted(event.object)
}

/** The receiver of a reflector's lists and changes. */
export type ReflectorSink = {
  /** A list begins; its objects follow as `changed`. */
  listing(): void
  changed(object: KubeObject): void
  deleted(object: KubeObject): void
  /** A list ended: only objects with these uids exist. */
  listed(uids: ReadonlySet<string>): void
}

export type ReflectorOptions = {
  kube: KubeClient
  resource: KubeResource
  /** All namespaces when undefined. */
  namespace: string | undefined
  label_selector?: string
  metadata_only?: boolean
  sink: ReflectorSink
  timing: Timing
  settings: Pick<
    OperatorSettings,
    'list_page_size' | 'relist_ms' | 'watch_idle_ms' | 'watch_timeout_ms'
  >
  logger: Logger
  /** For metrics: `start`, `timer`, `expired`, `failures`, `namespace`. */
  onList?: (why: string) => void
}

/** The version from which a watch resumes, and the time of the last list. */
type Position = { version: string; listed_ms: number }
