import type { Clock } from '../../kernel/time.ts'
import type { Kysely, TaskTables } from '../../platform/relational/index.ts'
import type { ObservationStore, RecordStore } from '../storage/index.ts'
import type { ObservationHead } from '../storage/row-format/index.ts'
import type { BodyBuffers } from './body-buffers.ts'
import type { IngestMeters } from './meters.ts'
import { type RollUpPorts, rollUp } from './roll-up/roll-up.ts'
import { touchedBy } from './roll-up/touched.ts'
import type { RowBatch } from './row-batch.ts'
import type { IngestSettings } from './settings.ts'
import { type SecondStore, storedRows } from './stored-rows.ts'

/** What rows are written with. */
export type WritePorts = {
  records: Pick<RecordStore, 'insertRows'>
  store: ObservationStore
  db: Kysely<TaskTables>
  clock: Clock
  meters: IngestMeters
  bodies: BodyBuffers
  markDue: RollUpPorts['markDue']
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
