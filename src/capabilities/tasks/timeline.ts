import { z } from 'zod'
import {
  cursorParameter,
  expected,
  integerParameter,
  limitParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { findingsOf, indexMarks, type MarksAt, toStepNumber } from '../detection/index.ts'
import { type Place, spanKey, type TaskRun } from '../detection/reconstruction/index.ts'
import { findTaskEvents, type TaskEventRow, type TaskRow } from './store.ts'
import { type TaskDeps, taskNamed, taskPath } from './task.ts'
import {
  cursorAfter,
  type MarkedEntry,
  pageEndIn,
  runningTotalsSchema,
  type TimelineEntry,
  type TimelineRole,
  timelineEntrySchema,
  timelineRoles,
} from './timeline-entry.ts'
import { readTimelinePage } from './timeline-page.ts'
import { indexCalls } from './turns/mark-findings.ts'
import { extentOf } from './window/read-rows.ts'
import { windowDefaults } from './window/task-window.ts'

/**
 * GET /api/v1/tasks/{task_id}/timeline: the calls, tools and state changes of a task, in order. A
 * tool call is joined with a result of a later page, and a call that is recorded late counts in the
 * running totals of all later pages. A large task is read around the page only.
 */
export function getTaskTimeline(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/timeline',
    id: 'getTaskTimeline',
    summary: 'Timeline of a task, with running totals',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: querySchema,
    reply: replySchema,
    errors: ['task_not_found', 'invalid_cursor'],
    handle: async ({ params, query, caller, signal }) => {
      const task = await taskNamed(deps, caller.project_id, params.task_id)
      const { task_id } = task
      const after =
        query.cursor === undefined ? undefined : pageEndIn(listOf(task_id), query.cursor)
      const stored = await findTaskEvents(deps.db, task.project_id, task_id, events_max)
      const events = stored.map((event) => createdWithTask(event, task))
      const limits = { ...windowDefaults, ...deps.settings?.windows }
      const page = await readTimelinePage(
        { store: deps.store, limits, signal },
        { task: extentOf(task), events },
        { ...query, after, text_length_max: maxTextLength },
      )
      const { totals, total, is_exact, end } = page
      const marks = indexMarks(await findingsOf(deps.db, task))
      const entries = markEntries(page.entries, page.run, marks)
      return {
        task_id,
        entries,
        totals,
        total,
        ...(is_exact ? {} : { total_is_exact: false as const }),
        next_cursor: end === undefined ? null : cursorAfter(listOf(task_id), end),
      }
    },
  })
}

function listOf(task_id: string): string {
  return `timeline of ${task_id}`
}

const defaultGapMs = 5_000
const dayMs = 86_400_000

const querySchema = z.strictObject({
  role: z
    .string()
    .transform((text, context): TimelineRole[] => {
      const roles = text.split(',')
      if (roles.every(isRole)) return roles
      const valid = `roles of ${timelineRoles.join(', ')}, separated by commas`
      context.addIssue({ code: 'custom', message: expected(valid)({ input: text }) })
      return z.NEVER
    })
    .optional()
    .describe(`Only entries with these roles: ${timelineRoles.join(', ')}; separated by commas.`),
  gap_min_ms: integerParameter({
    minimum: 1,
    maximum: dayMs,
    default: defaultGapMs,
    description: 'Least idle time, in milliseconds, that `gap_ms` reports.',
  }),
  limit: limitParameter,
  cursor: cursorParameter,
})

const replySchema = record('TaskTimeline', {
  task_id: z.string().describe('The task.'),
  entries: z.array(timelineEntrySchema).describe('The page, in order.'),
  totals: runningTotalsSchema.describe('Sums over the whole timeline.'),
  total: z.int().nonnegative().describe('Entries with the requested roles.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe(
      `\`false\`: the task has more than ${windowDefaults.whole_rows_max} observations. \`total\` and ` +
        'the tool calls in `totals` are estimated; other sums are those of the task.',
    ),
  next_cursor: z
    .string()
    .nullable()
    .describe(
      'Cursor of the next page; null on the last one. With `role`, a page of a large task may have ' +
        'fewer entries than `limit`, or none, before the last one.',
    ),
})

function isRole(text: string): text is TimelineRole {
  return timelineRoles.some((role) => role === text)
}

/** Events of a task that are read. A task has up to three, plus one for each late call. */
const events_max = 1000
const maxTextLength = 2000

/**
 * Moves the `created` event to the start of the task. The event has the start of the batch that was
 * stored first, and a batch with earlier calls may be stored later.
 */
function createdWithTask(event: TaskEventRow, { started_at }: TaskRow): TaskEventRow {
  const isLater = Date.parse(event.at) > Date.parse(started_at)
  return event.kind === 'created' && isLater ? { ...event, at: started_at } : event
}

/**
 * Adds steps and findings to entries of a timeline. The step of a tool's call or result is the one
 * that requested it. Steps are null where `run` is undefined: a part of a task numbers its own.
 */
function markEntries(
  entries: readonly TimelineEntry[],
  run: TaskRun | undefined,
  marksAt: MarksAt,
): MarkedEntry[] {
  const calls = run && indexCalls(run)
  return entries.map((entry) => {
    if (entry.role === 'operation' || entry.role === 'state_change') return entry
    const asked = entry.role === 'tool_result' ? requestOf(entry) : entry
    const step = run?.calls[calls?.get(spanKey(asked)) ?? -1]?.step ?? null
    const place = entry.role === 'tool_result' && entry.execution_ms !== null ? entry : asked
    return { ...entry, step, step_number: toStepNumber(step), findings: marksAt(place).findings }
  })
}

function requestOf(entry: Extract<TimelineEntry, { role: 'tool_result' }>): Place {
  const { call_trace_id, call_observation_id } = entry
  if (call_trace_id === null || call_observation_id === null) return entry
  return { trace_id: call_trace_id, observation_id: call_observation_id }
}
