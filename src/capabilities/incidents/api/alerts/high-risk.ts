import { z } from 'zod'
import { pageInfo } from '../../../../kernel/pages.ts'
import { integerParameter } from '../../../../model/list-query.ts'
import { record, windowSchema } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { IncidentRoutesDb, IncidentRoutesDeps } from '../contract.ts'
import { riskFactors, riskOf } from './risk.ts'
import {
  hasFeedback,
  hasTrust,
  type RiskyFinding,
  type RiskyTask,
  selectRiskyTasks,
  selectTaskFindings,
  selectTaskIncidents,
  type TaskIncident,
} from './store.ts'
import { type AlertWindow, alertWindow, windowQuery } from './window.ts'

const share = z.number().min(0).max(1)
const findings_max = 5
const incidents_max = 10

const factorSchema = z.enum(riskFactors).meta({ id: 'RiskFactor' })

const riskyTask = record('HighRiskTask', {
  task_id: z.string(),
  name: z.string(),
  state: z.enum(['running', 'completed', 'failed']).meta({ id: 'TaskState' }),
  calls: z.int().nonnegative(),
  errors: z.int().nonnegative(),
  started_at: z.iso.datetime(),
  last_activity_at: z.iso.datetime(),
  risk: share.describe('0 no risk, 1 highest.'),
  factors: z
    .array(
      record('RiskShare', {
        factor: factorSchema,
        value: share.nullable().describe('Risk of the factor alone; null if it is unknown.'),
        weight: share.nullable().describe('Weight among the known factors.'),
        share: share.nullable().describe('Share of the risk; all shares add up to 1.'),
      }),
    )
    .describe('Every factor, in a fixed order.'),
  findings: z
    .array(
      record('RiskyFinding', {
        finding_id: z.uuid(),
        kind: z.string(),
        type: z.string(),
        severity: z.enum(severities),
        state: z.string(),
        confidence: share,
        summary: z.string(),
      }),
    )
    .max(findings_max)
    .describe('The findings with the highest risk.'),
  findings_total: z.int().nonnegative(),
  incidents: z
    .array(record('RiskyIncident', { incident_id: z.uuid(), number: z.int(), state: z.string() }))
    .max(incidents_max)
    .describe('Incidents with evidence of the task, the newest first.'),
  links: z.record(z.string(), z.string()).describe('Paths: `task`, `findings`, `timeline`.'),
})

/**
 * GET /api/v1/alerts/high-risk: the tasks of a window with the highest risk, of weighted findings,
 * failures, trust and negative feedback, with the share of each.
 */
export function listHighRiskTasks({ db, clock }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/alerts/high-risk',
    id: 'listHighRiskTasks',
    summary: 'Tasks with the highest risk, and why',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    query: z.strictObject({
      ...windowQuery,
      limit: integerParameter({
        minimum: 1,
        maximum: 100,
        default: 20,
        description: 'Maximum tasks, 1–100.',
      }),
    }),
    reply: record('HighRiskTaskList', {
      window: windowSchema,
      tasks: z.array(riskyTask).describe('Highest risk first.'),
      total: z
        .int()
        .nonnegative()
        .describe('Tasks of the window with a finding, a failure or trust below 0.5.'),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.null(),
      unknown_factors: z
        .array(factorSchema)
        .describe('Factors without any data yet. They have no share.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query: { limit, ...query }, caller: { project_id } }) => {
      const window = alertWindow(query, clock.now_ms())
      const [{ tasks, counted }, isTrustKnown, isFeedbackKnown] = await Promise.all([
        selectRiskyTasks(db, project_id, { ...window, limit }),
        hasTrust(db, project_id),
        hasFeedback(db, project_id),
      ])
      return {
        window,
        tasks: await withReasons(db, project_id, { tasks, window }),
        ...pageInfo(counted, null),
        next_cursor: null,
        unknown_factors: [
          ...(isTrustKnown ? [] : ['trust' as const]),
          ...(isFeedbackKnown ? [] : ['feedback' as const]),
        ],
      }
    },
  })
}

async function withReasons(
  db: IncidentRoutesDb,
  project_id: string,
  { tasks, window }: { tasks: readonly RiskyTask[]; window: AlertWindow },
): Promise<z.input<typeof riskyTask>[]> {
  if (tasks.length === 0) return []
  const task_ids = tasks.map(({ task_id }) => task_id)
  const [findings, incidents] = await Promise.all([
    selectTaskFindings(db, project_id, task_ids),
    selectTaskIncidents(db, project_id, { task_ids, since: window.from }),
  ])
  const byTask = {
    findings: Map.groupBy(findings, ({ task_id }) => task_id),
    incidents: Map.groupBy(incidents, ({ task_id }) => task_id),
  }
  return tasks.map((task) =>
    toRiskyTask(task, {
      findings: byTask.findings.get(task.task_id) ?? [],
      incidents: byTask.incidents.get(task.task_id) ?? [],
    }),
  )
}

function toRiskyTask(
  task: RiskyTask,
  { findings, incidents }: { findings: RiskyFinding[]; incidents: TaskIncident[] },
): z.input<typeof riskyTask> {
  const { trust_score: trust, negative_feedback, ...shown } = task
  const { calls, errors } = task
  const is_failed = task.state === 'failed'
  const known = { findings, is_failed, calls, errors, trust, negative_feedback }
  const { risk, factors } = riskOf(known)
  const url = `/api/v1/tasks/${encodeURIComponent(task.task_id)}`
  return {
    ...shown,
    risk,
    factors,
    findings: findings.slice(0, findings_max).map(({ task_id: _, ...finding }) => finding),
    findings_total: findings.length,
    incidents: incidents.slice(0, incidents_max).map(({ task_id: _, ...incident }) => incident),
    links: { task: url, findings: `${url}/findings`, timeline: `${url}/timeline` },
  }
}
