import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { type Finding, severities } from '../detection/index.ts'
import { instantSchema, type TaskDeps } from '../tasks/index.ts'
import { maxCheckedTasks, readConversationContext } from './context-failures.ts'
import { conversationNamed, conversationPath } from './conversations.ts'

/**
 * GET /api/v1/conversations/{conversation_id}/context-health: a score for how well a conversation
 * kept its context, the findings that lower it, and the score of each task.
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
      const which = { project_id, conversation_id }
      const { tasks, tasks_not_checked } = await readConversationContext(deps, which, signal)
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

/** Most parts in a reply; the score counts all. */
const parts_max = 1000
const count = z.int().nonnegative()
const score = z
  .number()
  .min(0)
  .max(1)
  .nullable()
  .describe('Score from 0 to 1 (nothing was lost); null with fewer than two model calls.')
const window_fill = z
  .number()
  .nonnegative()
  .nullable()
  .describe('Largest fill of a model’s context window, 1 is full; null when none was nearly full.')

const partSchema = record('ContextHealthPart', {
  finding_id: z.uuid().describe('The finding.'),
  task_id: z.string(),
  type: z.string().describe('Such as `lost_context`.'),
  severity: z.enum(severities),
  confidence: z.number().min(0).max(1),
  weight: z.number().min(0).max(1).describe('Weight of its type.'),
  factor: z
    .number()
    .min(0)
    .max(1)
    .describe('1 − weight · severity · confidence; the score is the product of all factors.'),
})

const replySchema = z
  .strictObject({
    conversation_id: z.uuid().describe('Its UUID.'),
    turns: count.describe('Model calls of its tasks.'),
    score,
    parts: z.array(partSchema).describe(`Findings that lower the score; the first ${parts_max}.`),
    window_fill,
    window_penalty: z
      .number()
      .min(0)
      .max(0.2)
      .describe('Deduction for a context window that was more than 0.8 full.'),
    tasks: z
      .array(
        record('TaskContextHealth', {
          task_id: z.string(),
          started_at: instantSchema,
          turns: count.describe('Model calls of the task.'),
          score,
          window_fill,
          findings: count.describe('Number of findings that lower its score.'),
        }),
      )
      .describe('Score of each task, in the order in which they began.'),
    tasks_not_checked: z
      .int()
      .positive()
      .optional()
      .describe(`Number of tasks beyond the first ${maxCheckedTasks}, which are not checked.`),
  })
  .meta({ id: 'ContextHealth' })

/** Effect of one finding: the score is multiplied by `factor`. */
type ScorePart = {
  finding_id: string
  task_id: string
  type: string
  severity: Finding['severity']
  confidence: number
  weight: number
  factor: number
}

type ContextScore = {
  /** 0..1; null with fewer than two turns, because a single turn can lose nothing. */
  score: number | null
  parts: ScorePart[]
  /** Largest fill of a model's context window, from 0; null when no window was nearly full. */
  window_fill: number | null
  /** Deduction for a full window, at most 0.2. */
  window_penalty: number
}

/**
 * Computes how well a conversation kept its context: Π(1 − weight · severity · confidence) over its
 * findings, less up to 0.2 for a window that is more than 0.8 full. `info` findings do not count.
 */
export function contextScore(findings: readonly Finding[], turns: number): ContextScore {
  const parts = findings.flatMap(partOf)
  const fills = findings.flatMap(({ type, evidence }) => {
    const fill = type === 'context_overflow' ? evidence['fill'] : undefined
    return typeof fill === 'number' ? [fill] : []
  })
  const window_fill = fills.length === 0 ? null : Math.max(...fills)
  const window_penalty = rounded(Math.min(penalty_max, Math.max(0, (window_fill ?? 0) - fill_from)))
  const product = parts.reduce((score, { factor }) => score * factor, 1)
  const score = turns < turns_min ? null : rounded(Math.max(0, product - window_penalty))
  return { score, parts, window_fill, window_penalty }
}

const turns_min = 2
const fill_from = 0.8
const penalty_max = 0.2

/**
 * Share of the score that a critical, certain finding of each type costs. Failures that mislead the
 * user most weigh most; risks, such as a full window, weigh least.
 */
export const contextWeights: Readonly<Record<string, number>> = {
  contradicted_fact: 0.7,
  lost_context: 0.6,
  conversation_reset: 0.5,
  repeated_question: 0.4,
  context_truncated: 0.3,
  context_overflow: 0.3,
}

/** Share of the weight that a finding of each severity costs. */
export const severityShares: Readonly<Record<Finding['severity'], number>> = {
  info: 0,
  low: 0.25,
  medium: 0.5,
  high: 0.75,
  critical: 1,
}

function partOf(finding: Finding): ScorePart[] {
  const { finding_id, task_id, type, severity, confidence } = finding
  const weight = contextWeights[type] ?? 0
  const share = weight * severityShares[severity] * confidence
  if (share === 0) return []
  return [{ finding_id, task_id, type, severity, confidence, weight, factor: rounded(1 - share) }]
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
