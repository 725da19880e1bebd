import { z } from 'zod'
import {
  cursorParameter,
  expected,
  integerParameter,
  limitParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { readTaskRun, startSlack_ms } from '../detection/index.ts'
import type { ObservationStore, TaskPage, TimelineRow } from '../storage/index.ts'
import { createTimelineBuilder, type PlacedEntry } from './build-timeline.ts'
import { findTaskEvents, type TaskEventRow, type TaskRow } from './store.ts'
import { type TaskDeps, taskNamed, taskPath } from './task.ts'
import {
  comparePositions,
  cursorAfter,
  positionIn,
  runningTotalsSchema,
  type TimelineRole,
  timelineEntrySchema,
  timelineRoles,
} from './timeline-entry.ts'

/**
 * GET /api/v1/tasks/{task_id}/timeline: the calls, tools and state changes of a task, in order.
 * Every page is cut from the whole timeline, so that a tool call is joined with a result of a later
 * page, and a call that is recorded late counts in the running totals of all later pages.
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
      const valid = `roles of ${timelineRoles.join(', ')}, separated by commas`
      context.addIssue({ code: 'custom', message: expected(valid)({ input: text }) })
      return z.NEVER
    })
    .optional()
    .describe(`Only entries with these roles: ${timelineRoles.join(', ')}; separated by commas.`),
  gap_min_ms: integerParameter({
    minimum: 1,
    maximum: dayMs,
    default: defaultGap_ms,
    description: 'Least idle time, in milliseconds, that `gap_ms` reports.',
  }),
  limit: limitParameter,
  cursor: cursorParameter,
})

/** Observations of a task that its timeline covers: about 50 MB of memory per request. */
const timelineObservations_max = 10_000

const replySchema = record('TaskTimeline', {
  task_id: z.string().describe('The task.'),
  entries: z.array(timelineEntrySchema).describe('The page, in order.'),
  totals: runningTotalsSchema.describe('Sums over the whole timeline.'),
  total: z.int().nonnegative().describe('Entries with the requested roles.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe(
      `\`false\`: the task has more than ${timelineObservations_max} observations, and the ` +
        'timeline ends after them.',
    ),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
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

/** Events of a task that are read. A task has up to three, plus one for each late call. */
const events_max = 1000
const textLength_max = 2000

/**
 * Reads a task's whole timeline. The task's run, which joins tool calls with results, is read after
 * the rows, so that it covers all of them. `is_complete` is false when the task has more than
 * `timelineObservations_max` observations. Throws `store_unavailable`.
 */
async function readTimeline(
  { db, store }: Pick<TaskDeps, 'db' | 'store'>,
  task: TaskRow,
  { gap_min_ms, signal }: { gap_min_ms: number; signal: AbortSignal },
): Promise<{ entries: PlacedEntry[]; is_complete: boolean }> {
  const builder = createTimelineBuilder({ gap_min_ms, text_length_max: textLength_max })
  const stored = await findTaskEvents(db, task.project_id, task.task_id, events_max)
  const events = stored.map((event) => createdWithTask(event, task))
  let read = 0
  const finish = async (is_complete: boolean) => {
    const run = read === 0 ? { tools: [] } : await readTaskRun(store, runKeyOf(task), signal)
    return { entries: builder.finish(run, events), is_complete }
  }
  for await (const rows of portionsOf(store, task)) {
    const added = rows.slice(0, timelineObservations_max - read)
    builder.add(added)
    read += added.length
    if (added.length < rows.length) return finish(false)
    signal.throwIfAborted()
  }
  return finish(true)
}

/** Returns the fields of a task by which its run is read. */
export function runKeyOf({ project_id, task_id, conversation_id, started_at, calls }: TaskRow) {
  return { project_id, task_id, conversation_id: conversation_id ?? '', started_at, calls }
}

/**
 * Moves the `created` event to the start of the task. The event has the start of the batch that was
 * stored first, and a batch with earlier calls may be stored later.
 */
function createdWithTask(event: TaskEventRow, { started_at }: TaskRow): TaskEventRow {
  const isLater = Date.parse(event.at) > Date.parse(started_at)
  return event.kind === 'created' && isLater ? { ...event, at: started_at } : event
}

/**
 * Yields a task's rows in portions. The store reads all later rows again for each portion, so large
 * portions are quicker; but a row may carry many long tool results. The size of each portion
 * therefore follows from the text in the portion before.
 */
async function* portionsOf(store: ObservationStore, task: TaskRow): AsyncGenerator<TimelineRow[]> {
  const { project_id, task_id, started_at } = task
  const from = BigInt(Math.max(0, Date.parse(started_at) - startSlack_ms)) * 1_000_000n
  let page: TaskPage = { from, limit: portionRows_first }
  for (let read = 0; read <= timelineObservations_max; ) {
    const rows = await store.taskObservations(project_id, task_id, page)
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < page.limit) return
    const { start_time, observation_id } = last
    page = { from, after: { start_time, observation_id }, limit: rowsThatFit(rows) }
    read += rows.length
  }
}

const portionRows_first = 500
const portionRows_max = 5_000
const portionRows_min = 50

/** Approximate characters of text in a portion. */
const portionText_chars = 16 * 1024 * 1024

function rowsThatFit(rows: readonly TimelineRow[]): number {
  const chars = rows.reduce((sum, row) => sum + textOf(row), 0)
  const fit = Math.floor((portionText_chars * rows.length) / Math.max(1, chars))
  return Math.max(portionRows_min, Math.min(portionRows_max, fit))
}

function textOf({ tool_calls, tool_results, attributes }: TimelineRow): number {
  let chars = 0
  for (const call of tool_calls) chars += call.arguments.length
  for (const result of tool_results) chars += result.content.length
  for (const name in attributes) chars += attributes[name]?.length ?? 0
  return chars
}
