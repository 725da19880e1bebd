import { z } from 'zod'
import { expected, integerParameter } from '../../../model/list-query.ts'
import { record, windowSchema } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { type InsightDeps, readScope } from '../contract.ts'
import { countChanges } from '../counting/chores.ts'
import { hourWindow, windowQuery } from '../counting/window.ts'
import { feedbackSources } from '../votes/vote.ts'
import { groupKinds, readStats } from './read-stats.ts'

const count = z.int().nonnegative()
const share = z.number().min(0).max(1)

/** A rate with its interval, in replies. */
const rateFields = {
  rate: share.nullable().describe('`negative` / `votes`; null without votes.'),
  interval: z
    .tuple([share, share])
    .nullable()
    .describe('95 % interval of the rate, over users; null with fewer than two users.'),
}

/** Who gave the feedback, in replies. */
export const sourceSchema = z.enum(feedbackSources).meta({ id: 'FeedbackSource' })

/** How votes or tasks were counted, in replies. */
export const clusteredBySchema = z.enum(['user', 'user_group']).meta({
  id: 'ClusteredBy',
  description: '`user_group`: counted by 64 groups of users and by whole days (UTC), for speed.',
})

/** Query parameter: the source whose feedback is counted. */
export const sourceParameter = z
  .enum(feedbackSources, { error: expected(feedbackSources.join(', ')) })
  .default('end_user')
  .describe('Source of the feedback; sources are never mixed in one rate. Default: end_user.')

const votesFields = {
  votes: count.describe('Votes that count: the last value of each person and task.'),
  negative: count,
  neutral: count,
  positive: count,
}

const bucketSchema = record('FeedbackBucket', {
  at: z.iso.datetime().describe('Start of the bucket.'),
  ...votesFields,
  rate: rateFields.rate,
  interval: z.tuple([share, share]).nullable().describe('95 % interval of the rate, after Wilson.'),
})

const sourceStats = record('FeedbackSourceStats', {
  source: sourceSchema,
  ...votesFields,
  ...rateFields,
  clusters: count.describe('Users, or groups of users, that the interval is computed over.'),
  series: z.array(bucketSchema).describe('Every bucket of the window; those without votes too.'),
})

const groupSchema = record('FeedbackGroup', {
  value: z.string(),
  votes: count,
  negative: count,
  ...rateFields,
  clusters: count.describe('Users, or groups of users, who gave the votes.'),
  tasks: count.describe('Tasks that started on the days of the window, with feedback or not.'),
  response_rate: share
    .nullable()
    .describe('Share of these tasks with votes of end users; null without tasks.'),
})

/** GET /api/v1/feedback/stats: rates of negative feedback, and how many tasks have feedback. */
export function getFeedbackStats({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/feedback/stats',
    id: 'getFeedbackStats',
    summary: 'Rates of negative feedback, over time and by tool, model, task name, release',
    auth: 'jwt_or_key',
    scope: readScope,
    query: z.strictObject({
      ...windowQuery,
      source: sourceParameter.describe('Source of `groups` and `labels`. Default: end_user.'),
      unit: z
        .enum(['hour', 'day'], { error: expected('hour or day') })
        .optional()
        .describe('Length of a bucket; `hour` for at most 7 days. Default: by the window.'),
      groups_max: integerParameter({
        minimum: 1,
        maximum: 100,
        default: 20,
        description: 'Maximum values of a dimension, those with the most votes.',
      }),
    }),
    reply: record('FeedbackStats', {
      window: windowSchema,
      unit: z.enum(['hour', 'day']).meta({ id: 'FeedbackUnit' }),
      sources: z.array(sourceStats).describe('Every source, also one without votes.'),
      source: sourceSchema.describe('Source of `groups` and `labels`.'),
      groups: record(
        'FeedbackGroups',
        Object.fromEntries(
          groupKinds.map((kind) => [kind, z.array(groupSchema).describe('Most votes first.')]),
        ) as Record<(typeof groupKinds)[number], z.ZodArray<typeof groupSchema>>,
      ),
      labels: z
        .array(record('FeedbackLabelVotes', { label: z.string(), ...votesFields }))
        .describe('Most frequent first.'),
      response: record('FeedbackResponse', {
        tasks: count.describe('Tasks that started on the days of the window.'),
        rated: count.describe('Those of them with votes of end users.'),
        rate: share.nullable(),
      }),
      clustered_by: clusteredBySchema,
      pending: count.describe('Items that wait for their task, at most 10,000.'),
      dropped: z
        .array(record('FeedbackDrop', { reason: z.string(), items: count }))
        .describe('Items of the window that were not kept, by reason.'),
      uncounted: count.describe('Changed tasks that are not in `groups` yet, at most 10,000.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const window = hourWindow(query, clock.now_ms())
      await countChanges(db, project_id)
      return readStats(db, { ...query, ...window, project_id })
    },
  })
}
