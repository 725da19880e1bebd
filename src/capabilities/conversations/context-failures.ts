import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { traceIdSchema } from '../../model/observation.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { analyseNow, type Finding, severities } from '../detection/index.ts'
import { instantSchema, type Task, type TaskDeps, tasksOfConversation } from '../tasks/index.ts'
import { conversationNamed, conversationPath } from './conversations.ts'

/**
 * GET /api/v1/conversations/{conversation_id}/context-failures: analyses the context of each task
 * of the conversation and returns the findings.
 */
export function listContextFailures(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/conversations/{conversation_id}/context-failures',
    id: 'listContextFailures',
    summary: 'Context failures of a conversation',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: conversationPath,
    reply: replySchema,
    errors: ['conversation_not_found', 'store_unavailable', 'overloaded'],
    handle: async ({ params, caller: { project_id }, signal }) => {
      const { conversation_id } = await conversationNamed(deps, project_id, params.conversation_id)
      const which = { project_id, conversation_id }
      const { tasks, tasks_not_checked } = await readConversationContext(deps, which, signal)
      const failures = tasks.flatMap(({ findings }) => findings.filter(isFailure))
      return {
        conversation_id,
        total_failures: failures.length,
        failures: failures.slice(0, failures_max).map(failureFrom),
        ...(tasks_not_checked > 0 && { tasks_not_checked }),
      }
    },
  })
}

/** Most failures in a reply; `total_failures` counts all. */
const failures_max = 1000

const failureSchema = z
  .strictObject({
    type: z.string().describe('Such as `lost_context`.'),
    failure_type: z.string().describe('The same as `type`.'),
    severity: z.enum(severities).describe('Severity; lower when the task has recovered from it.'),
    description: z.string().describe('One sentence that sums up the evidence.'),
    task_id: z.string().describe('The task in which the failure occurs.'),
    trace_id: traceIdSchema.describe('The trace in which the failure first occurs.'),
    original_context: z.string().describe('The statement or content that should have been kept.'),
    violation: z.string().describe('The action or statement of the agent that contradicts it.'),
    original_trace_id: traceIdSchema.describe('The trace of the original context.'),
    confidence: z.number().min(0).max(1).describe('Confidence, 0 to 1.'),
    detected_at: instantSchema.describe('Time of the first detection.'),
  })
  .meta({ id: 'ContextFailure' })

/** Most tasks of a conversation that one request checks, the earliest first. */
export const maxCheckedTasks = 200

const replySchema = record('ContextFailureList', {
  conversation_id: z.uuid().describe('Its UUID.'),
  total_failures: z.int().nonnegative().describe('Failures in all checked tasks.'),
  failures: z
    .array(failureSchema)
    .describe(`The first ${failures_max} failures, in the order of tasks and steps.`),
  tasks_not_checked: z
    .int()
    .positive()
    .optional()
    .describe(`Number of tasks beyond the first ${maxCheckedTasks}, which are not checked.`),
})

/** Findings of severity `info`, such as a summary by the client, are not failures. */
function isFailure({ severity }: Finding): boolean {
  return severity !== 'info'
}

function failureFrom(finding: Finding): z.input<typeof failureSchema> {
  const { type, severity, summary, task_id, places, evidence, confidence } = finding
  const trace_id = places[0]?.trace_id ?? ''
  return {
    type,
    failure_type: type,
    severity,
    description: summary,
    task_id,
    trace_id,
    original_context: textIn(evidence, 'original_context'),
    violation: textIn(evidence, 'violation') || summary,
    original_trace_id: textIn(evidence, 'original_trace_id') || trace_id,
    confidence,
    detected_at: finding.first_detected_at,
  }
}

function textIn(evidence: Finding['evidence'], key: string): string {
  const value = evidence[key]
  return typeof value === 'string' ? value : ''
}

/** One task of a conversation with its context findings, in the order in which they began. */
type TaskContext = { task: Task; findings: Finding[] }

type ConversationContext = {
  tasks: TaskContext[]
  /** Number of tasks beyond `maxCheckedTasks`, which were not checked. */
  tasks_not_checked: number
}

/**
 * Detects lost context in each task of a conversation, in the order in which they began, because a
 * task is judged by the content of earlier ones. A task that is unchanged since its last detection
 * costs one read. Rejects with `store_unavailable` and `overloaded`.
 */
export async function readConversationContext(
  deps: TaskDeps,
  { project_id, conversation_id }: { project_id: string; conversation_id: string },
  signal: AbortSignal,
): Promise<ConversationContext> {
  const first = await tasksOfConversation(deps, project_id, conversation_id, maxCheckedTasks)
  const tasks: TaskContext[] = []
  for (const task of first.tasks) {
    signal.throwIfAborted()
    const { findings } = await analyseNow(deps, { project_id, task_id: task.task_id }, { signal })
    tasks.push({ task, findings: findings.filter(({ kind }) => kind === 'context') })
  }
  const { running, completed, failed } = first.states
  const total = running + completed + failed
  return { tasks, tasks_not_checked: Math.max(0, total - tasks.length) }
}
