import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import {
  type Columnar,
  compileRowBinary,
  type RowBinaryColumn,
} from '../../../platform/columnar/index.ts'
import type { LedgerStore } from '../ledger-contract.ts'
import { rowChanges } from './change-rows.ts'
import { createLedgerHours, type LedgerHoursOptions } from './ledger-hours.ts'
import { addSums, countsFrom, readSums, winnerFirst } from './ledger-sums.ts'
import { asStoreFailure, reader } from './store-failure.ts'
import { tableTargets } from './table-target.ts'

/** Opens the completeness ledger in ClickHouse. */
export function openClickHouseLedgerStore(options: LedgerHoursOptions): LedgerStore {
  const { columnar } = options
  const read = reader(columnar)
  const hours = createLedgerHours(options)
  const targetOf = tableTargets(columnar)
  return {
    insertEntries: async (entries, { token }) => {
      if (entries.length === 0) return
      const rows = encodeEntries(entries)
      const options = { deduplication_token: token }
      await asStoreFailure(
        columnar
          .acrossProjects('ingest')
          .insertRowBinary('ingest_ledger', columnNames, rows, options),
      )
      await hours.noteLate(entries, token)
    },
    sums: async (projectId, query) => {
      const closed = await hours.closedIn(projectId, query)
      return addSums([...closed.sums, ...(await readSums(read, projectId, query, closed.hours))])
    },
    closeHours: (limits) => hours.close(limits),
    dropMonthsBefore: (instant_ms) => dropMonths(columnar, targetOf, instant_ms),
    receipt: async (projectId, ingestRequestId) => {
      const params = { request: ingestRequestId }
      return (await read<EntryRow>(projectId, receiptSql, params)).map(entryFrom)
    },
  }
}

async function dropMonths(
  columnar: Columnar,
  targetOf: ReturnType<typeof tableTargets>,
  instant_ms: number,
): Promise<void> {
  for (const table of ['ingest_ledger', 'ingest_ledger_hours']) {
    const changes = rowChanges(columnar, await targetOf(table), table)
    const before = Math.floor(instant_ms / 1_000)
    const parts = await changes.parts({ from: Number.MIN_SAFE_INTEGER, to: before })
    for (const { partition_id, to } of parts) {
      if (to < before) await changes.dropPartition(partition_id)
    }
  }
}

const counts = 'Map(LowCardinality(String), UInt64)'

const columns: readonly RowBinaryColumn<LedgerEntry>[] = [
  { name: 'project_id', type: 'UUID' },
  { name: 'ingest_request_id', type: 'UUID' },
  { name: 'message_id', type: 'String' },
  { name: 'side', type: 'LowCardinality(String)' },
  { name: 'path', type: 'LowCardinality(String)' },
  {
    name: 'received_at',
    type: "DateTime64(3, 'UTC')",
    from: ({ received_at_ms }) => received_at_ms,
  },
  { name: 'items', type: 'UInt64' },
  { name: 'stored', type: 'UInt64' },
  { name: 'rejected', type: counts },
  { name: 'lost', type: counts },
  { name: 'masked', type: 'UInt64' },
  { name: 'records', type: counts },
  { name: 'attempts', type: 'UInt32' },
  { name: 'settled_at', type: "DateTime64(3, 'UTC')", from: ({ settled_at_ms }) => settled_at_ms },
  { name: 'error_reason', type: 'String' },
]

const columnNames = columns.map(({ name }) => name)

const encodeEntries = compileRowBinary(columns)

const receiptSql = `
SELECT project_id, ingest_request_id, message_id, side, path,
  toUnixTimestamp64Milli(received_at) AS received_at_ms, items, stored, rejected, lost, masked,
  records, attempts, toUnixTimestamp64Milli(settled_at) AS settled_at_ms, error_reason
FROM ingest_ledger
WHERE project_id = {project:UUID} AND ingest_request_id = {request:UUID}
ORDER BY message_id, ${winnerFirst}
LIMIT 1 BY message_id`

/** A row in JSONEachRow: 64-bit integers are text. */
type EntryRow = {
  [Field in keyof LedgerEntry]: LedgerEntry[Field] extends number
    ? Field extends 'attempts'
      ? number
      : string
    : Field extends 'rejected' | 'lost' | 'records'
      ? Record<string, string>
      : LedgerEntry[Field]
}

function entryFrom(row: EntryRow): LedgerEntry {
  const records = countsFrom(row.records)
  const recordsOf = (kind: string) => records[kind] ?? 0
  return {
    ...row,
    received_at_ms: Number(row.received_at_ms),
    items: Number(row.items),
    stored: Number(row.stored),
    rejected: countsFrom(row.rejected),
    lost: countsFrom(row.lost),
    masked: Number(row.masked),
    records: {
      traces: recordsOf('traces'),
      observations: recordsOf('observations'),
      events: recordsOf('events'),
      links: recordsOf('links'),
      correlations: recordsOf('correlations'),
    },
    settled_at_ms: Number(row.settled_at_ms),
  }
}
