import { expect } from 'vitest'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import type { ClientCall } from './load.ts'

/** One observation of a load's run, as ClickHouse stores it. 64-bit numbers are decimal text. */
type RecordedRow = {
  trace_id: string
  observation_id: string
  name: string
  type: string
  task_id: string
  external_id: string
  outcome: string
  status: string
  input: string
  output: string
  total_tokens: string
  cost_usd: string
}

/** A run in ClickHouse: the rows as readers see them, and the number of stored rows. */
export type Recorded = { rows: readonly RecordedRow[]; raw_rows: number }

/** Reads all observations of the tasks whose names begin with the run's. */
export async function recordedOf(columnar: ColumnarServer, run: string): Promise<Recorded> {
  const rows = await columnar.query<RecordedRow>(
    `select toString(trace_id) as trace_id, observation_id, name, type, task_id,
       conversation_external_id as external_id, outcome, status, input, output,
       toString(ifNull(input_uncached_tokens, 0) + ifNull(cache_read_tokens, 0)
         + ifNull(cache_write_tokens, 0) + ifNull(output_visible_tokens, 0)
         + ifNull(reasoning_tokens, 0)) as total_tokens,
       toString(ifNull(cost_usd, 0)) as cost_usd
     from observations final where startsWith(task_id, {run: String})`,
    { run },
  )
  const raw = await columnar.query<{ rows: string }>(
    'select count() as rows from observations where startsWith(task_id, {run: String})',
    { run },
  )
  return { rows, raw_rows: Number(raw[0]?.rows) }
}

/** The account of a load: what was sent, what clients saw, what is recorded. */
export type Account = {
  sent: number
  /** Calls whose client got the whole answer. */
  seen_complete: number
  /** Calls whose client got an error, a part, or nothing. */
  seen_otherwise: number
  recorded: number
  /** Recorded calls whose client did not see the whole answer. */
  recorded_unseen: number
  /** Rows beyond one per call that a reader sees: must be 0. */
  duplicates: number
  /** Rows of redelivered batches that exist until parts merge; no reader sees them. */
  raw_duplicates: number
  /** Completions that a client saw and that are not recorded. */
  lost: number
}

/** Compares what the clients saw with what was recorded. Throws for a row that was never sent. */
export function accountOf(calls: readonly ClientCall[], recorded: Recorded): Account {
  const byTrace = new Map(calls.map((call) => [call.trace_id, call]))
  const traces = new Set(recorded.rows.map((row) => row.trace_id))
  for (const trace of traces) {
    if (!byTrace.has(trace)) throw new Error(`trace ${trace} is recorded and was never sent`)
  }
  const complete = calls.filter((call) => call.complete)
  const seenAndRecorded = complete.filter((call) => traces.has(call.trace_id)).length
  return {
    sent: calls.length,
    seen_complete: complete.length,
    seen_otherwise: calls.length - complete.length,
    recorded: traces.size,
    recorded_unseen: traces.size - seenAndRecorded,
    duplicates: recorded.rows.length - traces.size,
    raw_duplicates: recorded.raw_rows - recorded.rows.length,
    lost: complete.length - seenAndRecorded,
  }
}

/**
 * Expects that each recorded call whose client saw the whole answer is recorded as exactly that.
 */
export function expectFaithfulRows(calls: readonly ClientCall[], { rows }: Recorded): void {
  const byTrace = new Map(calls.map((call) => [call.trace_id, call]))
  for (const row of rows) {
    const call = byTrace.get(row.trace_id)
    if (!call?.complete) continue
    expect(call.answered_trace_id).toBe(call.trace_id)
    expect(row).toMatchObject({
      task_id: call.task_id,
      external_id: call.conversation,
      outcome: 'complete',
      status: 'ok',
      input: expect.stringContaining(call.marker),
      output: expect.stringContaining(call.marker),
    })
  }
}

/** Sums that a reader of the API gets, by task id or the client's conversation id. */
export type Sums = { calls: number; errors: number; total_tokens: number; cost_usd: string }

/** The roll-ups without any missing or double-counted call. */
export function sumsOf(
  { rows }: Recorded,
  by: 'task_id' | 'external_id',
): Record<string, Sums & { cancelled: number }> {
  const groups = Map.groupBy(rows, (row) => row[by])
  return Object.fromEntries(
    [...groups].map(([id, group]) => [
      id,
      {
        calls: group.length,
        errors: group.filter((row) => row.status === 'error').length,
        cancelled: group.filter((row) => row.status === 'cancelled').length,
        total_tokens: group.reduce((sum, row) => sum + Number(row.total_tokens), 0),
        cost_usd: dollars(group.map((row) => row.cost_usd)),
      },
    ]),
  )
}

/** Adds and normalises exact decimals of up to nine digits after the point. */
export function dollars(amounts: readonly string[]): string {
  const nano = amounts.reduce((sum, amount) => {
    const [whole = '0', fraction = ''] = amount.split('.')
    return sum + BigInt(whole + fraction.padEnd(9, '0'))
  }, 0n)
  const digits = nano.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`
}
