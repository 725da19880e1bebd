import { z } from 'zod'
import { integerParameter } from '../../../model/list-query.ts'
import { record, windowSchema } from '../../../model/named-schemas.ts'
import { severities } from '../../../model/severity.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { type InsightDeps, readScope } from '../contract.ts'
import { countChanges } from '../counting/chores.ts'
import { toRatedWindow } from '../counting/counts-store.ts'
import { hourWindow, windowQuery } from '../counting/window.ts'
import { clusteredBySchema, sourceParameter, sourceSchema } from '../stats/stats.ts'
import { defaultPatternSettings } from './find-patterns.ts'
import { findStoredPatterns } from './stored-patterns.ts'

const count = z.int().nonnegative()
const share = z.number().min(0).max(1)
const difference = z.number().min(-1).max(1)

const exampleSchema = record('PatternExample', {
  task_id: z.string(),
  at: z.iso.datetime().describe('Time of its last vote.'),
  url: z.string().describe('Path of the task.'),
  findings: z.array(
    record('PatternFinding', {
      finding_id: z.uuid(),
      type: z.string(),
      severity: z.enum(severities),
      url: z.string().describe('Path of the findings of the task.'),
    }),
  ),
  incidents: z.array(
    record('PatternIncident', {
      incident_id: z.uuid(),
      number: z.int(),
      state: z.string(),
      url: z.string().describe('Path of the incident.'),
    }),
  ),
})

const patternSchema = record('FeedbackPattern', {
  feature: z.string().describe('`<kind>:<value>`, such as `tool:search`.'),
  kind: z.string().describe('Kind of the feature, such as `tool`.'),
  value: z.string(),
  tasks: count.describe('Tasks with the feature and with feedback.'),
  negative: count.describe('Tasks of `tasks` with negative feedback.'),
  users: count.describe(
    'Users of these tasks (or conversations, for tasks without a user). An estimate if `clustered_by` is `user_group`.',
  ),
  rate: share.describe('Share of negative feedback with the feature.'),
  rate_without: share.describe('Share of negative feedback of the other tasks.'),
  difference: difference.describe('`rate` − `rate_without`.'),
  interval: z
    .tuple([difference, difference])
    .describe('95 % interval of the difference, over users.'),
  p: share.describe('One-sided p value of the test by user.'),
  q: share.describe('p adjusted by Benjamini and Hochberg over all tested features.'),
  since: z.iso
    .datetime()
    .nullable()
    .describe(
      'Earliest time of a last vote, among tasks of the window with the feature and negative feedback. The start of its day if `clustered_by` is `user_group`.',
    ),
  examples: z
    .array(exampleSchema)
    .max(3)
    .describe('Newest tasks that have the feature and negative feedback.'),
})

/** GET /api/v1/feedback/patterns: features of tasks with more negative feedback. */
export function listFeedbackPatterns({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/feedback/patterns',
    id: 'listFeedbackPatterns',
    summary: 'Features of tasks with more negative feedback than other tasks, tested by user',
    auth: 'jwt_or_key',
    scope: readScope,
    query: z.strictObject({
      ...windowQuery,
      source: sourceParameter,
      limit: integerParameter({
        minimum: 1,
        maximum: 50,
        default: 20,
        description: 'Maximum patterns, those with the smallest p.',
      }),
    }),
    reply: record('FeedbackPatternList', {
      window: windowSchema,
      source: sourceSchema,
      patterns: z.array(patternSchema).describe('Smallest p first.'),
      total: count.describe('Patterns found, before `limit`.'),
      next_cursor: z.null(),
      note: z.string().nullable().describe('Why there are no patterns; null if there are some.'),
      tasks: count.describe('Tasks with feedback in the window.'),
      negative: count.describe('Tasks of `tasks` with negative feedback.'),
      users: count.describe(
        'Users of these tasks (or conversations, for tasks without a user). An estimate if `clustered_by` is `user_group`.',
      ),
      tested: count.describe('Features that were tested. `q` is adjusted for this number.'),
      left_out: count.describe('Features not tested, because 1,000 are more frequent.'),
      minimums: record('PatternMinimums', {
        tasks: count.describe('Tasks with the feature.'),
        users: count.describe('Users with the feature.'),
        difference: share.describe('Difference of the rates.'),
        q: share.describe('Largest q of a pattern.'),
      }),
      clustered_by: clusteredBySchema,
      uncounted: count.describe('Changed tasks that are not counted yet, at most 10,000.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query: { limit, source, ...query }, caller: { project_id } }) => {
      const hours = hourWindow(query, clock.now_ms())
      await countChanges(db, project_id)
      const window = await toRatedWindow(db, { ...hours, project_id, source })
      const { tasks_min, users_min, effect_min, q_max } = defaultPatternSettings
      return {
        window: hours,
        source,
        ...(await findStoredPatterns(db, window, limit)),
        next_cursor: null,
        minimums: { tasks: tasks_min, users: users_min, difference: effect_min, q: q_max },
        clustered_by: window.is_exact ? ('user' as const) : ('user_group' as const),
      }
    },
  })
}
