import { z } from 'zod'
import { isUuid } from '../../../../kernel/ids.ts'
import { cutPage, pageInfo, totalExactMax } from '../../../../kernel/pages.ts'
import { pageFields } from '../../../../model/id-pages.ts'
import {
  cursorAt,
  cursorParameter,
  expected,
  flagParameter,
  instantParameter,
  isoWindow,
  isStorable,
  limitParameter,
  orderParameter,
  positionIn,
  type SortKind,
  type SortPosition,
  textParameter,
  wordsParameter,
} from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { type Severity, severities } from '../../../../model/severity.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import {
  afterPosition,
  allOf,
  countUpTo,
  type Fragment,
  sql,
} from '../../../../platform/relational/index.ts'
import { incidentSchema } from '../../incident-view.ts'
import type { Incident } from '../../life-cycle/incident.ts'
import type { IncidentDb } from '../../ports.ts'
import { dimensions } from '../../rules/rule.ts'
import { rankOf, type StoredIncident, toIncidentView } from '../../store/incident-row.ts'
import type { IncidentRoutesDeps } from '../contract.ts'

/**
 * GET /api/v2/observability/incidents: a project's incidents. A cursor names the last item by (sort
 * value, id), so that incidents opened between two pages cause neither gaps nor repeats. An
 * incident whose sort value changes between two pages moves in the list.
 */
export function listIncidents({ db }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents',
    id: 'listIncidents',
    summary: 'Incidents, filtered and sorted',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    query: querySchema,
    reply: record('IncidentList', {
      incidents: z.array(incidentSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const { sort, order, limit, cursor, opened_from: from, opened_to: to, ...given } = query
      const sorted = { list: 'incidents', sort, order, kind: kinds[sort] }
      const after = cursor === undefined ? undefined : positionIn(sorted, cursor, isUuid)
      const filter = { ...given, ...isoWindow({ from, to }) }
      const [rows, total] = await Promise.all([
        selectIncidents(db, project_id, filter, { sort, order, after, limit: limit + 1 }),
        countIncidents(db, project_id, filter, totalExactMax + 1),
      ])
      const { items, last } = cutPage(rows, limit)
      const next = last && cursorAt(sorted, { value: sortValue(last, sort), id: last.id })
      return { incidents: items.map(toIncidentView), ...pageInfo(total, next ?? null) }
    },
  })
}

type IncidentSort = (typeof incidentSorts)[number]

/** Filters of a list of incidents. Instants are ISO 8601. */
type IncidentFilter = {
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
type IncidentPage = {
  sort: IncidentSort
  order: 'asc' | 'desc'
  after: SortPosition | undefined
  limit: number
}

/** Returns a page of a project's incidents. */
function selectIncidents(
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
async function countIncidents(
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

const kinds: Record<IncidentSort, SortKind> = {
  opened_at: 'instant',
  updated_at: 'instant',
  severity: 'count',
  number: 'count',
}

function sortValue(row: StoredIncident, sort: IncidentSort): string | number {
  return row[sort === 'severity' ? 'rank' : sort]
}

/** Columns that a list of incidents can be sorted by. */
const incidentSorts = ['opened_at', 'updated_at', 'severity', 'number'] as const

const querySchema = z.strictObject({
  state: wordsParameter(
    ['open', 'acknowledged', 'resolved'],
    'Only incidents in these states, separated by commas: `open`, `acknowledged`, `resolved`.',
  ),
  severity_min: z
    .enum(severities, { error: expected(severities.join(', ')) })
    .optional()
    .describe('Only incidents of at least this severity.'),
  rule: textParameter('Only incidents to which the rule with this name contributed.', 63),
  assignee: textParameter(
    'Only incidents assigned to the person with this e-mail. `none`: only unassigned ones.',
  ).transform((email) => (email === 'none' ? null : email?.toLowerCase())),
  suppressed: flagParameter('Only incidents whose messages are muted, or only the others.'),
  flapping: flagParameter('Only flapping incidents, or only the others.'),
  shadow: flagParameter('Only incidents of shadow rules, or only the others.'),
  label: pairParameter(
    'Only incidents with this label, as `name:value`.',
    /^[a-z][a-z0-9_]{0,62}$/,
  ),
  group: pairParameter(
    'Only incidents of this value of a dimension, as `model:gpt-5`.',
    new RegExp(`^(${dimensions.join('|')})$`),
  ),
  task_id: textParameter('Only incidents whose evidence names this task.'),
  opened_from: instantParameter('Only incidents opened at or after this instant.'),
  opened_to: instantParameter('Only incidents opened before this instant.'),
  q: textParameter('Only incidents whose title contains this text, in any case.'),
  sort: z
    .enum(incidentSorts, { error: expected(`one of ${incidentSorts.join(', ')}`) })
    .default('opened_at')
    .describe('Sort field.'),
  order: orderParameter,
  limit: limitParameter,
  cursor: cursorParameter,
})

/** Defines a query parameter that is a name and a value, separated by the first colon. */
function pairParameter(description: string, name: RegExp) {
  return z
    .string()
    .max(400)
    .refine(isStorable, { error: expected('text without U+0000') })
    .transform((text, context): [string, string] => {
      const at = text.indexOf(':')
      if (at > 0 && name.test(text.slice(0, at))) return [text.slice(0, at), text.slice(at + 1)]
      const message = expected('a name and a value, separated by a colon')({ input: text })
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    })
    .optional()
    .meta({ description, type: 'string' })
}
