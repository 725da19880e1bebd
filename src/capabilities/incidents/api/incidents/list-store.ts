import type { SortPosition } from '../../../../model/list-query.ts'
import type { Severity } from '../../../../model/severity.ts'
import {
  afterPosition,
  allOf,
  countUpTo,
  type Fragment,
  sql,
} from '../../../../platform/relational/index.ts'
import type { Incident } from '../../life-cycle/incident.ts'
import type { IncidentDb } from '../../ports.ts'
import { rankOf, type StoredIncident } from '../../store/incident-row.ts'

/** Columns that a list of incidents can be sorted by. */
export const incidentSorts = ['opened_at', 'updated_at', 'severity', 'number'] as const
export type IncidentSort = (typeof incidentSorts)[number]

/** Filters of a list of incidents. Instants are ISO 8601. */
export type IncidentFilter = {
  state?: readonly Incident['state'][] | undefined
  severity_min?: Severity | undefined
  /** Name of a rule that contributed. */
  rule?: string | undefined
  /** E-mail of the assignee; null for incidents without one. */
  assignee?: string | null | undefined
  suppressed?: boolean | undefined
  flapping?: boolean | undefined
  shadow?: boolean | undefined
  label?: readonly [string, string] | undefined
  group?: readonly [string, string] | undefined
  /** Task that some kept evidence names. */
  task_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** A part of the title, in any case. */
  q?: string | undefined
}

/** The page to read. */
export type IncidentPage = {
  sort: IncidentSort
  order: 'asc' | 'desc'
  after: SortPosition | undefined
  limit: number
}

/** Returns a page of a project's incidents. */
export function selectIncidents(
  db: IncidentDb,
  project_id: string,
  filter: IncidentFilter,
  { sort, order, after, limit }: IncidentPage,
): Promise<StoredIncident[]> {
  const column = sql.ref(sort === 'severity' ? 'rank' : sort)
  const position = after && afterPosition(column, sql.ref('id'), { order, after })
  return db
    .selectFrom('incidents')
    .selectAll()
    .where(allOf([...conditionsOf(project_id, filter), position]))
    .orderBy(column, order)
    .orderBy('id', order)
    .limit(limit)
    .execute()
}

/** Counts incidents up to `limit`. */
export async function countIncidents(
  db: IncidentDb,
  project_id: string,
  filter: IncidentFilter,
  limit: number,
): Promise<number> {
  const found = db
    .selectFrom('incidents')
    .select('id')
    .where(allOf(conditionsOf(project_id, filter)))
  return countUpTo(db, found, limit)
}

function conditionsOf(
  project_id: string,
  filter: IncidentFilter,
): readonly (Fragment<boolean> | undefined)[] {
  const { state, severity_min, rule, assignee, label, group, task_id, from, to, q } = filter
  const is = (column: 'suppressed' | 'flapping' | 'shadow') =>
    when(filter[column], (value) => sql<boolean>`${sql.ref(column)} = ${value}`)
  return [
    sql<boolean>`project_id = ${project_id}`,
    when(state, (some) => sql<boolean>`state = any(${[...some]})`),
    when(severity_min, (least) => sql<boolean>`rank >= ${rankOf(least)}`),
    when(rule, (name) => sql<boolean>`jsonb_exists(core->'rules', ${name})`),
    when(assignee, (email) => sql<boolean>`lower(assignee) is not distinct from ${email}`),
    ...[is('suppressed'), is('flapping'), is('shadow')],
    when(label, (pair) => sql<boolean>`labels @> ${toObject(pair)}::jsonb`),
    when(group, (pair) => sql<boolean>`group_values @> ${toObject(pair)}::jsonb`),
    when(task_id, (id) => sql<boolean>`evidence @> ${JSON.stringify([{ task_id: id }])}::jsonb`),
    when(from, (instant) => sql<boolean>`opened_at >= ${instant}`),
    when(to, (instant) => sql<boolean>`opened_at < ${instant}`),
    when(q, (text) => sql<boolean>`strpos(lower(title), lower(${text})) > 0`),
  ]
}

function when<T>(
  value: T | undefined,
  condition: (value: T) => Fragment<boolean>,
): Fragment<boolean> | undefined {
  return value === undefined ? undefined : condition(value)
}

function toObject([name, value]: readonly [string, string]): string {
  return JSON.stringify({ [name]: value })
}
