import type { ReadMessage } from './read-messages.ts'
import { createRowBatch, type RowBatch, type RowUnit } from './row-batch.ts'
import { classifyFailure } from './store-failures.ts'

/** Writes rows durably; the same token always has the same rows. Rejects with a store's error. */
type WriteRows = (batch: RowBatch) => Promise<void>

/** Rows of a message that could not be written, and why. */
export type Refused = RowUnit & {
  reason: string
  /** True when the store refused one of their values; false for an unclassified failure. */
  by_store: boolean
}

/**
 * Writes the rows of messages together. When the store refuses a value, the batch is bisected until
 * the faulty rows are alone; returns those and writes all others. Rejects with the error of an
 * outage. An unclassified error is thrown too, unless `isolates` is set and other rows were
 * written, now or since the last such error (`storeWorks`): a faulty store must not dead-letter the
 * whole queue.
 */
export async function writeMessages(
  messages: readonly ReadMessage[],
  write: WriteRows,
  options: WriteOptions,
): Promise<Refused[]> {
  const run: Run = { write, ...options, refused: [], unknown: undefined }
  const units = messages
    .filter(({ rows }) => rows.kinds.length > 0)
    .map((message) => ({ message, from: 0, to: message.rows.kinds.length }))
  if (units.length > 0) await writeUnits(run, units)
  if (run.unknown !== undefined && !run.storeWorks) throw run.unknown
  return run.refused
}

/** Options of a write; see `writeMessages`. */
type WriteOptions = Pick<Run, 'isolates' | 'storeWorks' | 'takeBody'>

type Run = {
  write: WriteRows
  isolates: boolean
  /** True once rows were written. */
  storeWorks: boolean
  refused: Refused[]
  /** Provides the buffers for the bodies of inserts. */
  takeBody?: ((size_bytes: number) => Buffer) | undefined
  /** An error that was neither an outage nor a refusal. */
  unknown: unknown
}

async function writeUnits(run: Run, units: readonly RowUnit[]): Promise<void> {
  try {
    await run.write(createRowBatch(units, run.takeBody))
    run.storeWorks = true
  } catch (error) {
    const kind = classifyFailure(error)
    if (kind === 'outage' || (kind === 'unknown' && !run.isolates)) throw error
    if (kind === 'unknown') run.unknown = error
    const halves = halve(units)
    const isSearchedOut = halves === undefined || run.refused.length >= refusals_max
    if (isSearchedOut) refuse(run, units, error)
    else for (const half of halves) await writeUnits(run, half)
  }
}

/**
 * Refused rows at which the bisection ends; the remaining faulty messages are refused as they are.
 */
const refusals_max = 100

function refuse(run: Run, units: readonly RowUnit[], error: unknown): void {
  const by_store = classifyFailure(error) === 'refused'
  if (!by_store && !run.storeWorks && units.length > 1) throw error
  for (const unit of units) run.refused.push({ ...unit, reason: reasonOf(error), by_store })
}

/** Halves a list of messages, or the rows of a single one. Returns undefined for a single row. */
function halve(units: readonly RowUnit[]): [RowUnit[], RowUnit[]] | undefined {
  const [only] = units
  if (units.length > 1 || only === undefined) {
    const middle = Math.ceil(units.length / 2)
    return [units.slice(0, middle), units.slice(middle)]
  }
  const { message, from, to } = only
  if (to - from === 1) return undefined
  const middle = Math.ceil((from + to) / 2)
  return [[{ message, from, to: middle }], [{ message, from: middle, to }]]
}

const reason_chars_max = 300

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.slice(0, reason_chars_max)
}
