import { backOff } from '../../kernel/back-off.ts'
import { type Clock, sleep } from '../../kernel/time.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { failureKind } from './failure-kind.ts'
import type { IngestSettings } from './settings.ts'

/**
 * Repeats some work while a store is away, with a doubling wait, for half the time that the queue
 * leaves a batch with us. Waiting here, instead of giving the batch back at once, spares reading
 * the whole backlog again and again. Rejects with the last error when that time is over, when the
 * signal aborts, and with any other error at once.
 */
export async function whileStoresAreAway<T>(
  about: {
    clock: Clock
    logger: Logger
    settings: Pick<IngestSettings, 'ack_wait_ms' | 'retry_delay_ms' | 'retry_delay_ms_max'>
  },
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const { clock, logger, settings } = about
  const until_ms = clock.now_ms() + settings.ack_wait_ms / 2
  const { retry_delay_ms: base_ms, retry_delay_ms_max: max_ms } = settings
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (failureKind(error) !== 'outage' || signal.aborted) throw error
      const wait_ms = backOff({ base_ms, max_ms }, attempt)
      if (clock.now_ms() + wait_ms > until_ms) throw error
      logger.warn({ err: error, wait_ms }, 'a store is away; the batch waits')
      await sleep(wait_ms, signal)
      if (signal.aborted) throw error
    }
  }
}
