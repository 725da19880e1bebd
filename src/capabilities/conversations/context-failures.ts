import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { traceIdSchema } from '../../model/observation.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { type Finding, severities } from '../detection/index.ts'
import { instantSchema, type TaskDeps } from '../tasks/index.ts'
import { checkedTasks_max, contextOfConversation } from './conversation-context.ts'
import { conversationNamed, conversationPath } from './conversation-record.ts'

/**
 * GET /api/v1/conversations/{conversation_id}/context-failures: looks for lost context in each task
 * of the conversation and answers all that it found.
 */
export function listContextFailures(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/conversations/{conversation_id}/context-failures',
    id: 'listContextFailures',
    summary: 'Where a conversation lost its context',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: conversationPath,
    reply: replySchema,
    errors: ['conversation_not_found', 'store_unavailable', 'overloaded'],
    handle: async ({ params, caller: { project_id }, signal }) => {
      const { conversation_id } = await conversationNamed(deps, project_id, params.conversation_id)
      const about = { project_id, conversation_id }
      const { tasks, tasks_not_checked } = await contextOfConversation(deps, about, signal)
      const found = tasks.flatMap(({ findings }) => findings.filter(isFailure))
      return {
        conversation_id,
        total_failures: found.length,
        failures: found.slice(0, failures_max).map(failureFrom),
        ...(tasks_not_checked > 0 && { tasks_not_checked }),
      }
    },
  })
}

/** Failures shown; `total_failures` counts all. */
const failures_max = 1000

const failureSchema = z
  .strictObject({
    type: z.string().describe('Such as `lost_context`.'),
    failure_type: z.string().describe('The same as `type`.'),
    severity: z.enum(severities).describe('How bad it is; less when the task got over it.'),
    description: z.string().describe('One sentence, made of the evidence.'),
    task_id: z.string().describe('The task in which it shows.'),
    trace_id: traceIdSchema.describe('The trace in which it shows first.'),
    original_context: z.string().describe('What was said, or what there was to keep.'),
    violation: z.string().describe('What the agent did or said against it.'),
    original_trace_id: traceIdSchema.describe('The trace in which it was said.'),
    confidence: z.number().min(0).max(1).describe('How sure it is.'),
    detected_at: instantSchema.describe('When it was found first.'),
  })
  .meta({ id: 'ContextFailure' })

const replySchema = record('ContextFailureList', {
  conversation_id: z.uuid().describe('Its UUID.'),
  total_failures: z.int().nonnegative().describe('Failures in all of its tasks.'),
  failures: z
    .array(failureSchema)
    .describe(`In the order of tasks and steps; the first ${failures_max}.`),
  tasks_not_checked: z
    .int()
    .positive()
    .optional()
    .describe(`Tasks beyond the first ${checkedTasks_max}, when there are more.`),
})

/** What is only told for information, such as a summary by the client, is no failure. */
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
