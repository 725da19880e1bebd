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
import { instantSchema, type TaskDeps, taskNamed, taskPath } from './task.ts'

/** GET /api/v1/tasks/{task_id}/findings: a task's findings, by the step at which each began. */
export function getTaskFindings(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/findings',
    id: 'getTaskFindings',
    summary: 'Findings of a task: loops, failures and lost context',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: findingsQuery.extend({
      kind: z
        .enum(findingKinds, { error: expected(findingKinds.join(', ')) })
        .optional()
        .describe('Only findings of this kind.'),
    }),
    reply: record('TaskFindingList', { ...findingsReply, findings: z.array(findingSchema) }),
    errors: ['task_not_found', 'store_unavailable'],
    handle: async ({ params, query, caller }) => {
      const { task_id, all, ...detection } = await readFindings(deps, caller, params)
      const findings = selectFindings(all, query)
      return { task_id, findings, total: findings.length, ...detection }
    },
  })
}

export const findingsQuery = z.strictObject({
  type: z.string().min(1).max(100).optional().describe('Only findings of this type.'),
  severity_min: z
    .enum(severities, { error: expected(severities.join(', ')) })
    .optional()
    .describe('Only findings of at least this severity.'),
  state: z
    .enum([...findingStates, 'any'], { error: expected('open, recovered, withdrawn or any') })
    .optional()
    .describe('Only findings in this state. Default: open and recovered ones.'),
})

export const findingsReply = {
  task_id: z.string(),
  total: z.int().nonnegative(),
  detected_at: instantSchema
    .nullable()
    .describe('Time of the last detection; null before the first one.'),
  is_current: z
    .boolean()
    .describe('`false`: the task has changed since, and its next detection is due.'),
  not_checked: notCheckedSchema,
}

export async function readFindings(
  deps: TaskDeps,
  { project_id }: { project_id: string },
  params: { task_id: string },
) {
  const { task_id } = await taskNamed(deps, project_id, params.task_id)
  const key = { project_id, task_id }
  // Reads the detection first, so that the findings are never older than `is_current` says.
  const detection = await detectionOf(deps.db, key)
  const all = await findingsOf(deps.db, key)
  return {
    task_id,
    all,
    detected_at: detection?.detected_at ?? null,
    is_current: detection !== undefined && detection.due_at === null,
    not_checked: [...(detection?.not_checked ?? [])],
  }
}

type FindingFilter = Partial<z.output<typeof findingsQuery>> & {
  kind?: Finding['kind'] | undefined
}

/** Returns the findings that match the filter, shaped for a reply. */
export function selectFindings(
  findings: readonly Finding[],
  { kind, type, severity_min, state }: FindingFilter,
) {
  return findings
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
