import { z } from 'zod'
import {
  cursorParameter,
  expected,
  integerParameter,
  limitParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { readTimeline, timelineObservations_max } from './read-timeline.ts'
import type { TaskDeps } from './task-deps.ts'
import { taskNamed } from './task-lookup.ts'
import { taskPath } from './task-record.ts'
import {
  runningTotalsSchema,
  type TimelineRole,
  timelineEntrySchema,
  timelineRoles,
} from './timeline-entry.ts'
import { comparePositions, cursorAfter, positionIn } from './timeline-position.ts'

/**
 * GET /api/v1/tasks/{task_id}/timeline: what happened in a task, in order. Every page is cut from
 * the whole timeline: a tool call knows of a result far behind it, and a call that is recorded late
 * counts in the running totals of the pages after it.
 */
export function getTaskTimeline(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/timeline',
    id: 'getTaskTimeline',
    summary: 'What happened in a task, in order, with running totals',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: querySchema,
    reply: replySchema,
    errors: ['task_not_found', 'invalid_cursor'],
    handle: async ({ params, query, caller, signal }) => {
      const task = await taskNamed(deps, caller.project_id, params.task_id)
      const after =
        query.cursor === undefined ? undefined : positionIn(listOf(task.task_id), query.cursor)
      const { entries, is_complete } = await readTimeline(deps, task, { ...query, signal })
      const wanted = entries.filter(({ entry }) => query.role?.includes(entry.role) ?? true)
      const begin =
        after === undefined
          ? 0
          : wanted.findIndex(({ position }) => comparePositions(position, after) > 0)
      const page = begin === -1 ? [] : wanted.slice(begin, begin + query.limit)
      const last = begin + page.length < wanted.length ? page.at(-1) : undefined
      return {
        task_id: task.task_id,
        entries: page.map(({ entry }) => entry),
        totals: entries.at(-1)?.entry.running ?? noTotals,
        total: wanted.length,
        ...(is_complete ? {} : { total_is_exact: false as const }),
        next_cursor: last ? cursorAfter(listOf(task.task_id), last.position) : null,
      }
    },
  })
}

function listOf(task_id: string): string {
  return `timeline of ${task_id}`
}

const defaultGap_ms = 5_000
const dayMs = 86_400_000

const querySchema = z.strictObject({
  role: z
    .string()
    .transform((text, context): TimelineRole[] => {
      const roles = text.split(',')
      if (roles.every(isRole)) return roles
      const what = `roles of ${timelineRoles.join(', ')}, separated by commas`
      context.addIssue({ code: 'custom', message: expected(what)({ input: text }) })
      return z.NEVER
    })
    .optional()
    .describe(`Only entries with these roles: ${timelineRoles.join(', ')}; separated by commas.`),
  gap_min_ms: integerParameter({
    minimum: 1,
    maximum: dayMs,
    default: defaultGap_ms,
    description: 'From how many idle milliseconds on `gap_ms` is set.',
  }),
  limit: limitParameter,
  cursor: cursorParameter,
})

const replySchema = record('TaskTimeline', {
  task_id: z.string().describe('The task.'),
  entries: z.array(timelineEntrySchema).describe('The page, in order.'),
  totals: runningTotalsSchema.describe('Sums over the whole timeline.'),
  total: z.int().nonnegative().describe('Entries of the roles asked for.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe(
      `\`false\`: the task has more than ${timelineObservations_max} observations, and the ` +
        'timeline ends after so many.',
    ),
  next_cursor: z.string().nullable().describe('For the next page; null on the last one.'),
})

const noTotals = {
  calls: 0,
  errors: 0,
  tool_calls: 0,
  total_tokens: 0,
  cost_usd: '0',
  elapsed_ms: 0,
}

function isRole(text: string): text is TimelineRole {
  return timelineRoles.some((role) => role === text)
}
