import { z } from 'zod'
import { durationMs } from '../../../../kernel/duration.ts'
import { isUuid } from '../../../../kernel/ids.ts'
import { decodeCursor, encodeCursor } from '../../../../kernel/pages.ts'
import { problem } from '../../../../kernel/problem.ts'
import { cursorParameter, limitParameter } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { Answer, defineRoute, etagOf, type Route } from '../../../../platform/http/index.ts'
import { type Evidence, evidenceSchema, incidentSchema } from '../../incident-view.ts'
import type { Examples, IncidentDb } from '../../ports.ts'
import { groupKey } from '../../rules/groups.ts'
import { thresholdOf } from '../../rules/limit-text.ts'
import type { Rule } from '../../rules/rule.ts'
import { findIncident } from '../../store/find-incident.ts'
import { type StoredIncident, toIncidentView } from '../../store/incident-row.ts'
import type { IncidentRoutesDb, IncidentRoutesDeps } from '../contract.ts'
import { ruleTable } from '../rules/store.ts'
import {
  countMessages,
  type StoredEvent,
  selectEvents,
  selectFindings,
  selectSeries,
} from './store.ts'

const eventSchema = record('IncidentEvent', {
  seq: z.int().describe('Position in the timeline, from 1.'),
  type: z.string().describe('Such as `opened`, `acknowledged`, `escalated` or `resolved`.'),
  at: z.iso.datetime().describe('Time of the event; for rules, the end of the slot.'),
  recorded_at: z.iso.datetime(),
  actor: record('IncidentActor', {
    type: z.enum(['rule', 'user', 'key', 'channel', 'timer']),
    id: z.string(),
  }),
  note: z.string().nullable(),
  notify: z.array(z.string()).describe('Channels of an escalation step.'),
})

/** A page of a timeline. */
const timelineSchema = record('IncidentTimeline', {
  events: z.array(eventSchema).describe('Oldest first.'),
  total: z.int().nonnegative(),
  next_cursor: z.string().nullable().describe('Cursor of `…/events`; null on the last page.'),
})

/** GET /api/v2/observability/incidents/{id}/events: the timeline of an incident, oldest first. */
export function listIncidentEvents({ db }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents/{id}/events',
    id: 'listIncidentEvents',
    summary: 'Timeline of an incident, oldest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    params: z.strictObject({
      id: z.string().describe('Id of the incident, or its number in the project.'),
    }),
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter }),
    reply: timelineSchema,
    errors: ['incident_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params: { id }, query, caller: { project_id } }) =>
      readTimeline(db, await findIncident(db, project_id, id), query),
  })
}

/** Reads a page of the timeline of an incident. Throws `invalid_cursor`. */
async function readTimeline(
  db: IncidentDb,
  row: StoredIncident,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<z.input<typeof timelineSchema>> {
  const list = `events of ${row.id}`
  const after = cursor === undefined ? 0 : seqIn(list, cursor)
  const events = await selectEvents(db, row, { after, limit: limit + 1 })
  const page = events.slice(0, limit)
  const last = events.length > limit ? page.at(-1) : undefined
  return {
    events: page.map(toEvent),
    total: row.last_seq,
    next_cursor: last === undefined ? null : encodeCursor(list, [last.seq]),
  }
}

function seqIn(list: string, cursor: string): number {
  const [seq] = decodeCursor(list, cursor, 1)
  if (typeof seq === 'number' && Number.isSafeInteger(seq)) return seq
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this timeline`,
  })
}

function toEvent({ seq, type, at, recorded_at, note, notify, ...event }: StoredEvent) {
  const actor = { type: event.actor_type, id: event.actor_id }
  return { seq, type, at, recorded_at, actor, note, notify }
}

/** Path of one incident. */
export const incidentPath = z.strictObject({
  id: z.string().describe('Id of the incident, or its number in the project.'),
})

const resolvedEvidence = record('ResolvedEvidence', {
  ...evidenceSchema.shape,
  finding: record('EvidenceFinding', {
    finding_id: z.uuid(),
    task_id: z.string(),
    kind: z.string(),
    type: z.string(),
    state: z.string(),
    severity: z.enum(severities),
    confidence: z.number(),
    summary: z.string(),
    start_step: z.int().nullable().describe('Step of the task at which it starts, counted from 0.'),
    trace_id: z.string().nullable().describe('Trace of the observation at which it starts.'),
    observation_id: z.string().nullable().describe('Observation at which it starts.'),
  })
    .nullable()
    .describe('The finding as it is now; null if it was deleted, and for other evidence.'),
  links: z
    .record(z.string(), z.string())
    .describe('Paths of this API: `task`, `findings`, `trace`, `ledger`.'),
})

const seriesSchema = record('IncidentSeries', {
  rule: z.string(),
  threshold: z
    .number()
    .nullable()
    .describe('Value above or below which the rule fires; null if it depends on other data.'),
  points: z
    .array(
      record('SeriesPoint', {
        at: z.iso.datetime().describe('End of the slot.'),
        value: z.number().nullable(),
        samples: z.int(),
      }),
    )
    .max(500),
})

const detailSchema = record('IncidentDetail', {
  ...incidentSchema.shape,
  evidence: z.array(resolvedEvidence).max(50),
  timeline: timelineSchema,
  series: seriesSchema
    .nullable()
    .describe('Measurements from before the opening; null for event rules and deleted rules.'),
  deliveries: record('DeliveryCounts', {
    waiting: z.int(),
    delivered: z.int(),
    dead: z.int(),
    superseded: z.int(),
  }).describe('Messages by state.'),
})

/** GET /api/v2/observability/incidents/{id}: an incident with its timeline and evidence. */
export function getIncident({ db, examples }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents/{id}',
    id: 'getIncident',
    summary: 'Read an incident: timeline, evidence and series',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    params: incidentPath,
    reply: detailSchema,
    errors: ['incident_not_found', 'store_unavailable'],
    handle: async ({ params: { id }, caller: { project_id }, signal }) => {
      const row = await findIncident(db, project_id, id)
      const [evidence, timeline, series, messages] = await Promise.all([
        readEvidence(db, row, (rule) => examplesOf(examples, row, rule, signal)),
        readTimeline(db, row, { limit: 200 }),
        readSeries(db, row),
        countMessages(db, row.id),
      ])
      const deliveries = { waiting: 0, delivered: 0, dead: 0, superseded: 0, ...messages }
      const body = { ...toIncidentView(row), evidence, timeline, series, deliveries }
      return new Answer(body, { headers: { etag: etagOf(row.version) } })
    },
  })
}

const evidence_max = 50

function examplesOf(
  examples: Examples,
  { project_id, group_values: group, opened_at }: StoredIncident,
  rule: Rule,
  signal: AbortSignal,
): Promise<Evidence[]> {
  const asked = { project_id, rule, group, at_ms: Date.parse(opened_at), signal }
  return examples(asked)
}

async function readEvidence(
  db: IncidentRoutesDb,
  row: StoredIncident,
  examples: (rule: Rule) => Promise<Evidence[]>,
): Promise<z.input<typeof resolvedEvidence>[]> {
  const stored = await ruleTable.findBy(db, row.project_id, { name: row.rule_name })
  const found = stored === undefined ? [] : await examples(stored.spec)
  const evidence = [...toIncidentView(row).evidence, ...found].slice(0, evidence_max)
  const ids = evidence.flatMap(({ kind, id = '' }) => (kind === 'finding' && isUuid(id) ? id : []))
  const findings = await selectFindings(db, row.project_id, ids)
  return evidence.map((one) => ({
    ...one,
    finding: findings.get(one.id ?? '') ?? null,
    links: linksOf(one),
  }))
}

/** Returns the paths at which evidence is read. Ids of tasks are texts of clients. */
function linksOf({
  kind,
  task_id,
  trace_id,
}: z.output<typeof evidenceSchema>): Record<string, string> {
  const task = task_id !== undefined && `/api/v1/tasks/${encodeURIComponent(task_id)}`
  return {
    ...(task && { task, findings: `${task}/findings` }),
    ...(trace_id !== undefined && {
      trace: `/api/v2/observability/traces/${encodeURIComponent(trace_id)}/explorer`,
    }),
    ...(kind === 'ledger' && { ledger: '/api/v2/observability/ledger' }),
  }
}

const points_max = 500

/** Slots of a series before the opening. */
const slotsBefore = 60

async function readSeries(
  db: IncidentRoutesDb,
  row: StoredIncident,
): Promise<z.input<typeof seriesSchema> | null> {
  const found = await selectSeries(db, row, {
    group_key: groupKey(row.group_values),
    from: ({ spec }) =>
      new Date(Date.parse(row.opened_at) - slotsBefore * durationMs(spec.interval)),
    limit: points_max,
  })
  if (found === undefined || found.rule.kind === 'event') return null
  const { rule, samples } = found
  return {
    rule: rule.name,
    threshold: thresholdOf(rule.spec),
    points: samples.map(({ slot: at, value, samples }) => ({ at, value, samples })),
  }
}
