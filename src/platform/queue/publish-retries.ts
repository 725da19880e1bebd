import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '../../kernel/back-off.ts'
import { MessageTooLarge, type OutgoingMessage } from './contract.ts'

/** How often a publish is tried, and the first delay between tries; it doubles. */
export type RetryLimits = { attempts_max: number; delay_ms: number }

/**
 * Publishes, and tries again with the same id when that fails: the queue then stores it once. The
 * delay doubles with each try. Resolves with the last error, or with undefined once it is durable.
 */
export async function publishWithRetries(
  publish: (message: OutgoingMessage) => Promise<void>,
  message: OutgoingMessage,
  { attempts_max, delay_ms }: RetryLimits,
): Promise<Error | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await publish(message)
      return undefined
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      if (attempt >= attempts_max || error instanceof MessageTooLarge) return failure
    }
    await sleep(backOff({ base_ms: delay_ms }, attempt), undefined, { ref: false })
  }
}
