import { backOff } from '../kernel/back-off.ts'
import { KubeExpired, KubeUnavailable } from '../platform/kube/index.ts'
import { watchBackoff } from './backoff.ts'
import type { Position, ReflectorOptions } from './reflector-options.ts'
import { watchOnce } from './watch-once.ts'

export type Reflector = {
  /** Null once the whole list was read, else why it was not. */
  unsynced(): string | null
  /** Lists and watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** So many watches in a row that break off at once make the version suspect: list anew. */
const watchFailures_max = 3
/** 1,000 pages of 500 are half a million objects: far beyond what one operator is for. */
const pages_max = 1_000

/**
 * Mirrors the objects of a resource, by the rules of client-go's reflector (`tools/cache`): list by
 * pages, watch from the list's version with bookmarks, watch again from the last version when the
 * connection breaks, list again when the version is gone (410), wait longer after each failure. On
 * top of that it lists again on a timer, ends a watch that went silent, and obeys Retry-After.
 */
export function createReflector(options: ReflectorOptions): Reflector {
  const { timing, settings, logger } = options
  const named = { resource: options.resource.plural, namespace: options.namespace }
  let unsynced: string | null = 'not listed yet'
  let why = 'start'
  let position: Position | undefined
  let failures = 0

  const step = async (signal: AbortSignal): Promise<void> => {
    const now_ms = timing.clock.now_ms()
    if (position !== undefined && now_ms - position.listed_ms >= settings.relist_ms) {
      why = 'timer'
      position = undefined
    }
    if (position === undefined) {
      options.onList?.(why)
      position = { version: await listAll(options, signal), listed_ms: timing.clock.now_ms() }
      if (unsynced !== null) logger.info(named, 'a cache is filled')
      unsynced = null
    }
    const place = position
    await watchOnce(options, place, signal, () => {
      failures = 0
    })
  }
  const note = (error: unknown): number => {
    failures += 1
    if (error instanceof KubeExpired || failures % watchFailures_max === 0) {
      why = error instanceof KubeExpired ? 'expired' : 'failures'
      position = undefined
    }
    const message = error instanceof Error ? error.message : String(error)
    if (unsynced !== null) unsynced = message
    const asked_ms = error instanceof KubeUnavailable ? (error.retry_after_ms ?? 0) : 0
    const wait_ms = Math.max(asked_ms, backOff(watchBackoff, failures, timing.random))
    logger.warn({ ...named, failures, wait_ms, reason: message }, 'a watch or list failed')
    return wait_ms
  }
  return {
    unsynced: () => unsynced,
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await step(signal)
        } catch (error) {
          if (signal.aborted) return
          await timing.sleep(note(error), signal)
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
    const asked = { namespace, label_selector, metadata_only, page_size, next, signal }
    const list = await kube.list(resource, asked)
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
