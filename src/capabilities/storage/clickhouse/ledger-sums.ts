import type { QueryParams } from '../../../platform/columnar/index.ts'
import { type LedgerQuery, type LedgerSums, lostReasons } from '../ledger-contract.ts'
import type { Read } from './store-failure.ts'

/** Sums the entries of a window, except those of the hours in `without` (ms since 1970). */
export async function readSums(
  read: Read,
  projectId: string,
  query: LedgerQuery,
  without: readonly number[] = [],
): Promise<LedgerSums[]> {
  const params = sumsParams(query, without)
  return (await read<SumsRow>(projectId, sumsSql(query, without), params)).map(sumsFrom)
}

/** Adds the sums of disjoint parts of a window, by path. */
export function addSums(parts: readonly LedgerSums[]): LedgerSums[] {
  return [...Map.groupBy(parts, ({ path }) => path)].map(([path, sums]) => ({
    path,
    requests: total(sums, 'requests'),
    accepted: total(sums, 'accepted'),
    stored: total(sums, 'stored'),
    pending: total(sums, 'pending'),
    masked: total(sums, 'masked'),
    rejected: addCounts(sums.map(({ rejected }) => rejected)),
    lost: addCounts(sums.map(({ lost }) => lost)),
  }))
}

type Amount = 'requests' | 'accepted' | 'stored' | 'pending' | 'masked'

function total(sums: readonly LedgerSums[], of: Amount): number {
  return sums.reduce((all, one) => all + one[of], 0)
}

function addCounts(parts: readonly Record<string, number>[]): Record<string, number> {
  const added = new Map<string, number>()
  for (const counts of parts) {
    for (const [reason, items] of Object.entries(counts)) {
      added.set(reason, (added.get(reason) ?? 0) + items)
    }
  }
  return Object.fromEntries(added)
}

/**
 * Orders the versions of an entry: settled before accepted, then newest first. The first counts.
 */
export const winnerFirst = "side = 'settled' DESC, settled_at DESC, ingested_at DESC"

function sumsParams(query: LedgerQuery, without: readonly number[]): QueryParams {
  const { from_ms, to_ms, path = '', reason = '', lost_before_ms = 0 } = query
  return {
    from_ms: BigInt(from_ms),
    to_ms: BigInt(to_ms),
    path,
    reason,
    lost_before_ms: BigInt(lost_before_ms),
    without: without.map((hour_ms) =>
      new Date(hour_ms).toISOString().slice(0, 19).replace('T', ' '),
    ),
  }
}

export const milliParameter = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`

/**
 * Counts each message once, by its first version, then the outcomes of its items. Unaccounted items
 * are lost if the message is settled (or there is no message), else pending until no queue can
 * still hold the message. If more items are accounted for than accepted, they count as accepted.
 *
 * The age of a message is that of its accepted entry, which is written after it is queued. The time
 * of arrival can be earlier, since a spool may have held the message.
 */
const sumsSql = ({ path, reason }: LedgerQuery, without: readonly number[]) => `
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
      ${without.length === 0 ? '' : `AND toStartOfHour(received_at) NOT IN ${hoursParameter}`}
    ORDER BY ${winnerFirst}
    LIMIT 1 BY ingest_request_id, message_id
  )
) AS e
${reason === undefined ? '' : `WHERE ${countOfReason} > 0`}
GROUP BY path`

const countOfReason = `(e.rejected[{reason:String}] + e.lost[{reason:String}]
  + if({reason:String} = '${lostReasons.unsettled}', unsettled_items, 0)
  + if({reason:String} = '${lostReasons.unexplained}', unexplained_items, 0))`

/** A set in the form that the table's index can use, so that the hours are skipped. */
const hoursParameter = "{without:Array(DateTime('UTC'))}"

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
  const withAdded = (reason: string, added: string) => [
    reason,
    String((known[reason] ?? 0) + Number(added)),
  ]
  return countsFrom({
    ...lost,
    ...Object.fromEntries([
      withAdded(lostReasons.unsettled, unsettled),
      withAdded(lostReasons.unexplained, unexplained),
    ]),
  })
}

/** Converts counts and removes reasons without items. */
export function countsFrom(digits: Readonly<Record<string, string>>): Record<string, number> {
  const items = Object.entries(digits).map(([reason, count]) => [reason, Number(count)] as const)
  return Object.fromEntries(items.filter(([, count]) => count > 0))
}
