import type { Clock } from '../../kernel/time.ts'
import type { Observation } from '../../model/observation.ts'
import type { Kysely, TaskTables } from '../../platform/relational/index.ts'
import type { ObservationStore, RecordStore } from '../storage/index.ts'
import {
  type ObservationHead,
  readObservation,
  readTrace,
  type StoredTrace,
} from '../storage/row-format/index.ts'
import type { IngestMeters } from './meters.ts'
import type { RollUpPorts } from './roll-up/roll-up.ts'
import type { BodyBuffers, RowBatch, RowUnit } from './row-batch.ts'
import type { IngestSettings } from './settings.ts'
import type { ErasedRows } from './traces/erased-rows.ts'
import { type MarkKnownDue, markEventTasks } from './traces/mark-event-tasks.ts'
import type { EraseRows, SetOwners } from './traces/move-rows.ts'
import { settleTraces } from './traces/settle-traces.ts'

/** The dependencies of writing rows. */
export type WritePorts = {
  records: Pick<RecordStore, 'insertRows'>
  store: ObservationStore
  db: Kysely<TaskTables>
  clock: Clock
  meters: IngestMeters
  bodies: BodyBuffers
  markDue: RollUpPorts['markDue']
  markKnownDue?: MarkKnownDue | undefined
  /** A second store for the rows of some projects. */
  second?: SecondStore | undefined
  erased: ErasedRows
  settings: Pick<IngestSettings, 'large_rollup_from'>
}

/**
 * Writes a batch durably: one insert for each kind of row, then the second store, then the owners
 * of its rows and the roll-ups of their tasks and conversations, then the marks of tasks whose events came. `inserted` remembers inserted batches by token, with their time,
 * so that waiting for PostgreSQL does not insert them repeatedly. Rejects with a store's error.
 */
export async function writeRows(
  ports: WritePorts,
  batch: RowBatch,
  inserted: Map<string, number>,
): Promise<void> {
  const ingested_at_ms = inserted.get(batch.token) ?? ports.clock.now_ms()
  if (!inserted.has(batch.token)) {
    await insertRows(ports, batch)
    inserted.set(batch.token, ingested_at_ms)
  }
  await ports.second?.write(storedRows(batch.units, ingested_at_ms))
  const large_from = ports.settings.large_rollup_from
  const setSecondOwners: SetOwners = async (...change) => ports.second?.setOwners(...change)
  const eraseSecondRows: EraseRows = async (...asked) => ports.second?.eraseRows(...asked)
  await settleTraces({ ...ports, large_from, setSecondOwners, eraseSecondRows }, batch.heads)
  await markEventTasks(ports, batch.units)
  for (const { kind, count } of batch.rows) ports.meters.rows.inc({ kind }, count)
  observeLag(ports, batch.heads)
}

/** Waits for all inserts, because a repeat must not run beside an unfinished one. */
async function insertRows(
  { records, bodies }: WritePorts,
  { rows, token }: RowBatch,
): Promise<void> {
  const inserts = rows.map(({ kind, bytes }) => records.insertRows(kind, [bytes], { token }))
  const failed = (await Promise.allSettled(inserts)).find(({ status }) => status === 'rejected')
  // After a failure the buffers may still be in use, so they are not reused.
  if (failed?.status === 'rejected') throw failed.reason
  for (const { bytes } of rows) bodies.give(bytes)
}

const nsPerMs = 1_000_000n

function observeLag({ clock, meters }: WritePorts, heads: readonly ObservationHead[]): void {
  const now_ms = clock.now_ms()
  for (const { end_time } of heads) {
    meters.lag.observe(Math.max(0, now_ms - Number(end_time / nsPerMs)) / 1000)
  }
}

/** Rows in ClickHouse, for a second store. */
type StoredRows = {
  /** The projects of the rows. */
  project_ids: ReadonlySet<string>
  /** Milliseconds since 1970; before the rows were stored. */
  ingested_at_ms: number
  /** Decodes the rows of some projects only. */
  of(project_ids: ReadonlySet<string>): { observations: Observation[]; traces: StoredTrace[] }
}

/** A second store. Resolves when the change is made there, or recorded as missing. */
export type SecondStore = {
  write(rows: StoredRows): Promise<void>
  setOwners: SetOwners
  eraseRows: EraseRows
  /** Notes that observations with these starts have other tokens or costs in the first store. */
  markStale: (project_id: string, starts: readonly bigint[]) => Promise<void>
}

/** Returns the rows of a batch for a second store. */
function storedRows(units: readonly RowUnit[], ingested_at_ms: number): StoredRows {
  const project_ids = new Set<string>()
  for (const { message } of units) {
    for (const { project_id } of message.receipts) project_ids.add(project_id)
  }
  return { project_ids, ingested_at_ms, of: (wanted) => rowsOf(units, wanted) }
}

function rowsOf(units: readonly RowUnit[], wanted: ReadonlySet<string>) {
  const observations: Observation[] = []
  const traces: StoredTrace[] = []
  for (const { message, from, to } of units) {
    const { bytes, kinds, starts, ends, receipts } = message.rows
    for (let row = from; row < to; row++) {
      const receipt = message.receipts[receipts[row] ?? 0]
      if (receipt === undefined || !wanted.has(receipt.project_id)) continue
      const encoded = bytes.subarray(starts[row], ends[row])
      if (kinds[row] === 'observations') observations.push(readObservation(encoded))
      if (kinds[row] === 'traces') traces.push(readTrace(encoded))
    }
  }
  return { observations, traces }
}
