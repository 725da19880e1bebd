import { z } from 'zod'
import { cutPage, pageInfo, totalExactMax } from '../../../kernel/pages.ts'
import {
  cursorAt,
  cursorParameter,
  isStorable,
  limitParameter,
  positionIn,
} from '../../../model/list-query.ts'
import { record, windowSchema } from '../../../model/named-schemas.ts'
import { defineRoute, type Route, requesterOf } from '../../../platform/http/index.ts'
import { taskNamed, taskPath } from '../../tasks/index.ts'
import { type InsightDeps, labelReadScope, reviewScope } from '../contract.ts'
import { hourWindow, windowQuery } from '../counting/window.ts'
import { type Agreement, fleissKappa, pairAgreements } from './kappa.ts'
import { labelsOfWindow } from './labels-store.ts'
import { queueQuery, readQueue, reviewTask, toQueueFilter, toReviewTasks } from './queue.ts'
import { candidates_max, claimsOf, lockQueue, putClaims } from './queue-store.ts'

const sorted = { list: 'review', sort: 'risk', order: 'desc', kind: 'score' } as const

/** GET /api/v1/feedback/review: the tasks that the caller may review, highest risk first. */
export function listReviewQueue({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/feedback/review',
    id: 'listReviewQueue',
    summary: 'Tasks to review, highest risk first',
    audit: 'content',
    auth: 'jwt',
    scope: labelReadScope,
    query: z.strictObject({ ...queueQuery, limit: limitParameter, cursor: cursorParameter }),
    reply: record('ReviewQueue', {
      tasks: z.array(reviewTask).describe('The page, highest risk first.'),
      total: z
        .int()
        .nonnegative()
        .describe('Tasks in the queue: at most 1,000 of each reason to review a task.'),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, ...query }, caller }) => {
      const { project_id } = caller
      const about = { project_id, reviewer: requesterOf(caller), now_ms: clock.now_ms() }
      const filter = toQueueFilter(query, about)
      const after = cursor === undefined ? undefined : positionIn(sorted, cursor, isStorable)
      const queue = await readQueue(db, filter)
      const rest =
        after === undefined
          ? queue
          : queue.filter(({ risk, task_id }) => {
              return risk < Number(after.value) || (risk === after.value && task_id > after.id)
            })
      const { items, last } = cutPage(rest, limit)
      const next = last && cursorAt(sorted, { value: last.risk, id: last.task_id })
      // A reason with the maximum number of tasks may have more that are not in the queue.
      const counted = queue.length < candidates_max ? queue.length : totalExactMax + 1
      const info = pageInfo(counted, next ?? null)
      return {
        tasks: await toReviewTasks(db, filter, items),
        ...info,
        total: queue.length,
      }
    },
  })
}

const claim_ms = 15 * 60_000
const claims_max = 20

/**
 * POST /api/v1/feedback/review/claim: gives the next tasks of the queue to the caller. Until the
 * claim ends, the queue does not offer them to others, unless a task needs several reviewers.
 */
export function claimReviews({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/feedback/review/claim',
    id: 'claimReviews',
    summary: 'Take the next tasks of the review queue for 15 minutes',
    auth: 'jwt',
    scope: reviewScope,
    query: z.strictObject(queueQuery),
    body: record('ReviewClaimRequest', {
      tasks: z
        .int()
        .min(1, { error: 'expected a number of tasks, 1–20' })
        .max(claims_max, { error: 'expected a number of tasks, 1–20' })
        .default(1)
        .describe('Tasks that the caller then has, 1–20. Earlier claims of the caller count.'),
    }),
    reply: record('ReviewClaims', {
      tasks: z.array(reviewTask).describe('The tasks that the caller has, highest risk first.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query, body, caller }) => {
      const { project_id } = caller
      const now_ms = clock.now_ms()
      const filter = toQueueFilter(query, { project_id, reviewer: requesterOf(caller), now_ms })
      const until = new Date(now_ms + claim_ms).toISOString()
      return db.transaction().execute(async (trx) => {
        await lockQueue(trx, project_id)
        const [queue, mine] = [await readQueue(trx, filter), await claimsOf(trx, filter)]
        // The caller's own tasks come first, so that a repeated call returns the same tasks.
        const own = queue.filter(({ task_id }) => mine.has(task_id))
        const others = queue.filter(({ task_id }) => !mine.has(task_id))
        const taken = [...own, ...others].slice(0, body.tasks)
        const task_ids = taken.map(({ task_id }) => task_id)
        await putClaims(trx, filter, { task_ids, state: 'claimed', until })
        return { tasks: await toReviewTasks(trx, filter, taken) }
      })
    },
  })
}

const skip_ms = 7 * 24 * 3_600_000

/**
 * POST /api/v1/feedback/review/{task_id}/skip: returns a task to the queue, for other reviewers.
 */
export function skipReview({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/feedback/review/{task_id}/skip',
    id: 'skipReview',
    summary: 'Give a task back; it is not offered to the caller for 7 days',
    status: 204,
    auth: 'jwt',
    scope: reviewScope,
    params: taskPath,
    reply: z.undefined(),
    errors: ['task_not_found', 'store_unavailable'],
    handle: async ({ params, caller }) => {
      const { project_id } = caller
      const { task_id } = await taskNamed({ db }, project_id, params.task_id)
      const now_ms = clock.now_ms()
      const [now, until] = [now_ms, now_ms + skip_ms].map((ms) => new Date(ms).toISOString())
      await putClaims(
        db,
        { project_id, reviewer: requesterOf(caller), now: now ?? '' },
        { task_ids: [task_id], state: 'skipped', until: until ?? '' },
      )
      return undefined
    },
  })
}

const labels_max = 20_000
const pairs_max = 200
const share = z.number().min(0).max(1)

const agreementFields = {
  tasks: z.int().nonnegative().describe('Tasks with labels of both, or of at least two.'),
  observed: share.nullable().describe('Share of equal labels; null without such tasks.'),
  expected: share.nullable().describe('Share that labels given by chance would have.'),
  kappa: z
    .number()
    .min(-1)
    .max(1)
    .nullable()
    .describe('1 is perfect, 0 is chance; null if chance alone agrees everywhere.'),
}

/** GET /api/v1/feedback/review/agreement: how far reviewers give the same labels. */
export function getReviewAgreement({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/feedback/review/agreement',
    id: 'getReviewAgreement',
    summary: 'Agreement of reviewers: κ of Cohen for each two, κ of Fleiss for all',
    auth: 'jwt',
    scope: labelReadScope,
    query: z.strictObject(windowQuery),
    reply: record('ReviewAgreement', {
      window: windowSchema.describe('Labels that were last changed in it.'),
      labels: z.int().nonnegative().describe('Labels that were compared, the newest 20,000.'),
      all: record('AllReviewersAgreement', agreementFields).describe(
        'κ of Fleiss over tasks with at least two labels.',
      ),
      pairs: z
        .array(
          record('ReviewerPair', {
            reviewers: z.tuple([z.string(), z.string()]),
            ...agreementFields,
          }),
        )
        .max(pairs_max)
        .describe('κ of Cohen of each two reviewers; those with the most common tasks first.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const window = hourWindow(query, clock.now_ms())
      const labels = await labelsOfWindow(db, { project_id, ...window }, labels_max)
      const pairs = pairAgreements(labels).toSorted((one, other) => other.items - one.items)
      return {
        window,
        labels: labels.length,
        all: toReply(fleissKappa(labels)),
        pairs: pairs.slice(0, pairs_max).map(({ reviewers, ...agreement }) => {
          return { reviewers, ...toReply(agreement) }
        }),
      }
    },
  })
}

function toReply({ items: tasks, ...agreement }: Agreement) {
  return { tasks, ...agreement }
}
