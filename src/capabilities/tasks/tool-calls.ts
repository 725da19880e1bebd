import { z } from 'zod'
import {
  cursorParameter,
  expected,
  flagParameter,
  limitParameter,
  textParameter,
} from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { readTaskRun } from '../detection/index.ts'
import type { ToolUse } from '../detection/reconstruction/index.ts'
import { runAbout } from './read-timeline.ts'
import type { TaskDeps } from './task-deps.ts'
import { taskNamed } from './task-lookup.ts'
import { taskPath } from './task-record.ts'
import { comparePositions, cursorAfter, positionIn } from './timeline-position.ts'
import {
  shownToolCall,
  toolCallSchema,
  toolSumSchema,
  toolSums,
  toolSums_max,
  usesInOrder,
} from './tool-calls-record.ts'

/**
 * GET /api/v1/tasks/{task_id}/tool-calls: the tools that a task used, each call joined with its
 * result wherever that was told: in a later request, or by an observation of the tool's own.
 */
export function getTaskToolCalls(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/tool-calls',
    id: 'getTaskToolCalls',
    summary: 'Tool calls of a task with their results, and how each tool did',
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
        query.cursor === undefined ? undefined : positionIn(listOf(task_id), query.cursor)
      const run = await readTaskRun(deps.store, runAbout(task), signal)
      const wanted = usesInOrder(run.tools).filter(({ use }) => isWanted(use, query))
      const behind =
        after === undefined
          ? wanted
          : wanted.filter((one) => comparePositions(one.position, after) > 0)
      const page = behind.slice(0, query.limit)
      const last = behind.length > page.length ? page.at(-1) : undefined
      return {
        task_id,
        content: run.content,
        tool_calls: page.map(({ use }) => shownToolCall(run, use)),
        tools: toolSums(run.tools),
        total: wanted.length,
        left_out: [...run.left_out],
        next_cursor: last ? cursorAfter(listOf(task_id), last.position) : null,
      }
    },
  })
}

const querySchema = z.strictObject({
  tool: textParameter('Only calls of this tool.'),
  failed: flagParameter('`true`: only those that failed, outages included; `false`: the others.'),
  orphan: z
    .enum(['call', 'result', 'any', 'none'], { error: expected('call, result, any or none') })
    .optional()
    .describe('Only calls without a result, results without a call, either, or neither.'),
  limit: limitParameter,
  cursor: cursorParameter,
})

const replySchema = record('TaskToolCallList', {
  task_id: z.string().describe('The task.'),
  content: z
    .enum(['full', 'partial', 'none'])
    .describe('How much of what was said is known: without it there are names and times.'),
  tool_calls: z.array(toolCallSchema).describe('The page, in the order asked.'),
  tools: z
    .array(toolSumSchema)
    .describe(`Each tool of the task, whatever the filters; at most ${toolSums_max}.`),
  total: z.int().nonnegative().describe('Tool calls that the filters let through.'),
  left_out: z.array(z.string()).describe('What a bound left out of a large task, in words.'),
  next_cursor: z.string().nullable().describe('For the next page; null on the last one.'),
})

type Query = z.output<typeof querySchema>

function isWanted(use: ToolUse, { tool, failed, orphan }: Query): boolean {
  if (tool !== undefined && use.name !== tool) return false
  if (failed !== undefined && failed !== (use.fault !== null)) return false
  if (orphan === undefined) return true
  if (orphan === 'any') return use.orphan !== null
  return use.orphan === (orphan === 'none' ? null : orphan)
}

function listOf(task_id: string): string {
  return `tool calls of ${task_id}`
}
