import { z } from 'zod'
import { type IngestPath, ingestPaths } from '../../model/ingest-records.ts'
import { record, windowSchema } from '../../model/named-schemas.ts'
import type { LedgerSums } from '../storage/index.ts'

const count = z.int().nonnegative()
const instant = z.iso.datetime({ offset: false })

const sums = {
  requests: count.describe('Requests that were accepted.'),
  accepted: count.describe('Items of them: `stored` + `rejected` + `pending` + `lost`, always.'),
  stored: count.describe('Items that can be read.'),
  rejected: count.describe('Items that were refused, by the edge or when they were to be stored.'),
  pending: count.describe('Items on their way.'),
  lost: count.describe('Items that nothing accounts for; 0 in a healthy system.'),
  masked: count.describe('Items of which content was masked or left out on purpose.'),
}

const byReason = z.array(
  record('ReasonCount', {
    reason: z.string().describe('Why, in one word.'),
    items: count.describe('How many.'),
  }),
)

const pathSumsSchema = z
  .strictObject({
    path: z.enum(ingestPaths).meta({ id: 'IngestPath' }).describe('The way in.'),
    ...sums,
    rejected_by_reason: byReason.describe('Most items first; they add up to `rejected`.'),
    lost_by_reason: byReason.describe(
      'Most items first; they add up to `lost`. `not_settled`: no queue has them any more and no ' +
        'worker told of them. `not_explained`: a worker told of fewer items than there were.',
    ),
  })
  .meta({ id: 'LedgerPath' })
type PathSums = z.infer<typeof pathSumsSchema>

/** The answer of the ledger. */
export const ledgerSchema = z
  .strictObject({
    window: windowSchema.describe('By the arrival of requests.'),
    totals: record('LedgerTotals', sums).describe('Over the paths.'),
    paths: z.array(pathSumsSchema).describe('Every path that was asked for.'),
    queue: z
      .strictObject({
        reachable: z
          .boolean()
          .describe('`false`: the queue could not be asked, so nothing is called lost.'),
        pending_messages: count.nullable().describe('Messages of all projects in the queue.'),
        oldest_pending_at: instant.nullable().describe('When the oldest of them was enqueued.'),
      })
      .meta({ id: 'LedgerQueue' })
      .describe('What tells pending items from lost ones.'),
    as_of: instant.describe('When this was read.'),
  })
  .meta({ id: 'Ledger' })

/** The sums of a path; zeros when it took no request. */
export function pathSumsFrom(path: IngestPath, all: readonly LedgerSums[]): PathSums {
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

/** What all paths sum up to. */
export function totalsOf(paths: readonly PathSums[]): z.infer<typeof ledgerSchema>['totals'] {
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
