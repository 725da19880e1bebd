import type { Columnar } from '../../../platform/columnar/index.ts'
import type { RecordKind, RecordStore } from '../record-contract.ts'
import { columnTypesByKind } from '../row-format/columns.ts'
import { ofTrace } from './conditions.ts'
import { correlationReads } from './correlation-store.ts'
import { eventReads } from './event-store.ts'
import { linkReads } from './link-store.ts'
import { asStoreFailure, type Read, reader } from './store-failure.ts'

/** Records of every kind in ClickHouse. */
export function openClickHouseRecordStore({ columnar }: { columnar: Columnar }): RecordStore {
  const read = reader(columnar)
  return {
    insertRows: (kind, rows, { token }) => insertRows(columnar, { kind, rows, token }),
    ...eventReads(read),
    ...linkReads(read),
    ...correlationReads(read),
    traceExists: (projectId, traceId) => traceExists(read, projectId, traceId),
  }
}

type Batch = { kind: RecordKind; rows: readonly Uint8Array[]; token: string }

async function insertRows(columnar: Columnar, { kind, rows, token }: Batch): Promise<void> {
  const [first, ...others] = rows
  if (first === undefined) return
  const bytes = others.length === 0 ? first : Buffer.concat(rows)
  const options = { deduplication_token: token }
  await asStoreFailure(columnar.insertRowBinary(kind, columnNames[kind], bytes, options))
}

const columnNames: Record<RecordKind, readonly string[]> = {
  traces: Object.keys(columnTypesByKind.traces),
  observations: Object.keys(columnTypesByKind.observations),
  events: Object.keys(columnTypesByKind.events),
  links: Object.keys(columnTypesByKind.links),
  correlations: Object.keys(columnTypesByKind.correlations),
}

async function traceExists(read: Read, projectId: string, traceId: string): Promise<boolean> {
  const { sql, params } = ofTrace(projectId, traceId)
  const kinds = Object.keys(columnNames)
  const each = kinds.map((kind) => `SELECT 1 FROM ${kind} WHERE ${sql} LIMIT 1`)
  return (await read(`SELECT 1 FROM (${each.join(' UNION ALL ')}) LIMIT 1`, params)).length > 0
}
