import { z } from 'zod'
import type { Clock } from '../../kernel/time.ts'
import { type IngestPath, ingestPaths } from '../../model/ingest-records.ts'
import { checkWindow, expected, instantParameter, textParameter } from '../../model/list-query.ts'
import { record, windowSchema } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { type Queue, QueueUnavailable } from '../../platform/queue/index.ts'
import type { LedgerStore, LedgerSums } from '../storage/index.ts'

/** The dependencies of the ledger's route. */
export type LedgerDeps = {
  ledger: Pick<LedgerStore, 'sums'>
  queue: Pick<Queue, 'stats'>
  clock: Clock
  /**
   * How much older than the oldest queued message an unsettled entry must be to count as lost, by
   * default 60,000. It covers clock differences and replication lag.
   */
  lost_margin_ms?: number
}

/**
 * GET /api/v2/observability/ledger: counts of accepted items by fate. The queue is read before the
 * ledger, so a message that has left the queue is already settled in the ledger.
 */
export function getLedger(deps: LedgerDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/ledger',
    id: 'getLedger',
    summary: 'Get the fate of accepted items, by path and reason',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    query: querySchema,
    reply: ledgerSchema,
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const now_ms = deps.clock.now_ms()
      const window = windowFrom(query, now_ms)
      const stats = await statsIfReachable(deps.queue)
      const sums = await deps.ledger.sums(project_id, {
        ...window,
        ...(query.path !== undefined && { path: query.path }),
        ...(query.reason !== undefined && { reason: query.reason }),
        lost_before_ms: stats && lostBeforeOf(stats, now_ms, deps.lost_margin_ms),
      })
      const asked = query.path === undefined ? ingestPaths : [query.path]
      const paths = asked.map((path) => pathSumsFrom(path, sums))
      return {
        window: { from: iso(window.from_ms), to: iso(window.to_ms) },
        totals: totalsOf(paths),
        paths,
        queue: queueFrom(stats, now_ms),
        as_of: iso(now_ms),
      }
    },
  })
}

const querySchema = z.strictObject({
  from: instantParameter(
    'Only requests that arrived at or after this, by default 24 hours before `to`.',
  ),
  to: instantParameter('Only requests that arrived before this, by default now.'),
  path: z
    .enum(ingestPaths, { error: expected(`one of ${ingestPaths.join(', ')}`) })
    .optional()
    .describe('Only requests of this path.'),
  reason: textParameter('Only messages with items that were rejected or lost for this reason.'),
})

const day_ms = 86_400_000
const ns_per_ms = 1_000_000n

/** Returns a window of whole milliseconds; both ends are rounded down. */
function windowFrom(
  { from, to }: z.output<typeof querySchema>,
  now_ms: number,
): { from_ms: number; to_ms: number } {
  checkWindow({ from, to })
  // The end is exclusive, and a request of this very millisecond must be inside.
  const to_ms = to === undefined ? now_ms + 1 : Number(to / ns_per_ms)
  const from_ms = from === undefined ? Math.max(0, to_ms - day_ms) : Number(from / ns_per_ms)
  checkWindow({ from: BigInt(from_ms) * ns_per_ms, to: BigInt(to_ms) * ns_per_ms })
  return { from_ms, to_ms }
}

type QueueStats = Awaited<ReturnType<Queue['stats']>>

/** Returns undefined when the queue is unavailable: then nothing may be reported as lost. */
async function statsIfReachable(queue: LedgerDeps['queue']): Promise<QueueStats | undefined> {
  try {
    return await queue.stats()
  } catch (cause) {
    if (cause instanceof QueueUnavailable) return undefined
    throw cause
  }
}

const lostMarginMs = 60_000

/**
 * Returns an instant before which no queued message was written; undefined while the queue is
 * unavailable.
 */
export async function lostBefore(
  queue: LedgerDeps['queue'],
  now_ms: number,
): Promise<number | undefined> {
  const stats = await statsIfReachable(queue)
  return stats && lostBeforeOf(stats, now_ms)
}

function lostBeforeOf(stats: QueueStats, now_ms: number, margin_ms = lostMarginMs): number {
  const oldest_ms = stats.pending === 0 ? now_ms : now_ms - stats.oldest_age_ms
  return Math.max(0, Math.floor(oldest_ms) - margin_ms)
}

function queueFrom(stats: QueueStats | undefined, now_ms: number) {
  if (stats === undefined) {
    return { reachable: false, pending_messages: null, oldest_pending_at: null }
  }
  const oldest = stats.pending === 0 ? null : iso(now_ms - stats.oldest_age_ms)
  return { reachable: true, pending_messages: stats.pending, oldest_pending_at: oldest }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

const count = z.int().nonnegative()
const instant = z.iso.datetime({ offset: false })

const sums = {
  requests: count.describe('Accepted requests.'),
  accepted: count.describe('Their items. Always `stored` + `rejected` + `pending` + `lost`.'),
  stored: count.describe('Items that are stored and can be queried.'),
  rejected: count.describe('Items rejected by the edge or by the store.'),
  pending: count.describe('Items that wait in the queue or are being stored.'),
  lost: count.describe('Items that are unaccounted for; 0 in a healthy system.'),
  masked: count.describe('Items with content that a capture policy masked or dropped.'),
}

const byReason = z.array(
  record('ReasonCount', {
    reason: z.string().describe('The reason, one word.'),
    items: count.describe('Number of items.'),
  }),
)

const pathSumsSchema = z
  .strictObject({
    path: z.enum(ingestPaths).meta({ id: 'IngestPath' }).describe('The way in.'),
    ...sums,
    rejected_by_reason: byReason.describe('Reasons with most items first; the sum is `rejected`.'),
    lost_by_reason: byReason.describe(
      'Reasons with most items first; the sum is `lost`. `not_settled`: they left the queue and no ' +
        'worker reported them. `not_explained`: a worker reported fewer items than it received.',
    ),
  })
  .meta({ id: 'LedgerPath' })
type PathSums = z.infer<typeof pathSumsSchema>

/** The reply of the ledger. */
const ledgerSchema = z
  .strictObject({
    window: windowSchema.describe('The window, by arrival of the requests.'),
    totals: record('LedgerTotals', sums).describe('Sums over all paths.'),
    paths: z.array(pathSumsSchema).describe('The requested paths.'),
    queue: z
      .strictObject({
        reachable: z
          .boolean()
          .describe('`false`: the queue is unavailable, so no item is reported as lost.'),
        pending_messages: count.nullable().describe('Messages of all projects in the queue.'),
        oldest_pending_at: instant
          .nullable()
          .describe('Instant at which the oldest of them was enqueued.'),
      })
      .meta({ id: 'LedgerQueue' })
      .describe('State of the queue, which separates pending items from lost ones.'),
    as_of: instant.describe('Instant at which the ledger was read.'),
  })
  .meta({ id: 'Ledger' })

/** Returns the sums of a path; zeros when it received no request. */
function pathSumsFrom(path: IngestPath, all: readonly LedgerSums[]): PathSums {
  const found = all.find((one) => one.path === path)
  const rejected_by_reason = reasonsOf(found?.rejected ?? {})
  const lost_by_reason = reasonsOf(found?.lost ?? {})
  return {
    path,
    requests: found?.requests ?? 0,
    accepted: found?.accepted ?? 0,
    stored: found?.stored ?? 0,
    rejected: itemsOf(rejected_by_reason),
    pending: found?.pending ?? 0,
    lost: itemsOf(lost_by_reason),
    masked: found?.masked ?? 0,
    rejected_by_reason,
    lost_by_reason,
  }
}

/** Returns the sums over all paths. */
function totalsOf(paths: readonly PathSums[]): z.infer<typeof ledgerSchema>['totals'] {
  const total = (name: keyof typeof sums) => paths.reduce((sum, path) => sum + path[name], 0)
  return {
    requests: total('requests'),
    accepted: total('accepted'),
    stored: total('stored'),
    rejected: total('rejected'),
    pending: total('pending'),
    lost: total('lost'),
    masked: total('masked'),
  }
}

type ReasonItems = z.infer<typeof byReason>

function reasonsOf(items: Readonly<Record<string, number>>): ReasonItems {
  return Object.entries(items)
    .map(([reason, count]) => ({ reason, items: count }))
    .toSorted((a, b) => b.items - a.items || (a.reason < b.reason ? -1 : 1))
}

function itemsOf(reasons: ReasonItems): number {
  return reasons.reduce((sum, { items }) => sum + items, 0)
}
