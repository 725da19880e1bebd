import {
  type Columnar,
  ColumnarError,
  ColumnarUnavailable,
} from '../../../platform/columnar/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { namedParams } from '../compile/read-rows.ts'
import type { Statement } from '../compile/statement.ts'
import { openClickHousePlanner } from './clickhouse-plan.ts'
import {
  type LimitName,
  type QueryLimits,
  type QueryRunner,
  QueryTooExpensive,
} from './contract.ts'
import { storeAway } from './store-problem.ts'
import { patienceWith, watchTime } from './watch-time.ts'

/** Runs statements on ClickHouse, on one server or a cluster, with limits as its settings. */
export function openClickHouseRunner(about: { columnar: Columnar; logger: Logger }): QueryRunner {
  const { columnar, logger } = about
  const plan = openClickHousePlanner(columnar)
  const kill = (query_id: string) => {
    columnar.kill(query_id).catch((err: unknown) => {
      logger.warn({ err, query_id }, 'ClickHouse was not told that a query is of no use any more')
    })
  }
  return {
    store: 'clickhouse',
    plan: (statement, { signal }) =>
      plan(statement, signal).catch((error: unknown) => {
        signal.throwIfAborted()
        throw planFailureOf(error)
      }),
    run: async (statement, { signal, limits, query_id }) => {
      const started_ms = performance.now()
      const { time_ms_max } = limits
      const findElapsed_ms = () => columnar.findElapsed_ms(query_id)
      const watch = watchTime(time_ms_max, { signal, findElapsed_ms })
      const stop = () => kill(query_id)
      watch.signal.addEventListener('abort', stop, { once: true })
      try {
        const { rows, rows_read, bytes_read } = await columnar.read<Record<string, unknown>>(
          statement.text,
          namedParams(statement),
          {
            timeout_ms: time_ms_max,
            patience_ms: patienceWith(time_ms_max),
            settings: settingsOf(limits, statement),
            query_id,
            signal: watch.signal,
          },
        )
        return {
          rows,
          stats: { rows_read, bytes_read, duration_ms: performance.now() - started_ms },
        }
      } catch (error) {
        signal.throwIfAborted()
        // The connection broke; the server may go on.
        if (error instanceof ColumnarUnavailable && error.code === undefined) stop()
        throw failureOf(error)
      } finally {
        watch.stop()
        watch.signal.removeEventListener('abort', stop)
      }
    },
  }
}

/**
 * The limits as settings. ClickHouse counts what it may have to read as read, so that a statement
 * that ends as soon as it has its rows is held by bytes, time and memory alone.
 */
function settingsOf(limits: QueryLimits, { stops_early }: Statement) {
  return {
    ...(!stops_early && { max_rows_to_read: limits.rows_read_max }),
    max_bytes_to_read: limits.bytes_read_max,
    read_overflow_mode: 'throw',
    timeout_overflow_mode: 'throw',
    max_memory_usage: limits.memory_bytes_max,
    // One row more than the limit says whether there is another page.
    max_result_rows: limits.result_rows_max + 1,
    result_overflow_mode: 'throw',
  }
}

/** Numbers from ClickHouse's src/Common/ErrorCodes.cpp. */
const limitsByCode: ReadonlyMap<number, LimitName> = new Map([
  [158, 'rows_read_max'], // TOO_MANY_ROWS
  [159, 'time_ms_max'], // TIMEOUT_EXCEEDED
  [160, 'time_ms_max'], // TOO_SLOW
  [241, 'memory_bytes_max'], // MEMORY_LIMIT_EXCEEDED
  [307, 'bytes_read_max'], // TOO_MANY_BYTES
  [396, 'result_rows_max'], // TOO_MANY_ROWS_OR_BYTES
])

const memoryCode = 241

function failureOf(error: unknown): unknown {
  const refused = error instanceof ColumnarError || error instanceof ColumnarUnavailable
  if (!refused) return error
  const limit = error.code === undefined ? undefined : limitsByCode.get(error.code)
  if (limit !== undefined && !(error.code === memoryCode && isMemoryOfServer(error))) {
    return new QueryTooExpensive(limit, { cause: error })
  }
  return error instanceof ColumnarUnavailable ? storeAway('clickhouse', error) : error
}

/** A plan has limits of its own: over them, the server is slow and the query is not at fault. */
function planFailureOf(error: unknown): unknown {
  return error instanceof ColumnarUnavailable ? storeAway('clickhouse', error) : error
}

/** The server's own memory is used up, by whomever: that says nothing of this statement. */
function isMemoryOfServer({ cause }: Error): boolean {
  const message = cause instanceof Error ? cause.message : ''
  return !/query memory limit|\(for query\)/i.test(message)
}
