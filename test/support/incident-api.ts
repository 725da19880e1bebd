import type { Insertable } from 'kysely'
import {
  type ChannelRoutesDeps,
  channelRoutes,
  type IncidentRoutesDeps,
  incidentLinkRoutes,
  incidentRoutes,
} from '../../src/capabilities/incidents/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import { openOutbound } from '../../src/platform/outbound/index.ts'
import {
  type AccessTables,
  type DetectionTables,
  type FeedbackTables,
  type IncidentTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { testPostgres } from './postgres.ts'
import { authorize, tokenOf } from './task-api.ts'

type Tables = IncidentTables & AccessTables & TaskTables & DetectionTables & FeedbackTables

/** A parsed body; tests read it without narrowing. */
export type Json = ReturnType<typeof JSON.parse>
type IncidentReply = {
  status: number
  body: Json
  headers: Record<string, unknown>
  text: string
}
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'
type Call = { headers?: Record<string, string>; body?: unknown; if_match?: string }

/** The routes of incidents on a server, over PostgreSQL. A test may set the clock. */
export type IncidentApi = AsyncDisposable & {
  db: Relational<Tables>['db']
  clock: { ms: number }
  /** Creates a project with an organization of its own. */
  newProject(): Promise<string>
  /** Creates a user who is a member of the project's organization, or of another one. */
  newMember(project_id: string, email: string, role?: 'owner' | 'viewer' | 'none'): Promise<string>
  /** Calls as an admin of the project, below `/api/v2/observability/incidents`. */
  call(method: Method, path: string, project_id: string, about?: Call): Promise<IncidentReply>
  insertIncident(project_id: string, given?: NewIncident): Promise<string>
}
export type NewIncident = Partial<Omit<Insertable<IncidentTables['incidents']>, 'core'>> & {
  core?: object
}

/** Opens the routes. `max` are limits. */
export async function openIncidentApi(
  more: Partial<IncidentRoutesDeps & ChannelRoutesDeps> = {},
): Promise<IncidentApi> {
  const logger = createLogger({ role: 'test', level: 'silent' })
  const relational = openRelational<Tables>({
    scope: allTenants,
    ...{ url: await testPostgres(), logger, pool_max: 8 },
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 10_000,
  })
  const { db } = relational
  const time = { ms: Date.UTC(2026, 10, 23, 12) }
  const clock = { now_ms: () => time.ms }
  const server = await createHttpServer({
    routes: [
      ...incidentRoutes({
        ...{ db, clock, measureRange, examples: async () => [], incident_rules_max: 20 },
        ...more,
      }),
      ...channelRoutes({ ...{ db, clock, ...unused }, ...more }),
      ...incidentLinkRoutes({ ...{ db, clock, secret_key: unused.secret_key }, ...more }),
    ],
    authorize,
    idempotency: openIdempotencyStore(db),
    ...{ logger, metrics: createMetrics(), clock },
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
  const organizations = new Map<string, string>()
  let numbers = 0
  return {
    db,
    clock: time,
    newProject: async () => {
      const [id, organization_id] = [newId(), newId()]
      await db.insertInto('organizations').values({ id: organization_id, name: id }).execute()
      await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
      organizations.set(id, organization_id)
      return id
    },
    newMember: async (project_id, email, role = 'viewer') => {
      const id = newId()
      await db.insertInto('users').values({ id, email, display_name: email }).execute()
      if (role === 'none') return id
      await db
        .insertInto('organization_members')
        .values({
          organization_id: organizations.get(project_id) ?? '',
          user_id: id,
          role: role === 'owner' ? 'owner' : 'member',
        })
        .execute()
      if (role === 'owner') return id
      await db.insertInto('project_members').values({ project_id, user_id: id, role }).execute()
      return id
    },
    call: async (method, path, project_id, { headers, body, if_match } = {}) => {
      const reply = await server.inject({
        method,
        url: path.startsWith('/api') ? path : `/api/v2/observability/incidents${path}`,
        headers: {
          ...(headers ?? tokenOf('admin', project_id)),
          ...(if_match !== undefined && { 'if-match': if_match }),
        },
        ...(body !== undefined && { payload: body as object }),
      })
      return {
        ...{ status: reply.statusCode, headers: reply.headers, text: reply.payload },
        body: reply.payload === '' ? undefined : reply.json(),
      }
    },
    insertIncident: async (project_id, given = {}) => {
      numbers += 1
      const row = incidentRow(project_id, { number: numbers, ...given })
      await db.insertInto('incidents').values(row).execute()
      return row.id
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await relational.close()
    },
  }
}

const unused = {
  secret_key: 'a secret of at least 32 characters',
  outbound: {
    ...openOutbound({ allowed: [] }),
    send: () => Promise.reject(new Error('no receiver is allowed')),
  },
  mailer: { configured: false, send: () => Promise.resolve(), close: () => undefined },
}

/** For tests that measure nothing. */
const measureRange: IncidentRoutesDeps['measureRange'] = () => {
  throw new Error('the test has no signals')
}

const ranks = { info: 1, low: 2, medium: 3, high: 4, critical: 5 } as const

/** Returns a row of an open incident, whose core agrees with its columns. */
export function incidentRow(
  project_id: string,
  { core, ...given }: NewIncident & { number: number },
): Insertable<IncidentTables['incidents']> {
  const opened_at = String(given.opened_at ?? '2026-11-23T11:00:00.000Z')
  const severity = given.severity ?? 'high'
  const rule_name = given.rule_name ?? 'slow-answers'
  const columns = {
    ...{ id: newId(), project_id, rule_name, severity, rank: ranks[severity], opened_at },
    ...{ title: 'Answers are slow', signal: 'ttft_p95', dedup_key: `rule:${given.number}` },
    ...{ group_values: '{}', labels: '{}', annotations: '{}', state: 'open' as const },
    ...{ suppressed: false, flapping: false, orphaned: false, shadow: false },
    ...{ version: 1, last_seq: 0, updated_at: opened_at, evidence: '[]' },
    grouping: JSON.stringify({ wait: '30s', interval: '5m', repeat: '4h' }),
    ...given,
  }
  const opened_ms = Date.parse(opened_at)
  const escalation = { since_ms: opened_ms, taken_ms: null, last_step_ms: null }
  const state = {
    ...{ dedup_key: columns.dedup_key, state: columns.state, severity, tier: null },
    ...{ version: columns.version, assignee: columns.assignee ?? null, opened_ms },
    ...{ acknowledged_ms: null, resolved_ms: null, contributors: [], auto_resolve: true },
    ...{ rules: [rule_name], notify: [], escalated_to: [], openings_ms: [opened_ms] },
    ...{ flapping: columns.flapping, quiet_since_ms: null, late: false, shadow: columns.shadow },
    ...{ orphaned: columns.orphaned, suppressed_by: [], inhibited_by: [] },
    ...{ announced_to: [], opened_delivered: false, escalation, reminded_ms: opened_ms },
  }
  return { ...columns, core: JSON.stringify({ ...state, ...core }) }
}
