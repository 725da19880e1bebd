import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { severities } from '../detection/index.ts'
import { instantSchema, type TaskDeps } from '../tasks/index.ts'
import { contextScore } from './context-score.ts'
import { checkedTasks_max, contextOfConversation } from './conversation-context.ts'
import { conversationNamed, conversationPath } from './conversation-record.ts'

/**
 * GET /api/v1/conversations/{conversation_id}/context-health: one number for how well a
 * conversation kept its context, what made it, and the same for each of its tasks.
 */
export function getContextHealth(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/conversations/{conversation_id}/context-health',
    id: 'getContextHealth',
    summary: 'How well a conversation kept its context',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: conversationPath,
    reply: replySchema,
    errors: ['conversation_not_found', 'store_unavailable', 'overloaded'],
    handle: async ({ params, caller: { project_id }, signal }) => {
      const { conversation_id } = await conversationNamed(deps, project_id, params.conversation_id)
      const about = { project_id, conversation_id }
      const { tasks, tasks_not_checked } = await contextOfConversation(deps, about, signal)
      const turns = tasks.reduce((sum, { task }) => sum + task.calls, 0)
      const whole = contextScore(
        tasks.flatMap(({ findings }) => findings),
        turns,
      )
      return {
        conversation_id,
        turns,
        ...whole,
        parts: whole.parts.slice(0, parts_max),
        tasks: tasks.map(({ task, findings }) => {
          const { score, window_fill, parts } = contextScore(findings, task.calls)
          const { task_id, started_at, calls } = task
          return { task_id, started_at, turns: calls, score, window_fill, findings: parts.length }
        }),
        ...(tasks_not_checked > 0 && { tasks_not_checked }),
      }
    },
  })
}

/** Findings shown as parts of the score; the score counts all. */
const parts_max = 1000

const count = z.int().nonnegative()
const score = z
  .number()
  .min(0)
  .max(1)
  .nullable()
  .describe('1: nothing was lost. null under two model calls, in which nothing can be lost.')
const window_fill = z
  .number()
  .nonnegative()
  .nullable()
  .describe('The fullest that a model’s window was; null when none was near to full.')

const partSchema = record('ContextHealthPart', {
  finding_id: z.uuid().describe('The finding that it is of.'),
  task_id: z.string(),
  type: z.string().describe('Such as `lost_context`.'),
  severity: z.enum(severities),
  confidence: z.number().min(0).max(1),
  weight: z.number().min(0).max(1).describe('How much its type weighs.'),
  factor: z
    .number()
    .min(0)
    .max(1)
    .describe('1 − weight · severity · confidence, which the score is multiplied by.'),
})

const replySchema = z
  .strictObject({
    conversation_id: z.uuid().describe('Its UUID.'),
    turns: count.describe('Model calls of its tasks.'),
    score,
    parts: z.array(partSchema).describe(`What made the score; the first ${parts_max}.`),
    window_fill,
    window_penalty: z
      .number()
      .min(0)
      .max(0.2)
      .describe('What a window more than 0.8 full takes from the score.'),
    tasks: z
      .array(
        record('TaskContextHealth', {
          task_id: z.string(),
          started_at: instantSchema,
          turns: count.describe('Model calls of the task.'),
          score,
          window_fill,
          findings: count.describe('Findings that count in its score.'),
        }),
      )
      .describe('The same for each task, in the order in which they began.'),
    tasks_not_checked: z
      .int()
      .positive()
      .optional()
      .describe(`Tasks beyond the first ${checkedTasks_max}, when there are more.`),
  })
  .meta({ id: 'ContextHealth' })
