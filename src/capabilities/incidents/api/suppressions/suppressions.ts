import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { Semaphore } from '../../../../kernel/semaphore.ts'
import type { IdPage } from '../../../../model/id-pages.ts'
import { expected } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { type IncidentTables, type Selectable, sql } from '../../../../platform/relational/index.ts'
import { type DocumentFilter, NamedTable, namedDocumentRoutes } from '../../../documents/index.ts'
import {
  isMatch,
  type Matched,
  occurrences_max,
  occurrencesOf,
  type Suppression,
  suppressionBody,
  suppressionShape,
  suppressionWindow,
  timesOf,
} from '../../muting/suppression.ts'
import { type NamedRule, suppressionWarnings } from '../../muting/suppression-warnings.ts'
import type { IncidentDb } from '../../ports.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { ruleReferences } from '../rules/store.ts'

const states = ['active', 'upcoming', 'expired'] as const
const stateSchema = z
  .enum(states, { error: expected(states.join(', ')) })
  .meta({ id: 'SuppressionState' })

/** The body of a suppression that can be stored. */
const storableSuppression = suppressionBody
  .superRefine(refuseUnstorable)
  .meta({ id: 'IncidentSuppressionRequest' })

const suppressionSchema = record('IncidentSuppression', {
  suppression_id: z.uuid(),
  ...suppressionShape.shape,
  state: stateSchema.describe('`expired`: never in effect again.'),
  active: z.boolean().describe('Whether it is in effect now.'),
  next_start: z.iso.datetime().nullable().describe('Next start of a window; null without one.'),
  next_windows: z
    .array(suppressionWindow)
    .max(occurrences_max)
    .describe(
      'Times in which it mutes, within the next 14 days, in order. Of a schedule, the next 100.',
    ),
  muted_incidents: z.int().describe('Unresolved incidents that it mutes now.'),
  warnings: z
    .array(z.string())
    .describe('Why it may mute more or less than its author expects, such as an unknown label.'),
  version: z.int().describe('Version, incremented by each change; also the ETag.'),
  created_at: z.iso.datetime(),
  created_by: z.string().describe('`user:<id>`.'),
  updated_at: z.iso.datetime(),
  updated_by: z.string(),
})

/**
 * Routes of suppressions, which mute the messages of matching incidents; the incidents are still
 * recorded. A change takes effect within seconds. Open incidents that a deleted suppression muted
 * are announced as still firing.
 */
export function suppressionRoutes(deps: IncidentRoutesDeps): Route[] {
  return namedDocumentRoutes(deps, {
    table: suppressionTable,
    title: 'incident suppressions',
    documents_max: suppressions_max,
    is_owned: false,
    url: '/api/v2/observability/incidents/suppressions',
    item_url: '/api/v2/observability/incidents/suppressions/{suppression_id}',
    list: {
      id: 'listIncidentSuppressions',
      summary: 'Suppressions of incidents, newest first',
      reply: 'IncidentSuppressionList',
      field: 'suppressions',
      filter: { state: stateSchema.optional().describe('Only suppressions in this state.') },
    },
    create: { id: 'createIncidentSuppression', summary: 'Mute incidents for a time' },
    get: { id: 'getIncidentSuppression', summary: 'Read a suppression' },
    put: { id: 'putIncidentSuppression', summary: 'Replace a suppression' },
    delete: { id: 'deleteIncidentSuppression', summary: 'Delete a suppression' },
    reads: { level: 'project', role: 'viewer', key: 'incidents:read' },
    writes: { level: 'project', role: 'admin', key: null },
    body: storableSuppression,
    reply: suppressionSchema,
    toColumns: async (_trx, { spec, before, by }) => ({
      columns: { spec, created_by: before?.created_by ?? by },
    }),
    select: ({ project_id }, page) => selectInState(deps, project_id, page),
    toReplies: (suppressions, { project_id }) => toReplies(deps, project_id, suppressions),
  })
}

/** A stored suppression. */
type StoredSuppression = Omit<Selectable<IncidentTables['incident_suppressions']>, 'spec'> & {
  spec: Suppression
}

/** Maximum suppressions of a project; each evaluation reads them. */
const suppressions_max = 200

/** The table of suppressions. */
const suppressionTable = new NamedTable<StoredSuppression>('incident_suppressions', {
  json: ['spec'],
  noun: 'suppression',
  not_found: 'suppression_not_found',
})

/** Counts the unresolved incidents that each suppression mutes now, by its id. */
async function countMuted(db: IncidentDb, project_id: string): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; n: number }>`
    select id, count(*)::int as n
    from (
      select jsonb_array_elements_text(core->'suppressed_by') as id from incidents
      where project_id = ${project_id} and state <> 'resolved' and suppressed
    ) as muted
    group by id`.execute(db)
  return new Map(rows.map(({ id, n }) => [id, n]))
}

/** An unresolved incident, as matchers read it. */
type OpenIncident = Matched & { incident_id: string; number: number; title: string }

/** Returns the newest unresolved incidents of a project. */
async function openIncidentsOf(
  db: IncidentDb,
  project_id: string,
  limit: number,
): Promise<OpenIncident[]> {
  return db
    .selectFrom('incidents')
    .select(['id as incident_id', 'number', 'title', 'rule_name as rule', 'severity'])
    .select(['dedup_key', 'labels', 'group_values as group'])
    .where('project_id', '=', project_id)
    .where('state', '<>', 'resolved')
    .orderBy('number', 'desc')
    .limit(limit)
    .execute()
}

/** Selects a page of suppressions in a state, which depends on the time. */
async function selectInState(
  { db, clock }: IncidentRoutesDeps,
  project_id: string,
  { filter: { state }, after, limit }: IdPage & { filter: DocumentFilter },
): Promise<{ rows: StoredSuppression[]; counted: number }> {
  const all = { after: undefined, limit: suppressions_max, count_max: suppressions_max }
  const { rows } = await suppressionTable.select(db, project_id, all)
  const now_ms = clock.now_ms()
  const matching = rows.filter(
    ({ spec }) => state === undefined || timesOf(spec, now_ms).state === state,
  )
  const page = matching.filter(({ id }) => after === undefined || id < after).slice(0, limit)
  return { rows: page, counted: matching.length }
}

async function toReplies(
  { db, clock }: IncidentRoutesDeps,
  project_id: string,
  suppressions: readonly StoredSuppression[],
): Promise<z.input<typeof suppressionSchema>[]> {
  const [muted, rules] = await Promise.all([
    countMuted(db, project_id),
    ruleReferences(db, project_id),
  ])
  const now_ms = clock.now_ms()
  return suppressions.map((one) => toReply(one, { muted, rules, now_ms }))
}

/** Time ahead for which windows are shown. */
const shown_ms = 14 * 86_400_000

type ReplyFacts = {
  muted: ReadonlyMap<string, number>
  rules: readonly NamedRule[]
  now_ms: number
}

function toReply(
  { id: suppression_id, project_id: _, spec, ...row }: StoredSuppression,
  { muted, rules, now_ms }: ReplyFacts,
): z.input<typeof suppressionSchema> {
  const { state, next_start_ms } = timesOf(spec, now_ms)
  return {
    suppression_id,
    ...spec,
    state,
    active: state === 'active',
    next_start: next_start_ms === null ? null : new Date(next_start_ms).toISOString(),
    next_windows: occurrencesOf(spec, now_ms, now_ms + shown_ms).map((time) => ({
      from: new Date(time.from_ms).toISOString(),
      to: new Date(time.to_ms).toISOString(),
    })),
    muted_incidents: muted.get(suppression_id) ?? 0,
    warnings: suppressionWarnings(spec, rules, now_ms),
    ...row,
  }
}

/** Maximum unresolved incidents that a preview compares, the newest ones. */
const compared_max = 1_000

/** Matched incidents in a reply. */
const shown_max = 100

/** Hostile globs may take 2 ms an incident; other requests are served between the batches. */
const batch = 20

const matchSchema = record('SuppressedIncident', {
  incident_id: z.uuid(),
  number: z.int(),
  title: z.string(),
  rule: z.string(),
  severity: z.enum(severities),
})

/**
 * POST /api/v2/observability/incidents/suppressions/preview: the unresolved incidents that a
 * suppression would mute. Stores nothing.
 */
export function previewSuppression({ db, clock }: IncidentRoutesDeps): Route {
  const running = new Semaphore({ permits_max: 1 })
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/incidents/suppressions/preview',
    id: 'previewIncidentSuppression',
    summary: 'List the incidents that a suppression would mute',
    audit: 'refusals',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    body: storableSuppression,
    reply: record('IncidentSuppressionPreview', {
      active: z.boolean().describe('Whether it would be in effect now.'),
      next_start: z.iso.datetime().nullable(),
      warnings: z.array(z.string()).describe('As in the reply of the suppression.'),
      compared: z.int().describe('Unresolved incidents that were compared: the newest 1,000.'),
      matching: z.int().describe('Compared incidents that match.'),
      incidents: z.array(matchSchema).max(shown_max).describe('Matches, newest first.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ body, caller: { project_id }, signal }) => {
      const open = await openIncidentsOf(db, project_id, compared_max)
      const found = await running.run(() => findMatches(body, open, signal), signal)
      const now_ms = clock.now_ms()
      const { state, next_start_ms } = timesOf(body, now_ms)
      return {
        active: state === 'active',
        next_start: next_start_ms === null ? null : new Date(next_start_ms).toISOString(),
        warnings: suppressionWarnings(body, await ruleReferences(db, project_id), now_ms),
        compared: open.length,
        matching: found.length,
        incidents: found
          .slice(0, shown_max)
          .map(({ dedup_key: _, labels: __, group: ___, ...shown }) => shown),
      }
    },
  })
}

async function findMatches(
  suppression: Suppression,
  open: readonly OpenIncident[],
  signal: AbortSignal,
): Promise<OpenIncident[]> {
  const found: OpenIncident[] = []
  for (const [at, incident] of open.entries()) {
    if (at % batch === batch - 1) {
      await setImmediate()
      signal.throwIfAborted()
    }
    if (isMatch(suppression, incident)) found.push(incident)
  }
  return found
}
