import { z } from 'zod'
import { isoFromNs } from '../../kernel/time.ts'
import {
  cursorParameter,
  expected,
  flagParameter,
  limitParameter,
  textParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { traceIdSchema } from '../../model/observation.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import {
  findingsOf,
  indexMarks,
  type MarksAt,
  markFields,
  toStepNumber,
} from '../detection/index.ts'
import type { TaskRun, ToolUse } from '../detection/reconstruction/index.ts'
import { instantSchema, type TaskDeps, taskNamed, taskPath } from './task.ts'
import { cursorAfter, pageEndIn, toolSourceSchema } from './timeline-entry.ts'
import { type Numbers, readToolCallPage, sortUses } from './tool-call-page.ts'
import { extentOf } from './window/read-rows.ts'
import { windowDefaults } from './window/task-window.ts'

/**
 * GET /api/v1/tasks/{task_id}/tool-calls: a task's tool calls, each joined with its result, which
 * comes from a later model request or from an observation of the tool itself.
 */
export function getTaskToolCalls(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/tool-calls',
    id: 'getTaskToolCalls',
    summary: 'Tool calls of a task with their results, and statistics by tool',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: querySchema,
    reply: replySchema,
    errors: ['task_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params, query, caller, signal }) => {
      const task = await taskNamed(deps, caller.project_id, params.task_id)
      const { task_id } = task
      const after =
        query.cursor === undefined ? undefined : pageEndIn(listOf(task_id), query.cursor)
      const limits = { ...windowDefaults, ...deps.settings?.windows }
      const page = await readToolCallPage({ store: deps.store, limits, signal }, extentOf(task), {
        after,
        limit: query.limit,
        matches: (use) => matches(use, query),
      })
      const { run, uses, end, all, is_exact, numbers } = page
      const marksAt = indexMarks(await findingsOf(deps.db, task))
      return {
        task_id,
        content: run.content,
        tool_calls: uses.map((use) => toToolCall(run, use, { numbers, marksAt })),
        tools: toolSums(is_exact ? all : uses),
        total: page.total,
        ...(is_exact ? {} : { total_is_exact: false as const }),
        left_out: [...run.left_out],
        next_cursor: end === undefined ? null : cursorAfter(listOf(task_id), end),
      }
    },
  })
}

const querySchema = z.strictObject({
  tool: textParameter('Only calls of this tool.'),
  failed: flagParameter('`true`: only failed calls, outages included; `false`: only the others.'),
  orphan: z
    .enum(['call', 'result', 'any', 'none'], { error: expected('call, result, any or none') })
    .optional()
    .describe('Only calls without a result, results without a call, either, or neither.'),
  limit: limitParameter,
  cursor: cursorParameter,
})

const textSchema = z
  .strictObject({
    text: z.string(),
    is_cut: z.boolean().describe('The text was cut; the observation has the whole text.'),
  })
  .meta({ id: 'CutText' })
  .nullable()

const ms = z.number().nonnegative()

const count = z.int().nonnegative()

/** The ids of an observation. */
export const referenceSchema = record('ObservationReference', {
  trace_id: traceIdSchema,
  observation_id: z.string(),
})

/** How much of the content of calls was recorded. */
export const recordedContentSchema = z
  .enum(['full', 'partial', 'none'])
  .meta({ id: 'RecordedContent' })

/** How a tool call failed. */
export const toolFaultSchema = z.enum(['error', 'outage']).meta({ id: 'ToolFault' })

/** Which end of a tool call is missing. */
export const toolOrphanSchema = z.enum(['call', 'result']).meta({ id: 'ToolOrphan' })

/** One tool call, with its result. */
const toolCallSchema = record('ToolCall', {
  tool_call_id: z
    .string()
    .describe('The id that the model or the client gave; empty when neither did.'),
  name: z.string().describe('The tool; empty for a result whose call was not recorded.'),
  arguments: textSchema.describe('The arguments as the model wrote them; null when unknown.'),
  arguments_valid: z.boolean().describe('`false`: the arguments are not valid JSON.'),
  answered: z.boolean().describe('Whether a result came, or the tool is known to have run.'),
  result: textSchema.describe('The result; null when none came or its content is unknown.'),
  error: toolFaultSchema
    .nullable()
    .describe(
      '`outage`: a dependency of the tool did not answer (429, 5xx, time-outs, connections); ' +
        '`error`: the tool failed otherwise; null: it succeeded, or its outcome is unknown.',
    ),
  latency_ms: ms
    .nullable()
    .describe('Time since the end of the requesting call, or the start of the tool’s observation.'),
  orphan: toolOrphanSchema
    .nullable()
    .describe('`call`: no result came; `result`: no call requested it; null: neither.'),
  read_from: toolSourceSchema,
  step: count.nullable().describe('Index of the requesting step, from 0; null when not recorded.'),
  step_number: markFields.step_number,
  findings: markFields.findings,
  thread: count.describe(
    'Number of the thread of the history, from 0; branches have further threads.',
  ),
  agent_name: z.string().describe('The agent of that thread; empty when it has no name.'),
  asked_at: instantSchema,
  answered_at: instantSchema.nullable(),
  asked_by: referenceSchema.describe('The requesting observation.'),
  answered_by: referenceSchema
    .nullable()
    .describe('The tool’s own observation, else the model call that first brought the result.'),
})

/** Statistics of one tool in a task. */
const toolSumSchema = record('ToolUsage', {
  name: z.string(),
  calls: count,
  answered: count,
  errors: count.describe('Failed calls other than outages.'),
  outages: count,
  orphans: count.describe('Calls without a result, and results without a call.'),
  error_rate: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Share of errors and outages among the answered calls; null without answers.'),
  latency_ms: ms.nullable().describe('Median latency of the calls whose latency is known.'),
})

const maxToolSums = 200

const replySchema = record('TaskToolCallList', {
  task_id: z.string().describe('The task.'),
  content: recordedContentSchema.describe(
    'How much of the content was recorded. Names and times are known without it.',
  ),
  tool_calls: z.array(toolCallSchema).describe('The page, in the order of the requests.'),
  tools: z
    .array(toolSumSchema)
    .describe(
      `Statistics of each tool, independent of the filters; at most ${maxToolSums} tools. Where ` +
        '`total_is_exact` is `false`, those of the page.',
    ),
  total: z.int().nonnegative().describe('Tool calls that match the filters.'),
  total_is_exact: z
    .literal(false)
    .optional()
    .describe(
      `\`false\`: the task has more than ${windowDefaults.whole_rows_max} observations. \`total\` is ` +
        'an estimate.',
    ),
  left_out: z
    .array(z.string())
    .describe('Sentences that name the parts of a large task left out by limits.'),
  next_cursor: z
    .string()
    .nullable()
    .describe(
      'Cursor of the next page; null on the last one. With filters, a page of a large task may have ' +
        'fewer tool calls than `limit`, or none, before the last one.',
    ),
})
type Query = z.output<typeof querySchema>

function matches(use: ToolUse, { tool, failed, orphan }: Query): boolean {
  if (tool !== undefined && use.name !== tool) return false
  if (failed !== undefined && failed !== (use.fault !== null)) return false
  if (orphan === undefined) return true
  if (orphan === 'any') return use.orphan !== null
  return use.orphan === (orphan === 'none' ? null : orphan)
}

function listOf(task_id: string): string {
  return `tool calls of ${task_id}`
}

/** Characters of arguments and results in an answer. */
const maxToolTextChars = 4_000

/** Returns all tool calls of a run as the API shows them, in order. */
export function toolCallsOf(run: TaskRun): z.input<typeof toolCallSchema>[] {
  return sortUses(run.tools).map(({ use }) => toToolCall(run, use, { marksAt: indexMarks([]) }))
}

/** Shapes a tool use for a reply. */
function toToolCall(
  run: TaskRun,
  use: ToolUse,
  { numbers, marksAt }: { numbers?: Numbers; marksAt: MarksAt },
): z.input<typeof toolCallSchema> {
  const step = use.step === null ? null : use.step + (numbers?.step_offset ?? 0)
  return {
    tool_call_id: use.tool_call_id,
    name: use.name,
    arguments: toCutText(use.arguments),
    arguments_valid: !use.arguments_broken,
    answered: use.is_answered,
    result: toCutText(use.result),
    error: use.fault,
    latency_ms: use.latency_ms,
    orphan: use.orphan,
    read_from: use.read_from ?? 'call',
    step,
    step_number: toStepNumber(step),
    findings: marksAt(use.asked_by).findings,
    thread: numbers?.threads[use.thread] ?? use.thread,
    agent_name: run.threads[use.thread]?.agent_name ?? '',
    asked_at: isoFromNs(use.asked_at),
    answered_at: use.answered_at === null ? null : isoFromNs(use.answered_at),
    asked_by: use.asked_by,
    answered_by: use.answered_by,
  }
}

function toCutText(text: string | null): z.input<typeof textSchema> {
  if (text === null) return null
  const is_cut = text.length > maxToolTextChars
  return { text: is_cut ? text.slice(0, maxToolTextChars).toWellFormed() : text, is_cut }
}

/** Returns statistics by tool, the most used tools first; at most `maxToolSums`. */
function toolSums(tools: readonly ToolUse[]): z.input<typeof toolSumSchema>[] {
  const sums = [...Map.groupBy(tools, ({ name }) => name)].map(([name, uses]) => sumOf(name, uses))
  const byUse = sums.toSorted((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1))
  return byUse.slice(0, maxToolSums)
}

function sumOf(name: string, uses: readonly ToolUse[]): z.input<typeof toolSumSchema> {
  const times = (is: (use: ToolUse) => boolean) => uses.filter(is).length
  const answered = times(({ is_answered }) => is_answered)
  const errors = times(({ fault }) => fault === 'error')
  const outages = times(({ fault }) => fault === 'outage')
  return {
    name,
    calls: uses.length,
    answered,
    errors,
    outages,
    orphans: times(({ orphan }) => orphan !== null),
    error_rate: answered === 0 ? null : (errors + outages) / answered,
    latency_ms: medianOf(uses.flatMap(({ latency_ms }) => latency_ms ?? [])),
  }
}

function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}
