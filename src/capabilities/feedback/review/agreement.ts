import { z } from 'zod'
import { record, windowSchema } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { type InsightDeps, labelReadScope } from '../contract.ts'
import { hourWindow, windowQuery } from '../counting/window.ts'
import { type Agreement, fleissKappa, pairAgreements } from './kappa.ts'
import { labelsOfWindow } from './labels-store.ts'

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
