import type { ReadMessage } from './message-rows.ts'
import { batchOf, type RowBatch, type RowUnit } from './row-batch.ts'
import { failureKind } from './store-failures.ts'

/** Writes rows for good; the same token brings the same rows. Rejects with a store's error. */
type WriteRows = (batch: RowBatch) => Promise<void>

/** Rows of a message that could not be written, and why. */
export type Refused = RowUnit & {
  reason: string
  /** Whether the store refused a value in them; else nobody can name what is wrong with them. */
  by_store: boolean
}

/**
 * Writes the rows of messages together. When the store refuses a value, the batch is halved until
 * the rows at fault stand alone: those are answered, all others are written. Rejects with the
 * error when a store is away. An error that nobody can name is thrown as well, unless `isolates`
 * is set and other rows went in, now or (`storeWorks`) since it came last: a fault of the store
 * itself must not empty the queue.
 */
export async function writeMessages(
  messages: readonly ReadMessage[],
  write: WriteRows,
  about: { isolates: boolean; storeWorks: boolean; takeBody?: Run['takeBody'] },
): Promise<Refused[]> {
  const run: Run = { write, ...about, refused: [], unknown: undefined }
  const units = messages
    .filter(({ rows }) => rows.kinds.length > 0)
    .map((message) => ({ message, from: 0, to: message.rows.kinds.length }))
  if (units.length > 0) await writeUnits(run, units)
  if (run.unknown !== undefined && !run.storeWorks) throw run.unknown
  return run.refused
}

type Run = {
  write: WriteRows
  isolates: boolean
  /** True once rows went in. */
  storeWorks: boolean
  refused: Refused[]
  /** Where bodies of inserts get their memory. */
  takeBody?: ((size_bytes: number) => Buffer) | undefined
  /** An error that was neither an outage nor a refusal. */
  unknown: unknown
}

async function writeUnits(run: Run, units: readonly RowUnit[]): Promise<void> {
  try {
    await run.write(batchOf(units, run.takeBody))
    run.storeWorks = true
  } catch (error) {
    const kind = failureKind(error)
    if (kind === 'outage' || (kind === 'unknown' && !run.isolates)) throw error
    if (kind === 'unknown') run.unknown = error
    const halves = halvesOf(units)
    const isSearchedOut = halves === undefined || run.refused.length >= refusals_max
    if (isSearchedOut) refuse(run, units, error)
    else for (const half of halves) await writeUnits(run, half)
  }
}

/** After so many refused rows the search ends: the rest of the messages at fault goes as it is. */
const refusals_max = 100

function refuse(run: Run, units: readonly RowUnit[], error: unknown): void {
  const by_store = failureKind(error) === 'refused'
  if (!by_store && !run.storeWorks && units.length > 1) throw error
  for (const unit of units) run.refused.push({ ...unit, reason: reasonOf(error), by_store })
}

/** Halves of the messages; one message alone is halved by its rows; one row has none. */
function halvesOf(units: readonly RowUnit[]): [RowUnit[], RowUnit[]] | undefined {
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
