import type { Observation } from '../../model/observation.ts'
import { readObservation, readTrace, type StoredTrace } from '../storage/row-format/index.ts'
import type { RowUnit } from './row-batch.ts'

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
export function storedRows(units: readonly RowUnit[], ingested_at_ms: number): StoredRows {
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
