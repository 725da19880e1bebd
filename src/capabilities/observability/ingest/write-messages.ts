import { createHash } from 'node:crypto'
import type { Observation } from '../../../model/observation.ts'
import { failureKind } from './failure-kind.ts'
import type { ReadMessage } from './read-messages.ts'

/** Writes rows for good; the same token brings the same rows. Rejects with a store's error. */
export type WriteRows = (rows: readonly Observation[], token: string) => Promise<void>

/** A message of which rows could not be written, and why. */
export type Refused = { message: ReadMessage; reason: string }

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
  { isolates, storeWorks }: { isolates: boolean; storeWorks: boolean },
): Promise<Refused[]> {
  const run: Run = { write, isolates, storeWorks, refused: [], unknown: undefined }
  const units = messages.filter(({ rows }) => rows.length > 0)
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
  /** An error that was neither an outage nor a refusal. */
  unknown: unknown
}

async function writeUnits(run: Run, units: readonly ReadMessage[]): Promise<void> {
  const rows = units.flatMap((unit) => unit.rows)
  try {
    await run.write(rows, tokenOf(units))
    run.storeWorks = true
  } catch (error) {
    const kind = failureKind(error)
    if (kind === 'outage' || (kind === 'unknown' && !run.isolates)) throw error
    if (kind === 'unknown') run.unknown = error
    const isSearchedOut = rows.length === 1 || run.refused.length >= refusals_max
    if (isSearchedOut) refuse(run, units, error)
    else for (const half of halvesOf(units)) await writeUnits(run, half)
  }
}

/** After so many refused rows the search ends: the rest of the messages at fault goes as it is. */
const refusals_max = 100

function refuse(run: Run, units: readonly ReadMessage[], error: unknown): void {
  if (failureKind(error) === 'unknown' && !run.storeWorks && units.length > 1) throw error
  for (const message of units) run.refused.push({ message, reason: reasonOf(error) })
}

/** Halves of the messages; one message alone is halved by its rows. */
function halvesOf(units: readonly ReadMessage[]): ReadMessage[][] {
  const [only] = units
  if (units.length > 1 || only === undefined) {
    const middle = Math.ceil(units.length / 2)
    return [units.slice(0, middle), units.slice(middle)]
  }
  const middle = Math.ceil(only.rows.length / 2)
  return [
    [{ ...only, rows: only.rows.slice(0, middle) }],
    [{ ...only, rows: only.rows.slice(middle) }],
  ]
}

/** The same for the same messages whatever their order; another one for a part of a message. */
function tokenOf(units: readonly ReadMessage[]): string {
  const names = units.map(({ delivery, rows }) => {
    const { trace_id = '', observation_id = '' } = rows[0] ?? {}
    return `${delivery.id} ${trace_id} ${observation_id} ${rows.length}`
  })
  const hash = createHash('sha256')
  for (const name of names.toSorted()) hash.update(name).update('\n')
  return hash.digest('hex')
}

const reason_chars_max = 300

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.slice(0, reason_chars_max)
}
