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
import { rollUp } from './roll-up/roll-up.ts'
import { touchedBy } from './roll-up/touched.ts'
import type { BodyBuffers, RowBatch, RowUnit } from './row-batch.ts'
import type { IngestSettings } from './settings.ts'

/** What rows are written with. */
export type WritePorts = {
  records: Pick<RecordStore, 'insertRows'>
  store: ObservationStore
  db: Kysely<TaskTables>
  clock: Clock
  meters: IngestMeters
  bodies: BodyBuffers
  /** Where rows of some projects go too. */
  second?: SecondStore | undefined
  settings: Pick<IngestSettings, 'large_rollup_from'>
}

/**
 * Writes a batch for good: rows of each kind by one insert, then what goes to a second store, then
 * the roll-ups of the tasks and conversations that it touched. `inserted` remembers by their tokens
 * which batches are in and since when, so that waiting for PostgreSQL does not insert them again
 * and again. Rejects with a store's error.
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
  await rollUp({ ...ports, large_from }, touchedBy(batch.heads))
  for (const { kind, count } of batch.rows) ports.meters.rows.inc({ kind }, count)
  observeLag(ports, batch.heads)
}

/** Waits for all of them: a repeat must not run beside an insert that is still under way. */
async function insertRows(
  { records, bodies }: WritePorts,
  { rows, token }: RowBatch,
): Promise<void> {
  const inserts = rows.map(({ kind, bytes }) => records.insertRows(kind, [bytes], { token }))
  const failed = (await Promise.allSettled(inserts)).find(({ status }) => status === 'rejected')
  // After a failure somebody may still be sending them.
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

/** Rows that are in ClickHouse, for a second store. */
export type StoredRows = {
  /** The projects that they are of. */
  project_ids: ReadonlySet<string>
  /** Before they were stored; milliseconds since 1970. */
  ingested_at_ms: number
  /** Reads those of some projects: nothing is read for the others. */
  of(project_ids: ReadonlySet<string>): { observations: Observation[]; traces: StoredTrace[] }
}

/** Where rows go when they are in ClickHouse: resolves when they are there, or noted as missing. */
export type SecondStore = { write(rows: StoredRows): Promise<void> }

/** The rows of a batch that a second store may want. */
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
