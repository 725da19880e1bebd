import { z } from 'zod'
import { traceIdFrom } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import { expected, isStorable } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { stalledAfterMs, taskRuleOf, taskRuleSchema } from '../../model/task-rules.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { Kysely, TaskTables } from '../../platform/relational/index.ts'
import type { ContextJudge, DetectionDb } from '../detection/index.ts'
import type { ObservationStore } from '../storage/index.ts'
import { callSumFields, callSumsFrom } from './call-sums.ts'
import { type CallReads, findJoinedTask, readJoinedTask } from './joined-task.ts'
import { verificationStates } from './list-store.ts'
import { findTask, type TaskRow, taskStates } from './store.ts'
import { taskVerdictFrom, taskVerdictSchema } from './task-verdict.ts'
import type { WindowLimits } from './window/task-window.ts'

/** GET /api/v1/tasks/{task_id}: one task, with the sums over its calls. */
export function getTask(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}',
    id: 'getTask',
    summary: 'One task: state, times, calls, tokens, cost',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    reply: taskSchema,
    errors: ['task_not_found'],
    handle: async ({ params, caller }) => {
      const row = await taskNamed(deps, caller.project_id, params.task_id)
      return taskFrom(row, deps.clock.now_ms())
    },
  })
}

/** Dependencies of the routes of tasks and conversations. */
export type TaskDeps = {
  db: DetectionDb
  store: ObservationStore
  clock: Clock
  settings?: TaskSettings
  /** A model that judges context when a client forces a detection. */
  judge?: ContextJudge | undefined
}

export type TaskSettings = {
  /**
   * How long complete and fail wait for a task that the worker has not written yet. Default 2,000,
   * the time within which every call is to be readable.
   */
  arrival_wait_ms?: number
  /** How much of a large task a page reads. */
  windows?: Partial<WindowLimits>
}

/**
 * Returns the project's task by the id in a path: the client's own string or, for an implicit task,
 * the trace id of one of its calls in either spelling. Throws `task_not_found`, also for a task of
 * another project. Without `store`, only the traces of the last one to two days are known.
 */
export async function taskNamed(
  { db, store }: { db: Kysely<TaskTables>; store?: CallReads },
  projectId: string,
  taskId: string,
): Promise<TaskRow> {
  const row = await taskIfAny({ db }, projectId, taskId)
  if (row !== undefined) return row
  const traceId = traceIdFrom(taskId)
  const joined = traceId && store && (await readJoinedTask(store, projectId, traceId))
  const older = joined ? await findTask(db, projectId, [joined]) : undefined
  if (older === undefined) throw taskNotFound(taskId)
  return older
}

/** Like `taskNamed`, but returns undefined for an unknown task, and for old traces of a task. */
export async function taskIfAny(
  { db }: { db: Kysely<TaskTables> },
  projectId: string,
  taskId: string,
): Promise<TaskRow | undefined> {
  const traceId = traceIdFrom(taskId)
  const row = await findTask(db, projectId, traceId ? [taskId, traceId] : [taskId])
  if (row !== undefined) return row.task_id === taskId || row.implicit ? row : undefined
  if (traceId === undefined) return undefined
  const joined = await findJoinedTask(db, projectId, traceId)
  return joined === undefined ? undefined : findTask(db, projectId, [joined])
}

/** Returns the error for a task that the project does not have. */
export function taskNotFound(taskId: string) {
  return problem('task_not_found', {
    detail: `task_id: got "${taskId}", which is no task of this project`,
  })
}

/** Path parameter of one task: the client's own id, percent-encoded in the URL. */
export const taskPath = z.strictObject({
  task_id: z
    .string()
    .min(1, { error: expected('1 to 256 characters') })
    .max(256, { error: expected('at most 256 characters') })
    .refine(isStorable, { error: expected('text without U+0000') })
    .describe("The client's X-Task-ID, or the trace id of a call without X-Task-ID."),
})

const count = z.int().nonnegative()

/** An instant in replies. */
export const instantSchema = z.iso.datetime({ offset: false })

/** Votes of end users on a task. */
const taskFeedbackSchema = record('TaskFeedback', {
  positive: count.describe('Users whose vote is positive.'),
  negative: count.describe('Users whose vote is negative.'),
  last_at: z.iso.datetime({ offset: false }).describe('Time of the latest item of any source.'),
})

/** Shapes the votes of a stored task for a reply; null without feedback. */
function taskFeedbackFrom({
  feedback_positive: positive,
  feedback_negative: negative,
  feedback_last_at: last_at,
}: TaskRow): z.infer<typeof taskFeedbackSchema> | null {
  if (positive === null || negative === null || last_at === null) return null
  return { positive, negative, last_at }
}

/** A task in replies. */
export const taskSchema = z
  .strictObject({
    task_id: z
      .string()
      .describe(
        "The client's X-Task-ID; when `implicit`, the trace id, or an id that begins with `task_rule`.",
      ),
    task_rule: taskRuleSchema
      .nullable()
      .describe(
        'Rule that found the task from what the client sent; null for the task of an X-Task-ID or a trace.',
      ),
    name: z.string().describe('X-Task-Name of its calls; empty without one.'),
    user_id: z.string().nullable().describe('X-User-ID of its calls.'),
    conversation: z
      .strictObject({
        id: z.uuid().describe('The UUID of the conversation.'),
        external_id: z
          .string()
          .nullable()
          .describe('X-Conversation-ID as the client sent it; null when it is a UUID.'),
      })
      .meta({ id: 'TaskConversation' })
      .nullable()
      .describe('null when its calls name no conversation.'),
    state: z.enum(taskStates).meta({ id: 'TaskState' }).describe('State of the task.'),
    stalled: z
      .boolean()
      .describe('Whether it is running but has had no call for the configured time.'),
    late_activity: z.boolean().describe('Whether a call came in after the task had ended.'),
    implicit: z
      .boolean()
      .describe('Whether its calls have no X-Task-ID: it is a trace, or found by `task_rule`.'),
    started_at: instantSchema.describe('Start of the first call.'),
    ended_at: instantSchema.nullable().describe('Time when it was completed or failed.'),
    last_activity_at: instantSchema.describe('End of the last call.'),
    duration_ms: count.describe('From the start of the first call to the end of the last one.'),
    ...callSumFields,
    environment: z.string().nullable().describe('Environment of its latest call.'),
    release: z.string().nullable().describe('Release of its latest call.'),
    cluster_name: z.string().nullable().describe('`k8s.cluster.name` of its latest span with one.'),
    ended_by: z
      .string()
      .nullable()
      .describe('Who ended it: `<kind>:<id>`; `call` when it ended with its calls.'),
    end_note: z.string().nullable().describe('Note of the request that ended it.'),
    trust_score: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe('Trust of the newest verified answer; null if none was verified or had claims.'),
    trust_coverage: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe('Share of the claims of that answer that a verifier decided.'),
    verification_state: z
      .enum(verificationStates)
      .meta({ id: 'VerificationStatus' })
      .describe('State of the newest verification.'),
    verified_at: instantSchema.nullable().describe('End of the newest successful verification.'),
    feedback: taskFeedbackSchema.nullable().describe('Votes of end users; null without feedback.'),
    verdict: taskVerdictSchema.nullable().describe('null until the first detection.'),
    url: z.string().describe('The path of this task.'),
  })
  .meta({ id: 'Task' })
export type Task = z.infer<typeof taskSchema>

/** Returns the path of a task, with its id percent-encoded. */
export function taskUrl(taskId: string): string {
  return `/api/v1/tasks/${encodeURIComponent(taskId)}`
}

/** Shapes a stored task for a reply; `stalled` is computed for `now_ms`. */
export function taskFrom(row: TaskRow, now_ms: number): Task {
  const idle_ms = now_ms - Date.parse(row.last_activity_at)
  return {
    task_id: row.task_id,
    task_rule: taskRuleOf(row),
    name: row.name,
    user_id: row.user_id,
    conversation:
      row.conversation_id === null
        ? null
        : { id: row.conversation_id, external_id: row.conversation_external_id },
    state: row.state,
    stalled: row.state === 'running' && !row.implicit && idle_ms > stalledAfterMs,
    late_activity: row.late_activity,
    implicit: row.implicit,
    started_at: row.started_at,
    ended_at: row.ended_at,
    last_activity_at: row.last_activity_at,
    duration_ms: row.duration_ms,
    ...callSumsFrom(row),
    environment: row.environment,
    release: row.release,
    cluster_name: row.cluster_name,
    ended_by: row.ended_by,
    end_note: row.end_note,
    ...trustFrom(row),
    feedback: taskFeedbackFrom(row),
    verdict: taskVerdictFrom(row),
    url: taskUrl(row.task_id),
  }
}

/** Shapes the trust of a stored task. */
function trustFrom({ trust_score, trust_coverage, verification_state, verified_at }: TaskRow) {
  const state = verificationStates.find((one) => one === verification_state) ?? 'not_verified'
  return { trust_score, trust_coverage, verification_state: state, verified_at }
}
