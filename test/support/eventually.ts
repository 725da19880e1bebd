import { sleep } from '../../src/kernel/time.ts'

/**
 * Polls until the answer is neither undefined nor false. Throws after `timeout_ms`, with `what` in
 * the message.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { timeout_ms = 20_000, interval_ms = 5 } = {},
): Promise<T> {
  for (const start = Date.now(); Date.now() - start < timeout_ms; ) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    await sleep(interval_ms)
  }
  throw new Error(`${what}: not within ${timeout_ms} ms`)
}
