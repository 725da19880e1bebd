import { z } from 'zod'
import {
  cutPage,
  decodeCursor,
  encodeCursor,
  invalidCursor,
  pageInfo,
} from '../../../../kernel/pages.ts'
import { cursorParameter, integerParameter } from '../../../../model/list-query.ts'
import { record, windowSchema } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { IncidentRoutesDb, IncidentRoutesDeps } from '../contract.ts'
import { riskFactors, riskOf } from './risk.ts'
import {
  hasFeedback,
  hasTrust,
  type RiskPlace,
  type RiskyFinding,
  type RiskyTask,
  selectRiskyTasks,
  selectTaskFindings,
  selectTaskIncidents,
  type TaskIncident,
} from './risk-store.ts'
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
  risk: share.describe('0 no risk, 1 highest. The order is that of incidents and findings first.'),
  similar_tasks: z
    .int()
    .positive()
    .describe('Tasks of the window with this name, worst finding and end; the riskiest is shown.'),
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
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    query: z.strictObject({
      ...windowQuery,
      limit: integerParameter({
        minimum: 1,
        maximum: 100,
        default: 20,
        description: 'Maximum tasks, 1–100.',
      }),
      cursor: cursorParameter,
    }),
    reply: record('HighRiskTaskList', {
      window: windowSchema,
      tasks: z
        .array(riskyTask)
        .describe(
          'By the severity of their unresolved incidents, then of their open findings, then by risk.',
        ),
      total: z
        .int()
        .nonnegative()
        .describe(
          'Rows of the window: tasks with an unresolved incident, a finding, a failed call or trust below 0.5, of similar ones the first.',
        ),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
      unknown_factors: z
        .array(factorSchema)
        .describe('Factors without any data yet. They have no share.'),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, ...query }, caller: { project_id } }) => {
      const { window, after } = pageOf(query, cursor, clock.now_ms())
      const [{ tasks, counted }, isTrustKnown, isFeedbackKnown] = await Promise.all([
        selectRiskyTasks(db, project_id, { ...window, after, limit: limit + 1 }),
        hasTrust(db, project_id),
        hasFeedback(db, project_id),
      ])
      const { items, last } = cutPage(tasks, limit)
      return {
        window,
        tasks: await withReasons(db, project_id, { tasks: items, window }),
        ...pageInfo(counted, last === undefined ? null : cursorOf(last, window)),
        unknown_factors: [
          ...(isTrustKnown ? [] : ['trust' as const]),
          ...(isFeedbackKnown ? [] : ['feedback' as const]),
        ],
      }
    },
  })
}

const list = 'high-risk tasks'

/** All pages have the window of the first one, so that rows do not move between them. */
function cursorOf(place: RiskPlace, { from, to }: AlertWindow): string {
  const { incident_rank, finding_rank, weighted, last_activity_at, task_id } = place
  const position = [incident_rank, finding_rank, weighted, last_activity_at, task_id]
  return encodeCursor(list, [from, to, ...position])
}

const cursorShape = z.tuple([
  ...([z.iso.datetime(), z.iso.datetime(), z.int(), z.int(), z.number()] as const),
  ...([z.iso.datetime(), z.string()] as const),
])

function pageOf(
  query: Parameters<typeof alertWindow>[0],
  cursor: string | undefined,
  now_ms: number,
): { window: AlertWindow; after: RiskPlace | undefined } {
  if (cursor === undefined) return { window: alertWindow(query, now_ms), after: undefined }
  const read = cursorShape.safeParse(decodeCursor(list, cursor, cursorShape.def.items.length))
  if (!read.success) throw invalidCursor(cursor)
  const [from, to, incident_rank, finding_rank, weighted, last_activity_at, task_id] = read.data
  const after = { incident_rank, finding_rank, weighted, last_activity_at, task_id }
  return { window: { from, to }, after }
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
  const { task_id, name, state, started_at, last_activity_at, similar_tasks } = task
  const { trust_score: trust, negative_feedback } = task
  const { calls, errors } = task
  const is_failed = task.state === 'failed'
  const known = { findings, is_failed, calls, errors, trust, negative_feedback }
  const { risk, factors } = riskOf(known)
  const url = `/api/v1/tasks/${encodeURIComponent(task.task_id)}`
  return {
    task_id,
    name,
    state,
    calls,
    errors,
    started_at,
    last_activity_at,
    similar_tasks,
    risk,
    factors,
    findings: findings.slice(0, findings_max).map(({ task_id: _, ...finding }) => finding),
    findings_total: findings.length,
    incidents: incidents.slice(0, incidents_max).map(({ task_id: _, ...incident }) => incident),
    links: { task: url, findings: `${url}/findings`, timeline: `${url}/timeline` },
  }
}
