import { z } from 'zod'
import { problem } from '../../kernel/problem.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import {
  analyseTask,
  type DetectionResult,
  detectors,
  findingSchema,
  notCheckedSchema,
  shownFinding,
} from '../detection/index.ts'
import type { TaskDeps } from './task-deps.ts'
import { taskNamed } from './task-lookup.ts'
import { instantSchema, taskPath } from './task-record.ts'

/**
 * POST /api/v1/tasks/{task_id}/detect: looks for trouble in a task at once, as the worker does after
 * each call, and answers what that changed.
 */
export function postDetect(deps: TaskDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/tasks/{task_id}/detect',
    id: 'detectTask',
    summary: 'Look for loops, failures and lost context in a task now',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'tasks:write' },
    params: taskPath,
    body: bodySchema,
    reply: replySchema,
    errors: ['task_not_found', 'store_unavailable', 'overloaded'],
    handle: async ({ params, body, caller, signal }) => {
      const { project_id, task_id } = await taskNamed(deps, caller.project_id, params.task_id)
      const { detectors: names, force = false } = body ?? {}
      if (names !== undefined) checkNames(names)
      const only = names === undefined ? {} : { detectors: names }
      const result = await analyseTask(deps, { project_id, task_id }, { ...only, force, signal })
      return shownResult(task_id, result)
    },
  })
}

const names_max = 100

const bodySchema = z
  .strictObject({
    detectors: z
      .array(z.string().min(1).max(names_max))
      .min(1)
      .max(names_max)
      .optional()
      .describe('Only what these find is changed; all detectors when left out.'),
    force: z.boolean().optional().describe('Look also when nothing has come since the last time.'),
  })
  .meta({ id: 'DetectTaskRequest' })
  .optional()

const replySchema = record('TaskDetection', {
  task_id: z.string(),
  detected: z
    .boolean()
    .describe('`false`: nothing came since the last look, whose findings these are.'),
  detected_at: instantSchema,
  opened: z.array(findingSchema).describe('Found for the first time.'),
  updated: z.array(findingSchema).describe('Found before, and something of them changed.'),
  recovered: z.array(findingSchema).describe('A later call shows that the task got over them.'),
  withdrawn: z.array(z.uuid()).describe('Ids of those that a late call made untrue.'),
  unchanged: z.array(findingSchema),
  not_checked: notCheckedSchema,
})

function checkNames(names: readonly string[]): void {
  const known = detectors.map(({ name }) => name)
  const unknown = names.findIndex((name) => !known.includes(name))
  if (unknown === -1) return
  const detail = `got ${JSON.stringify(names[unknown])}, expected one of ${known.join(', ')}`
  throw problem('invalid_request', {
    detail: `/detectors/${unknown}: ${detail}`,
    faults: [{ pointer: `/detectors/${unknown}`, detail }],
  })
}

function shownResult(task_id: string, result: DetectionResult): z.input<typeof replySchema> {
  const { detected, detected_at, changes, findings, not_checked } = result
  const shown = (ids: readonly string[]) =>
    findings.filter(({ finding_id }) => ids.includes(finding_id)).map(shownFinding)
  return {
    ...{ task_id, detected, detected_at },
    opened: shown(changes.opened),
    updated: shown(changes.updated),
    recovered: shown(changes.recovered),
    withdrawn: [...changes.withdrawn],
    unchanged: shown(changes.unchanged),
    not_checked: [...not_checked],
  }
}
