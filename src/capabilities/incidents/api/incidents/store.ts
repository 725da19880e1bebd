import {
  type DetectionTables,
  type IncidentTables,
  type Selectable,
  sql,
} from '../../../../platform/relational/index.ts'
import type { IncidentDb } from '../../ports.ts'
import type { StoredIncident } from '../../store/incident-row.ts'
import type { IncidentRoutesDb } from '../contract.ts'
import { ruleTable, type StoredRule } from '../rules/store.ts'

/** A stored entry of a timeline. */
export type StoredEvent = Selectable<IncidentTables['incident_events']>

/** Returns entries of the timeline of an incident after a position, oldest first. */
export function selectEvents(
  db: IncidentDb,
  { id, project_id }: Pick<StoredIncident, 'id' | 'project_id'>,
  { after, limit }: { after: number; limit: number },
): Promise<StoredEvent[]> {
  return db
    .selectFrom('incident_events')
    .selectAll()
    .where('incident_id', '=', id)
    .where('project_id', '=', project_id)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** Counts the messages of an incident by their state. */
export async function countMessages(
  db: IncidentDb,
  incident_id: string,
): Promise<Partial<Record<Selectable<IncidentTables['notification_outbox']>['state'], number>>> {
  const rows = await db
    .selectFrom('notification_outbox')
    .select('state')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('incident_id', '=', incident_id)
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]))
}

/** The state of a finding now. */
export type FindingNow = Pick<
  Selectable<DetectionTables['findings']>,
  (typeof findingColumns)[number]
> & { trace_id: string | null; observation_id: string | null }

const findingColumns = [
  ...(['finding_id', 'task_id', 'kind', 'type', 'state', 'severity', 'confidence'] as const),
  ...(['summary', 'start_step'] as const),
] as const

/** The observation at which a finding starts. It is null for findings of a count. */
const firstPlace = [
  sql<string | null>`places -> 0 ->> 'trace_id'`.as('trace_id'),
  sql<string | null>`places -> 0 ->> 'observation_id'`.as('observation_id'),
] as const

/** Returns findings of a project by id; deleted ones and those of other projects are missing. */
export async function selectFindings(
  db: IncidentRoutesDb,
  project_id: string,
  ids: readonly string[],
): Promise<Map<string, FindingNow>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('findings')
    .select([...findingColumns, ...firstPlace])
    .where('project_id', '=', project_id)
    .where('finding_id', 'in', [...ids])
    .execute()
  return new Map(rows.map((row) => [row.finding_id, row]))
}

/** A stored measurement of a rule for a group. */
export type StoredSample = { slot: string; value: number | null; samples: number }

/** Returns the rule that opened an incident and its samples of a time, oldest first. */
export async function selectSeries(
  db: IncidentDb,
  { project_id, rule_name: name }: Pick<StoredIncident, 'project_id' | 'rule_name'>,
  series: { group_key: string; from: (rule: StoredRule) => Date; limit: number },
): Promise<{ rule: StoredRule; samples: StoredSample[] } | undefined> {
  const rule = await ruleTable.findBy(db, project_id, { name })
  if (rule === undefined) return undefined
  const samples = await db
    .selectFrom('rule_samples')
    .select(['slot', 'value', 'samples'])
    .where('rule_id', '=', rule.id)
    .where('group_key', '=', series.group_key)
    .where('slot', '>=', sql<string>`${series.from(rule)}::timestamptz`)
    .orderBy('slot')
    .limit(series.limit)
    .execute()
  return { rule, samples }
}
