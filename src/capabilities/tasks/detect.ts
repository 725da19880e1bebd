import { z } from 'zod'
import { problem } from '../../kernel/problem.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import {
  analyseNow,
  type DetectionResult,
  detectors,
  findingSchema,
  notCheckedSchema,
  shownFinding,
} from '../detection/index.ts'
import { instantSchema, type TaskDeps, taskNamed, taskPath } from './task.ts'

/**
 * POST /api/v1/tasks/{task_id}/detect: analyses a task at once, as the worker does after each call,
 * and answers which findings changed.
 */
export function postDetect(deps: TaskDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/tasks/{task_id}/detect',
    id: 'detectTask',
    summary: 'Detect loops, failures and lost context in a task now',
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
      const result = await analyseNow(deps, { project_id, task_id }, { ...only, force, signal })
      return replyFrom(task_id, result)
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
      .describe('Detectors to run; only their findings change. Default: all detectors.'),
    force: z
      .boolean()
      .optional()
      .describe('Run even when the task is unchanged since the last detection.'),
  })
  .meta({ id: 'DetectTaskRequest' })
  .optional()

const replySchema = record('TaskDetection', {
  task_id: z.string(),
  detected: z
    .boolean()
    .describe('`false`: the task is unchanged; the findings are those of the last detection.'),
  detected_at: instantSchema,
  opened: z.array(findingSchema).describe('Findings detected for the first time.'),
  updated: z.array(findingSchema).describe('Earlier findings that have changed.'),
  recovered: z
    .array(findingSchema)
    .describe('Findings that the task has recovered from, as a later call shows.'),
  withdrawn: z.array(z.uuid()).describe('Ids of findings that a late call disproved.'),
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

function replyFrom(task_id: string, result: DetectionResult): z.input<typeof replySchema> {
  const { detected, detected_at, changes, findings, not_checked } = result
  const select = (ids: readonly string[]) =>
    findings.filter(({ finding_id }) => ids.includes(finding_id)).map(shownFinding)
  return {
    task_id,
    detected,
    detected_at,
    opened: select(changes.opened),
    updated: select(changes.updated),
    recovered: select(changes.recovered),
    withdrawn: [...changes.withdrawn],
    unchanged: select(changes.unchanged),
    not_checked: [...not_checked],
  }
}
