import { problem } from '../../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { taskNamed, taskPath } from '../../../tasks/index.ts'
import { findAnswer } from '../../runs/trace-target.ts'
import { runScope } from '../contract.ts'
import {
  endedReply,
  type StartDeps,
  startErrors,
  startReply,
  verifyTrace,
} from '../start-verification.ts'
import { verifyBody } from '../verify-request.ts'

/**
 * POST /api/v1/verification/tasks/{task_id}/verify: verifies the trace with the last answer of a
 * task, like a request for that trace.
 */
export function postVerifyTask(deps: StartDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/verification/tasks/{task_id}/verify',
    id: 'verifyTask',
    summary: 'Verify the last answer of a task',
    status: 202,
    auth: 'jwt',
    scope: runScope,
    params: taskPath,
    body: verifyBody,
    reply: startReply,
    also: endedReply,
    errors: ['task_not_found', ...startErrors],
    handle: async ({ params, body, caller, signal }) => {
      const { project_id } = caller
      const task = await taskNamed({ db: deps.db }, project_id, params.task_id)
      const answer = await findAnswer(deps, task)
      if (answer === undefined) {
        const detail = `task_id: task "${task.task_id}" has no trace with a model call`
        throw problem('trace_not_found', { detail })
      }
      const trace = { project_id, trace_id: answer.trace_id }
      return verifyTrace(deps, { trace, body, trigger: 'task', caller, signal })
    },
  })
}
