import { z } from 'zod'
import { expected } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import {
  detectionOf,
  type Finding,
  findingKinds,
  findingSchema,
  findingStates,
  findingsOf,
  notCheckedSchema,
  severities,
  severityNumber,
  shownFinding,
} from '../detection/index.ts'
import type { TaskDeps } from './task-deps.ts'
import { taskNamed } from './task-lookup.ts'
import { instantSchema, taskPath } from './task-record.ts'

/** GET /api/v1/tasks/{task_id}/findings: what was found in a task, in the order in which it began. */
export function getTaskFindings(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/findings',
    id: 'getTaskFindings',
    summary: 'Loops, failures and lost context that were found in a task',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: querySchema.extend({
      kind: z
        .enum(findingKinds, { error: expected(findingKinds.join(', ')) })
        .optional()
        .describe('Only findings of this kind.'),
    }),
    reply: record('TaskFindingList', { ...replyFields, findings: z.array(findingSchema) }),
    errors: ['task_not_found', 'store_unavailable'],
    handle: async ({ params, query, caller }) => {
      const { task_id, found, ...about } = await readFindings(deps, caller, params)
      const findings = shownOf(found, query)
      return { task_id, findings, total: findings.length, ...about }
    },
  })
}

/** GET /api/v1/tasks/{task_id}/loops: the loops among a task's findings. */
export function getTaskLoops(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/loops',
    id: 'getTaskLoops',
    summary: 'Loops that were found in a task',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: querySchema,
    reply: record('TaskLoopList', { ...replyFields, loops: z.array(findingSchema) }),
    errors: ['task_not_found', 'store_unavailable'],
    handle: async ({ params, query, caller }) => {
      const { task_id, found, ...about } = await readFindings(deps, caller, params)
      const loops = shownOf(found, { ...query, kind: 'loop' })
      return { task_id, loops, total: loops.length, ...about }
    },
  })
}

const querySchema = z.strictObject({
  type: z.string().min(1).max(100).optional().describe('Only findings of this type.'),
  severity_min: z
    .enum(severities, { error: expected(severities.join(', ')) })
    .optional()
    .describe('Only findings of this severity, and worse ones.'),
  state: z
    .enum([...findingStates, 'any'], { error: expected('open, recovered, withdrawn or any') })
    .optional()
    .describe('Only findings in this state; open and recovered ones when left out.'),
})

const replyFields = {
  task_id: z.string(),
  total: z.int().nonnegative(),
  detected_at: instantSchema
    .nullable()
    .describe('When the task was looked at last; null: it is about to be for the first time.'),
  is_current: z
    .boolean()
    .describe('`false`: something came since, and the task is about to be looked at again.'),
  not_checked: notCheckedSchema,
}

async function readFindings(
  deps: TaskDeps,
  { project_id }: { project_id: string },
  params: { task_id: string },
) {
  const { task_id } = await taskNamed(deps, project_id, params.task_id)
  const key = { project_id, task_id }
  // In this order: findings are then never older than what `is_current` is said of.
  const detection = await detectionOf(deps.db, key)
  const found = await findingsOf(deps.db, key)
  return {
    ...{ task_id, found },
    detected_at: detection?.detected_at ?? null,
    is_current: detection !== undefined && detection.due_at === null,
    not_checked: [...(detection?.not_checked ?? [])],
  }
}

type Wanted = Partial<z.output<typeof querySchema>> & { kind?: Finding['kind'] | undefined }

function shownOf(found: readonly Finding[], { kind, type, severity_min, state }: Wanted) {
  return found
    .filter((finding) => {
      if (state === undefined && finding.state === 'withdrawn') return false
      if (state !== undefined && state !== 'any' && finding.state !== state) return false
      if (kind !== undefined && finding.kind !== kind) return false
      if (type !== undefined && finding.type !== type) return false
      const least = severity_min === undefined ? 0 : severityNumber(severity_min)
      return severityNumber(finding.severity) >= least
    })
    .map(shownFinding)
}
