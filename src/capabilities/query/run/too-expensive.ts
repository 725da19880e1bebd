import { type Problem, problem } from '../../../kernel/problem.ts'
import type { Statement } from '../compile/statement.ts'
import type {
  LimitName,
  QueryLimits,
  QueryRunner,
  QueryTooExpensive,
  ReadEstimate,
} from './contract.ts'

/** A store that is busy takes longer; the query itself took longer still. */
const estimate_ms_max = 3_000

/** `query_too_expensive` with the limit and, where the store can tell, what would be read. */
export async function tooExpensive(
  error: QueryTooExpensive,
  limits: QueryLimits,
  about: { runner: QueryRunner; statement: Statement; signal: AbortSignal },
): Promise<Problem> {
  const signal = AbortSignal.any([about.signal, AbortSignal.timeout(estimate_ms_max)])
  const estimate = await about.runner
    .plan(about.statement, { signal })
    .then((plan) => plan.estimate)
    .catch(() => undefined)
  const { rows = null, bytes = null, rows_at_most = null } = estimate ?? {}
  return overLimit(error.limit, limits, { rows: rows ?? rows_at_most, bytes }, error)
}

const sentences: Readonly<Record<LimitName, string>> = {
  rows_read_max: 'rows to be read',
  bytes_read_max: 'bytes to be read',
  time_ms_max: 'ms of time',
  memory_bytes_max: 'bytes of memory',
  result_rows_max: 'rows in the answer',
}

/** `query_too_expensive`, with what would be read as far as that is known. */
export function overLimit(
  limit: LimitName,
  limits: QueryLimits,
  { rows, bytes }: Pick<ReadEstimate, 'rows' | 'bytes'>,
  cause?: unknown,
): Problem {
  const most = limits[limit].toLocaleString('en-US')
  const rowsText =
    rows === null ? '' : ` (it would read about ${rows.toLocaleString('en-US')} rows)`
  return problem('query_too_expensive', {
    detail: `expected at most ${most} ${sentences[limit]}${rowsText}: ask for a shorter window, or filter more`,
    extensions: { estimate: { limit: `query_${limit}`, limit_value: limits[limit], rows, bytes } },
    cause,
  })
}
