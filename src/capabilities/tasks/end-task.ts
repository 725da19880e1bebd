import { z } from 'zod'
import { backOff } from '../../kernel/back-off.ts'
import { newId } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import { sleep } from '../../kernel/time.ts'
import { expected, isStorable } from '../../model/list-query.ts'
import type { Caller } from '../../platform/http/index.ts'
import { endTask, type TaskRow } from './store.ts'
import type { TaskDeps } from './task-deps.ts'
import { taskIfAny, taskNamed, taskNotFound } from './task-lookup.ts'
import { type Task, taskFrom } from './task-record.ts'

const noteSchema = z
  .string()
  .max(2000, { error: expected('at most 2,000 characters') })
  .refine(isStorable, { error: expected('text without U+0000') })

/** What complete and fail take; the whole body may be left out. */
export const endBody = z
  .strictObject({
    note: noteSchema.optional().describe('Why it ended, for people; up to 2,000 characters.'),
    reason: noteSchema.optional().describe('Another name for `note`; give one of them.'),
  })
  .refine((body) => body.note === undefined || body.reason === undefined, {
    error: 'expected note or reason, got both',
    path: ['reason'],
  })
  .meta({ id: 'EndTaskRequest' })
  .optional()

export type EndRequest = {
  task_id: string
  state: 'completed' | 'failed'
  body: z.output<typeof endBody>
  caller: Caller
  signal: AbortSignal
}

/**
 * Moves a running task to its end. Repeating the move changes nothing; the contrary one throws
 * `task_state_conflict`, and so does any move of an implicit task that is not in that state.
 *
 * A client completes a task right after its last call, and the worker may not have written any call
 * of it yet. Then this waits, up to `arrival_wait_ms`, for the task to appear. It does not make
 * the task: an id with a typing error would stand in the list for ever, ended and without a call,
 * and the client would never learn of its mistake. After the wait it throws `task_not_found`, and
 * a client that meets an outage of the worker tries again.
 */
export async function endTaskOnRequest(deps: TaskDeps, request: EndRequest): Promise<Task> {
  const { state, body, caller } = request
  const found = await taskOnceWritten(deps, request)
  if (found.state === 'running' && !found.implicit) {
    await endTask(deps.db, caller.project_id, found.task_id, {
      event_id: newId(),
      state,
      at: new Date(deps.clock.now_ms()).toISOString(),
      actor: { kind: caller.kind, id: caller.id },
      note: body?.note ?? body?.reason ?? null,
    })
  }
  const row = await taskNamed(deps, caller.project_id, found.task_id)
  if (row.state !== state) throw conflict(row, state)
  return taskFrom(row, { now_ms: deps.clock.now_ms(), ...deps.settings })
}

/** As issue 3 has it: what happened is readable within 2 s. */
const arrivalWait_ms = 2_000
const lookUpBackOff = { base_ms: 50 }

async function taskOnceWritten(
  deps: TaskDeps,
  { task_id, caller, signal }: EndRequest,
): Promise<TaskRow> {
  const wait_ms = deps.settings.arrival_wait_ms ?? arrivalWait_ms
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
  const stands = `task "${row.task_id}" is ${row.state}${since}`
  const detail = row.implicit
    ? `${stands}: it has no X-Task-ID, is one trace and ends with its calls; ` +
      'send X-Task-ID with the calls of a task that is to be ended by you'
    : `${stands} and can not become ${state}; a task ends once`
  return problem('task_state_conflict', { detail })
}
