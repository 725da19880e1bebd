/**
 * A source of the time, in milliseconds since 1970. It is an argument, so that tests can set it.
 */
export type Clock = { now_ms: () => number }

export const systemClock: Clock = { now_ms: () => Date.now() }

const nsPerMs = 1_000_000n

/** End of the instants that can be stored: ClickHouse stores nanoseconds up to April 2262. */
export const instantsEndMs = Date.UTC(2262, 0)
const instantsEndNs = BigInt(instantsEndMs) * nsPerMs

/**
 * Returns whether an instant can be stored, queried and paged by: after 1970-01-01, before 2262.
 */
export function isStorableInstant(instantNs: bigint): boolean {
  return instantNs > 0n && instantNs < instantsEndNs
}

/** Formats an instant in nanoseconds as ISO 8601 UTC, with 3 or 9 digits after the point. */
export function isoFromNs(instantNs: bigint): string {
  const iso = new Date(Number(instantNs / nsPerMs)).toISOString()
  const belowMs = instantNs % nsPerMs
  if (belowMs === 0n) return iso
  return `${iso.slice(0, -1)}${belowMs.toString().padStart(6, '0')}Z`
}

/** Waits for the duration, or until the signal aborts. Never rejects. */
export function sleep(duration_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, duration_ms)
    signal?.addEventListener('abort', done, { once: true })
  })
}
