import { z } from 'zod'
import { backOff } from '../../kernel/back-off.ts'
import { newId } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import { sleep } from '../../kernel/time.ts'
import { expected, isStorable } from '../../model/list-query.ts'
import { type Caller, defineRoute, type Route } from '../../platform/http/index.ts'
import { endTask, type TaskRow } from './store.ts'
import {
  type Task,
  type TaskDeps,
  taskFrom,
  taskIfAny,
  taskNamed,
  taskNotFound,
  taskPath,
  taskSchema,
} from './task.ts'

/** PUT /api/v1/tasks/{task_id}/complete: completes a running task, see `endTaskOnRequest`. */
export function completeTask(deps: TaskDeps): Route {
  return endTaskRoute(deps, 'completed', {
    url: '/api/v1/tasks/{task_id}/complete',
    id: 'completeTask',
    summary: 'Completes a running task',
  })
}

/** Returns a route that ends a running task in a state. */
export function endTaskRoute(
  deps: TaskDeps,
  state: EndRequest['state'],
  route: { url: string; id: string; summary: string },
): Route {
  return defineRoute({
    ...route,
    method: 'PUT',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'tasks:write' },
    params: taskPath,
    body: endBody,
    reply: taskSchema,
    errors: ['task_not_found', 'task_state_conflict'],
    handle: ({ params, body, caller, signal }) =>
      endTaskOnRequest(deps, { task_id: params.task_id, state, body, caller, signal }),
  })
}

const noteSchema = z
  .string()
  .max(2000, { error: expected('at most 2,000 characters') })
  .refine(isStorable, { error: expected('text without U+0000') })

/** Body of the complete and fail requests; may be left out. */
const endBody = z
  .strictObject({
    note: noteSchema
      .optional()
      .describe('Reason for the end, for people; at most 2,000 characters.'),
    reason: noteSchema.optional().describe('Alias of `note`; give only one of the two.'),
  })
  .refine((body) => body.note === undefined || body.reason === undefined, {
    error: 'expected note or reason, got both',
    path: ['reason'],
  })
  .meta({ id: 'EndTaskRequest' })
  .optional()

type EndRequest = {
  task_id: string
  state: 'completed' | 'failed'
  body: z.output<typeof endBody>
  caller: Caller
  signal: AbortSignal
}

/**
 * Ends a running task as completed or failed. Repeating the same request changes nothing. Throws
 * `task_state_conflict` when the task has ended in the other state, or is implicit and not in the
 * requested state.
 *
 * A client completes a task right after its last call, when the worker may not have written any of
 * the task's calls yet. So this waits up to `arrival_wait_ms` for the task to appear, then throws
 * `task_not_found`; during an outage of the worker the client has to retry. The request never
 * creates a task: a mistyped id would stay in the list for ever, and the client would not notice.
 */
async function endTaskOnRequest(deps: TaskDeps, request: EndRequest): Promise<Task> {
  const { state, body, caller } = request
  const before = await waitForTask(deps, request)
  if (before.state === 'running' && !before.implicit) {
    await endTask(deps.db, caller.project_id, before.task_id, {
      event_id: newId(),
      state,
      at: new Date(deps.clock.now_ms()).toISOString(),
      actor: { kind: caller.kind, id: caller.id },
      note: body?.note ?? body?.reason ?? null,
    })
  }
  const row = await taskNamed(deps, caller.project_id, before.task_id)
  if (row.state !== state) throw conflict(row, state)
  return taskFrom(row, deps.clock.now_ms())
}

/** Every call is to be readable within 2 s. */
const arrivalWaitMs = 2_000
const lookUpBackOff = { base_ms: 50 }

async function waitForTask(
  deps: TaskDeps,
  { task_id, caller, signal }: EndRequest,
): Promise<TaskRow> {
  const wait_ms = deps.settings?.arrival_wait_ms ?? arrivalWaitMs
  let waited_ms = 0
  for (let lookUp = 1; ; lookUp += 1) {
    const row = await taskIfAny(deps, caller.project_id, task_id)
    if (row !== undefined) return row
    if (waited_ms >= wait_ms || signal.aborted) throw taskNotFound(task_id)
    const pause_ms = backOff(lookUpBackOff, lookUp)
    await sleep(Math.min(pause_ms, wait_ms - waited_ms), signal)
    waited_ms += pause_ms
  }
}

function conflict(row: TaskRow, state: EndRequest['state']) {
  const since = row.ended_at === null ? '' : ` since ${row.ended_at}`
  const current = `task "${row.task_id}" is ${row.state}${since}`
  const detail = row.implicit
    ? `${current}: it has no X-Task-ID, so it is one trace and ends with its calls; ` +
      'send X-Task-ID with the calls of tasks that you end yourself'
    : `${current} and can not become ${state}; a task ends only once`
  return problem('task_state_conflict', { detail })
}
