import { backOff } from '../../kernel/back-off.ts'
import { Problem } from '../../kernel/problem.ts'
import { type Clock, sleep } from '../../kernel/time.ts'
import {
  ColumnarError,
  ColumnarUnavailable,
  RowBinaryError,
} from '../../platform/columnar/index.ts'
import { isRelationalUnavailable } from '../../platform/relational/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { IngestSettings } from './settings.ts'

/**
 * The kind of a failed write. `outage`: the store is unavailable, and the same write succeeds
 * later. `refused`: the store rejects a value. `unknown`: anything else.
 */
type FailureKind = 'outage' | 'refused' | 'unknown'

/** Classifies a store's error by itself and its causes. */
export function classifyFailure(error: unknown): FailureKind {
  for (let at = error, depth = 0; at instanceof Error && depth < causes_max; depth++) {
    if (at instanceof Problem && at.code === 'store_unavailable') return 'outage'
    if (at instanceof ColumnarUnavailable || isRelationalUnavailable(at)) return 'outage'
    if (isRefusal(at)) return 'refused'
    at = at.cause
  }
  return 'unknown'
}

const causes_max = 5

function isRefusal(error: Error): boolean {
  if (error instanceof RowBinaryError) return true
  if (error instanceof ColumnarError) return dataErrors.has(error.code)
  const code = 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^2[23]\w{3}$/.test(code)
}

/**
 * ClickHouse error codes that a value in the rows causes (ErrorCodes.cpp): 6, 26, 27, 33, 38, 41,
 * 69, 70, 72, 117 for values that cannot be read as their column's type, 128, 131 and 190 for
 * sizes, 321, 349 and 407 for ranges, 469 for a constraint. PostgreSQL's are SQLSTATE classes 22
 * and 23.
 */
const dataErrors = new Set([
  6, 26, 27, 33, 38, 41, 69, 70, 72, 117, 128, 131, 190, 321, 349, 407, 469,
])

/** Services and limits for repeating work. */
export type RetryContext = {
  clock: Clock
  logger: Logger
  settings: Pick<IngestSettings, 'ack_wait_ms' | 'retry_delay_ms' | 'retry_delay_ms_max'>
}

/**
 * Repeats some work while a store is unavailable, with a doubling wait, for half of `ack_wait_ms`.
 * Waiting here, instead of returning the batch at once, avoids reading the whole backlog
 * repeatedly. Rejects with the last error when that time is over or the signal aborts, and with any
 * other error at once.
 */
export async function retryOutages<T>(
  context: RetryContext,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const { clock, logger, settings } = context
  const until_ms = clock.now_ms() + settings.ack_wait_ms / 2
  const { retry_delay_ms: base_ms, retry_delay_ms_max: max_ms } = settings
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (classifyFailure(error) !== 'outage' || signal.aborted) throw error
      const wait_ms = backOff({ base_ms, max_ms }, attempt)
      if (clock.now_ms() + wait_ms > until_ms) throw error
      logger.warn({ err: error, wait_ms }, 'a store is unavailable; the batch waits')
      await sleep(wait_ms, signal)
      if (signal.aborted) throw error
    }
  }
}
