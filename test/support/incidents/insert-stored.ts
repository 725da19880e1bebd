import { observationColumnTypes } from '../../../src/capabilities/storage/row-format/columns.ts'
import { type ColumnarServer, compileRowBinary } from '../../../src/platform/columnar/index.ts'
import type { StoredObservation } from './signal-data.ts'

type Row = StoredObservation & { ingested_at: bigint }

const columns = [
  ...Object.entries(observationColumnTypes).map(([name, type]) => ({ name, type })),
  { name: 'ingested_at', type: 'DateTime64(3)' },
] as Parameters<typeof compileRowBinary<Row>>[0]

const encode = compileRowBinary<Row>(columns)

/** Inserts observations as if they had been stored at their times, which the store else sets. */
export async function insertStored(
  columnar: Pick<ColumnarServer, 'insertRowBinary'>,
  rows: readonly StoredObservation[],
): Promise<void> {
  if (rows.length === 0) return
  const stored = rows.map((row) => ({ ...row, ingested_at: BigInt(row.stored_ms) }))
  const names = columns.map(({ name }) => name)
  await columnar.insertRowBinary('observations', names, encode(stored))
}
