import type { WatchEvent } from '../platform/kube/index.ts'
import type { Position, ReflectorOptions } from './reflector-options.ts'

/** A watch that ends sooner without having said anything counts as one that failed. */
const shortWatch_ms = 1_000

/** A watch ended at once and told nothing: the server, or something before it, is at fault. */
export class WatchTooShort extends Error {
  override readonly name = 'WatchTooShort'
}

/**
 * One watch from the position, which moves with every event and bookmark, until the server ends it,
 * it fails (then this rejects), it is silent for `watch_idle_ms`, or the next list is due. A
 * connection whose other end is gone is told by nothing but its silence; servers send a bookmark a
 * minute, so that silence means something.
 */
export async function watchOnce(
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
  let heard_ms = began_ms
  let heard = false
  const events = kube.watch(resource, {
    ...{ namespace, label_selector, metadata_only },
    resource_version: position.version,
    timeout_ms: settings.watch_timeout_ms * (1 + random()),
    signal: over.signal,
  })
  const reading = (async () => {
    for await (const event of events) {
      if (over.signal.aborted) return
      heard_ms = clock.now_ms()
      heard = true
      onAlive()
      take(options, position, event)
    }
  })()
  // Whoever ended the watch does not care how the reading of it ends.
  reading.catch(() => undefined)
  const watchdog = async () => {
    while (!over.signal.aborted) {
      const end_ms = Math.min(
        heard_ms + settings.watch_idle_ms,
        position.listed_ms + settings.relist_ms,
      )
      if (clock.now_ms() >= end_ms) return
      await timing.sleep(end_ms - clock.now_ms(), over.signal)
    }
  }
  try {
    await Promise.race([reading, watchdog()])
    if (signal.aborted) return
    if (!heard && clock.now_ms() - began_ms < shortWatch_ms) {
      throw new WatchTooShort('the watch ended at once')
    }
  } finally {
    over.abort()
    signal.removeEventListener('abort', end)
  }
}

function take({ sink }: ReflectorOptions, position: Position, event: WatchEvent): void {
  if (event.type === 'bookmark') {
    position.version = event.resource_version
    return
  }
  position.version = event.object.metadata.resourceVersion
  if (event.type === 'changed') sink.changed(event.object)
  else sink.deleted(event.object)
}
