import type { LedgerEntry } from '../../../../model/ledger-entry.ts'
import {
  type Columnar,
  compileRowBinary,
  type QueryParams,
  type RowBinaryColumn,
} from '../../../../platform/columnar/index.ts'
import {
  type LedgerQuery,
  type LedgerStore,
  type LedgerSums,
  lostReasons,
} from '../ledger-contract.ts'
import { asStoreFailure, reader } from './store-failure.ts'

/** The ledger in ClickHouse. */
export function openClickHouseLedgerStore({ columnar }: { columnar: Columnar }): LedgerStore {
  const read = reader(columnar)
  return {
    insertEntries: async (entries, { token }) => {
      if (entries.length === 0) return
      const rows = encodeEntries(entries)
      const options = { deduplication_token: token }
      await asStoreFailure(columnar.insertRowBinary('ingest_ledger', columnNames, rows, options))
    },
    sums: async (projectId, query) => {
      const rows = await read<SumsRow>(sumsSql(query), sumsParams(projectId, query))
      return rows.map(sumsFrom)
    },
    receipt: async (projectId, ingestRequestId) => {
      const params = { project: projectId, request: ingestRequestId }
      return (await read<EntryRow>(receiptSql, params)).map(entryFrom)
    },
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

/** Settled before accepted, and of each the newest: the first version is the one that counts. */
const winnerFirst = "side = 'settled' DESC, settled_at DESC, ingested_at DESC"

function sumsParams(projectId: string, query: LedgerQuery): QueryParams {
  const { from_ms, to_ms, path = '', reason = '', lost_before_ms = 0 } = query
  return {
    project: projectId,
    from_ms: BigInt(from_ms),
    to_ms: BigInt(to_ms),
    path,
    reason,
    lost_before_ms: BigInt(lost_before_ms),
  }
}

const milliParameter = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`

/**
 * Each message once, by the version that counts; then what its items became. Those that nothing
 * accounts for: of a settled message (or of one that no message took) they are lost, else pending
 * until no queue can hold the message any more. Were more accounted for than came in, then as many
 * came in as are accounted for.
 *
 * An accepted entry is written after its message is in the queue, so what the queue no longer had
 * when the entry was written is gone; the arrival says less, as a spool may have held the message.
 */
const sumsSql = ({ path, reason }: LedgerQuery) => `
SELECT path, uniqExact(ingest_request_id) AS requests, sum(items_known) AS accepted,
  sum(stored) AS stored, sum(pending_items) AS pending, sum(masked) AS masked,
  sumMap(rejected) AS rejected, sumMap(lost) AS lost,
  sum(unsettled_items) AS unsettled, sum(unexplained_items) AS unexplained
FROM (
  SELECT path, ingest_request_id, stored, masked, rejected, lost,
    stored + arraySum(mapValues(rejected)) + arraySum(mapValues(lost)) AS explained,
    greatest(items, explained) AS items_known,
    toUInt64(items_known - explained) AS open_items,
    side = 'settled' OR message_id = '' AS settled,
    ingested_at >= ${milliParameter('lost_before_ms')} AS recent,
    if(NOT settled AND recent, open_items, 0) AS pending_items,
    if(NOT settled AND NOT recent, open_items, 0) AS unsettled_items,
    if(settled, open_items, 0) AS unexplained_items
  FROM (
    SELECT path, ingest_request_id, message_id, side, items, stored, masked, rejected, lost,
      ingested_at
    FROM ingest_ledger
    WHERE project_id = {project:UUID}
      AND received_at >= ${milliParameter('from_ms')} AND received_at < ${milliParameter('to_ms')}
      ${path === undefined ? '' : 'AND path = {path:String}'}
    ORDER BY ${winnerFirst}
    LIMIT 1 BY ingest_request_id, message_id
  )
) AS e
${reason === undefined ? '' : `WHERE ${countOfReason} > 0`}
GROUP BY path`

const countOfReason = `(e.rejected[{reason:String}] + e.lost[{reason:String}]
  + if({reason:String} = '${lostReasons.unsettled}', unsettled_items, 0)
  + if({reason:String} = '${lostReasons.unexplained}', unexplained_items, 0))`

type SumsRow = Pick<LedgerSums, 'path'> &
  Record<'requests' | 'accepted' | 'stored' | 'pending' | 'masked', string> &
  Record<'unsettled' | 'unexplained', string> &
  Record<'rejected' | 'lost', Record<string, string>>

function sumsFrom(row: SumsRow): LedgerSums {
  return {
    path: row.path,
    requests: Number(row.requests),
    accepted: Number(row.accepted),
    stored: Number(row.stored),
    pending: Number(row.pending),
    masked: Number(row.masked),
    rejected: countsFrom(row.rejected),
    lost: lostFrom(row),
  }
}

function lostFrom({ lost, unsettled, unexplained }: SumsRow): Record<string, number> {
  const known = countsFrom(lost)
  const withFound = (reason: string, found: string) => [
    reason,
    String((known[reason] ?? 0) + Number(found)),
  ]
  return countsFrom({
    ...lost,
    ...Object.fromEntries([
      withFound(lostReasons.unsettled, unsettled),
      withFound(lostReasons.unexplained, unexplained),
    ]),
  })
}

const receiptSql = `
SELECT project_id, ingest_request_id, message_id, side, path,
  toUnixTimestamp64Milli(received_at) AS received_at_ms, items, stored, rejected, lost, masked,
  records, attempts, toUnixTimestamp64Milli(settled_at) AS settled_at_ms, error_reason
FROM ingest_ledger
WHERE project_id = {project:UUID} AND ingest_request_id = {request:UUID}
ORDER BY message_id, ${winnerFirst}
LIMIT 1 BY message_id`

/** A row as JSONEachRow brings it: 64-bit integers are text. */
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

/** Reasons with items; an entry may carry others with none. */
function countsFrom(digits: Readonly<Record<string, string>>): Record<string, number> {
  const items = Object.entries(digits).map(([reason, count]) => [reason, Number(count)] as const)
  return Object.fromEntries(items.filter(([, count]) => count > 0))
}
