import { sleep } from '../../../kernel/time.ts'
import { parseProjectId } from '../../../model/project-id.ts'
import {
  type Columnar,
  ColumnarError,
  ColumnarUnavailable,
} from '../../../platform/columnar/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { namedParams, type Statement } from '../compile/statement.ts'
import { openClickHousePlanner } from './clickhouse-plan.ts'
import {
  type LimitName,
  type QueryLimits,
  type QueryRunner,
  QueryTooExpensive,
  storeUnavailable,
} from './contract.ts'

type ClickHouseRunnerOptions = { columnar: Columnar; logger: Logger }

/** Runs statements on ClickHouse, one server or a cluster. Passes the limits as settings. */
export function openClickHouseRunner({ columnar, logger }: ClickHouseRunnerOptions): QueryRunner {
  const plan = openClickHousePlanner(columnar)
  const kill = (query_id: string) => {
    columnar.kill(query_id).catch((err: unknown) => {
      logger.warn(
        { err, query_id },
        'Cancelling a query in ClickHouse failed; it may still be running',
      )
    })
  }
  return {
    store: 'clickhouse',
    plan: (statement, { project_id, signal }) =>
      plan(statement, { project: parseProjectId(project_id), signal }).catch((error: unknown) => {
        signal.throwIfAborted()
        throw toPlanFailure(error)
      }),
    run: async (statement, { project_id, signal, limits, query_id }) => {
      const started_ms = performance.now()
      const { time_ms_max } = limits
      const findElapsedMs = () => columnar.findElapsedMs(query_id)
      const watch = watchTime(time_ms_max, { signal, findElapsedMs })
      const stop = () => kill(query_id)
      watch.signal.addEventListener('abort', stop, { once: true })
      try {
        const ofProject = columnar.ofProject(parseProjectId(project_id))
        const { rows, rows_read, bytes_read } = await ofProject.read<Record<string, unknown>>(
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
        // The connection broke, but the server may still run the statement.
        if (error instanceof ColumnarUnavailable && error.code === undefined && error.isSent) stop()
        throw toFailure(error)
      } finally {
        watch.stop()
        watch.signal.removeEventListener('abort', stop)
      }
    },
  }
}

/**
 * Returns the limits as settings. `max_rows_to_read` counts rows that ClickHouse might read, so a
 * statement that stops early is limited by bytes, time and memory alone.
 */
function settingsOf(limits: QueryLimits, { stops_early }: Statement) {
  return {
    ...(!stops_early && { max_rows_to_read: limits.rows_read_max }),
    max_bytes_to_read: limits.bytes_read_max,
    read_overflow_mode: 'throw',
    timeout_overflow_mode: 'throw',
    max_memory_usage: limits.memory_bytes_max,
    // One row above the limit shows that there is another page.
    max_result_rows: limits.result_rows_max + 1,
    result_overflow_mode: 'throw',
  }
}

/** Limits by the error codes of ClickHouse's src/Common/ErrorCodes.cpp. */
const limitsByCode: ReadonlyMap<number, LimitName> = new Map([
  [158, 'rows_read_max'], // TOO_MANY_ROWS
  [159, 'time_ms_max'], // TIMEOUT_EXCEEDED
  [160, 'time_ms_max'], // TOO_SLOW
  [241, 'memory_bytes_max'], // MEMORY_LIMIT_EXCEEDED
  [307, 'bytes_read_max'], // TOO_MANY_BYTES
  [396, 'result_rows_max'], // TOO_MANY_ROWS_OR_BYTES
])

const memoryCode = 241

function toFailure(error: unknown): unknown {
  const refused = error instanceof ColumnarError || error instanceof ColumnarUnavailable
  if (!refused) return error
  const limit = error.code === undefined ? undefined : limitsByCode.get(error.code)
  if (limit !== undefined && !(error.code === memoryCode && isMemoryOfServer(error))) {
    return new QueryTooExpensive(limit, { cause: error })
  }
  return error instanceof ColumnarUnavailable ? storeUnavailable('clickhouse', error) : error
}

/** A plan has a time limit of its own. Exceeding it means a slow server, not an expensive query. */
function toPlanFailure(error: unknown): unknown {
  return error instanceof ColumnarUnavailable ? storeUnavailable('clickhouse', error) : error
}

/** Returns true when the whole server, not this statement, exceeded its memory limit. */
function isMemoryOfServer({ cause }: Error): boolean {
  const message = cause instanceof Error ? cause.message : ''
  return !/query memory limit|\(for query\)/i.test(message)
}

/** ClickHouse checks the time limit between two blocks, so a busy server checks it late. */
const grace_ms = 1_000

/** Bound of asking the server whether it still runs a statement. */
const ask_ms_max = 2_000

/** A statement that waited for a connection has time left when first asked, so ask again. */
const asks_max = 2

/** Returns a client timeout late enough that the watch, not the timeout, ends a statement. */
function patienceWith(limit_ms: number): number {
  return limit_ms + asks_max * (grace_ms + ask_ms_max)
}

/** `signal` aborts when the statement must end; its reason is the error to reject with. */
type TimeWatch = { signal: AbortSignal; stop(): void }

/**
 * Watches a statement that the server should stop at its time limit. If the server has not, asks it
 * how long the statement has run. Aborts with QueryTooExpensive at the limit or above, and with
 * ColumnarUnavailable if the server does not run the statement or does not answer.
 */
function watchTime(
  limit_ms: number,
  statement: { signal: AbortSignal; findElapsedMs: () => Promise<number | undefined> },
): TimeWatch {
  const [ended, late] = [new AbortController(), new AbortController()]
  const watch = async () => {
    let wait_ms = limit_ms + grace_ms
    for (let asked = 0; asked < asks_max; asked += 1) {
      await sleep(wait_ms, ended.signal)
      if (ended.signal.aborted) return
      const elapsed_ms = await askInTime(statement.findElapsedMs)
      if (elapsed_ms === undefined) break
      if (elapsed_ms >= limit_ms) return late.abort(timeExceeded(elapsed_ms))
      wait_ms = limit_ms - elapsed_ms + grace_ms
    }
    late.abort(new ColumnarUnavailable(`ClickHouse gave no answer within ${limit_ms} ms`))
  }
  void watch()
  return {
    signal: AbortSignal.any([statement.signal, late.signal]),
    stop: () => ended.abort(),
  }
}

function timeExceeded(elapsed_ms: number): QueryTooExpensive {
  const cause = new Error(`ClickHouse still ran the statement after ${Math.round(elapsed_ms)} ms`)
  return new QueryTooExpensive('time_ms_max', { cause })
}

/** Returns the elapsed time; undefined if the server has no such statement or does not answer. */
function askInTime(ask: () => Promise<number | undefined>): Promise<number | undefined> {
  const noAnswer = new AbortController()
  const waited = sleep(ask_ms_max, noAnswer.signal).then(() => undefined)
  const answered = ask().catch(() => undefined)
  return Promise.race([answered, waited]).finally(() => noAnswer.abort())
}
