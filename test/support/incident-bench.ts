import type { GroupState } from '../../src/capabilities/incidents/evaluation/contract.ts'
import { newGroup } from '../../src/capabilities/incidents/evaluation/step.ts'
import type { Rule } from '../../src/capabilities/incidents/index.ts'
import type { Incident } from '../../src/capabilities/incidents/life-cycle/incident.ts'
import { recordTransition } from '../../src/capabilities/incidents/life-cycle/record-transition.ts'
import type { IncidentDb } from '../../src/capabilities/incidents/ports.ts'
import { dedupKey } from '../../src/capabilities/incidents/rules/dedup-key.ts'
import { type Group, groupKey } from '../../src/capabilities/incidents/rules/groups.ts'
import { openIncidents } from '../../src/capabilities/incidents/store/incident-book.ts'
import { coreOf, type StoredIncident } from '../../src/capabilities/incidents/store/incident-row.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type AccessTables,
  type IncidentTables,
  openRelational,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { at, ended, fired } from './incident-records.ts'
import { testPostgres } from './postgres.ts'

/** A database with incidents of projects. */
export type IncidentBench = AsyncDisposable & {
  url: string
  db: IncidentDb
  newProject(): Promise<string>
  /** Stores a rule. Returns its id. */
  addRule(project_id: string, rule: Rule): Promise<string>
}

export const quietLogger = createLogger({ role: 'test', level: 'silent' })

export async function openIncidentBench(): Promise<IncidentBench> {
  const url = await testPostgres()
  const { db: all, close } = openRelational<AccessTables & IncidentTables>({
    scope: allTenants,
    ...{ url, logger: quietLogger },
    pool_max: 8,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 30_000,
  })
  const db: IncidentDb = all
  const organization_id = newId()
  await all.insertInto('organizations').values({ id: organization_id, name: 'tests' }).execute()
  return {
    url,
    db,
    newProject: async () => {
      const id = newId()
      await all.insertInto('projects').values({ id, organization_id, name: id }).execute()
      return id
    },
    addRule: (project_id, rule) => addRule(db, project_id, rule),
    [Symbol.asyncDispose]: close,
  }
}

export async function addRule(db: IncidentDb, project_id: string, rule: Rule): Promise<string> {
  const id = newId()
  const kind = (['condition', 'burn_rate', 'baseline', 'event'] as const).find((one) => rule[one])
  const now = new Date()
  await db
    .insertInto('incident_rules')
    .values({
      ...{ id, project_id, name: rule.name, kind: kind ?? 'condition' },
      spec: JSON.stringify(rule),
      suspended: rule.suspend,
      version: 1,
      ...{ created_at: now, updated_at: now, updated_by: 'user:ada' },
    })
    .execute()
  return id
}

/** Records that a group of a rule fires or ends, in a transaction of its own. */
export function transit(
  db: IncidentDb,
  project_id: string,
  change: { type: 'fired' | 'ended'; minute: number; rule: Rule; group?: Group },
): Promise<StoredIncident | undefined> {
  const { type, minute, rule, group = {} } = change
  const now_ms = at(minute)
  return db.transaction().execute(async (trx) => {
    const book = await openIncidents(trx, { project_id, now_ms })
    const dedup_key = dedupKey(rule, group)
    await book.readNewest([dedup_key])
    const before = book.newest(dedup_key)
    const transition = type === 'fired' ? fired(minute) : ended(minute)
    const contribution = { rule, group: groupKey(group), dedup_key, transition, at_ms: now_ms }
    const core: Incident | undefined = before && coreOf(before)
    const changed = recordTransition(core, contribution)
    if (changed === undefined) return undefined
    const target = changed.is_new ? undefined : before
    const after = book.record({ before: target, change: changed, origin: { rule, group } })
    await book.save()
    return after
  })
}

/** What is stored of the incidents of a project, without ids and clocks, to be compared. */
export async function storedOf(db: IncidentDb, project_id: string) {
  const incidents = await db
    .selectFrom('incidents')
    .select(['id', 'number', 'rule_name', 'dedup_key', 'state', 'severity', 'version', 'core'])
    .where('project_id', '=', project_id)
    .orderBy('number')
    .execute()
  const numbers = new Map(incidents.map(({ id, number }) => [id, number]))
  const events = await db
    .selectFrom('incident_events')
    .select(['incident_id', 'seq', 'type', 'at', 'actor_id'])
    .where('project_id', '=', project_id)
    .execute()
  const messages = await db
    .selectFrom('notification_outbox')
    .select(['incident_id', 'event_seq', 'channel', 'reason'])
    .where('project_id', '=', project_id)
    .execute()
  const numbered = <Row extends { incident_id: string }>({ incident_id, ...row }: Row) => {
    return JSON.stringify({ number: numbers.get(incident_id), ...row })
  }
  return {
    incidents: incidents.map(({ id: _, core, ...row }) => {
      return { ...row, openings: (core['openings_ms'] as unknown[]).length }
    }),
    events: events.map(numbered).toSorted(),
    messages: messages.map(numbered).toSorted(),
  }
}

/** Stores the state of a group. */
export async function putState(
  db: IncidentDb,
  { rule_id, project_id, group = {} }: { rule_id: string; project_id: string; group?: Group },
  state: Partial<GroupState>,
): Promise<void> {
  const full = { ...newGroup, ...state }
  await db
    .insertInto('rule_states')
    .values({
      ...{ rule_id, project_id, group_key: groupKey(group) },
      state: JSON.stringify(full),
      firing: full.phase === 'firing',
    })
    .execute()
}
