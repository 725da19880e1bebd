import { sleep } from '../../src/kernel/time.ts'

/** The pause before the second question; each later one is a fifth longer, up to `pause_ms_max`. */
const pause_ms_first = 5
const pause_ms_max = 100

/**
 * Polls until the answer is neither undefined nor false. Pauses grow, so that a long wait leaves the
 * processor to what it waits for; `interval_ms` sets a fixed pause. Throws after `timeout_ms`, with
 * `what` in the message.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { timeout_ms = 20_000, interval_ms }: { timeout_ms?: number; interval_ms?: number } = {},
): Promise<T> {
  let pause_ms = interval_ms ?? pause_ms_first
  for (const start = Date.now(); Date.now() - start < timeout_ms; ) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    await sleep(pause_ms)
    if (interval_ms === undefined) pause_ms = Math.min(pause_ms * 1.2, pause_ms_max)
  }
  throw new Error(`${what}: not within ${timeout_ms} ms`)
}
