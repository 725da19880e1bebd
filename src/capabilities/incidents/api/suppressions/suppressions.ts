import { z } from 'zod'
import { isUuid, newId } from '../../../../kernel/ids.ts'
import { problem } from '../../../../kernel/problem.ts'
import { idAfter, idPage, idPageQuery } from '../../../../model/id-pages.ts'
import { expected } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import {
  Answer,
  changedSince,
  defineRoute,
  etagOf,
  ifMatchHeader,
  type RequestHeaders,
  type Route,
  versionToReplace,
} from '../../../../platform/http/index.ts'
import { requesterOf } from '../../../jobs/index.ts'
import {
  occurrences_max,
  occurrencesOf,
  suppressionBody,
  suppressionShape,
  suppressionWindow,
  timesOf,
} from '../../muting/suppression.ts'
import { type NamedRule, suppressionWarnings } from '../../muting/suppression-warnings.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { ruleReferences } from '../rules/store.ts'
import {
  countMuted,
  deleteSuppression,
  findSuppression,
  insertSuppression,
  replaceSuppression,
  type StoredSuppression,
  selectSuppressions,
  suppressions_max,
  type WhichSuppression,
} from './store.ts'

const reads = { level: 'project', role: 'viewer', key: 'incidents:read' } as const
const writes = { level: 'project', role: 'admin', key: null } as const

const states = ['active', 'upcoming', 'expired'] as const
const stateSchema = z
  .enum(states, { error: expected(states.join(', ')) })
  .meta({ id: 'SuppressionState' })

const suppressionPath = z.strictObject({
  suppression_id: z.string().describe('Id of the suppression.'),
})

/** The body of a suppression that can be stored. */
export const storableSuppression = suppressionBody
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

const list = 'incident suppressions'

/** GET /api/v2/observability/incidents/suppressions: the suppressions, newest first. */
export function listSuppressions({ db, clock }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents/suppressions',
    id: 'listIncidentSuppressions',
    summary: 'Suppressions of incidents, newest first',
    auth: 'jwt_or_key',
    scope: reads,
    query: z.strictObject({
      state: stateSchema.optional().describe('Only suppressions in this state.'),
      ...idPageQuery,
    }),
    reply: record('IncidentSuppressionList', {
      suppressions: z.array(suppressionSchema),
      total: z.int().nonnegative(),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { state, limit, cursor }, caller: { project_id } }) => {
      const name = `${list} ${state ?? ''}`
      const before = idAfter(name, cursor)
      const [stored, muted, rules] = await Promise.all([
        selectSuppressions(db, project_id),
        countMuted(db, project_id),
        ruleReferences(db, project_id),
      ])
      const now_ms = clock.now_ms()
      const matching = stored.filter(
        ({ spec }) => state === undefined || timesOf(spec, now_ms).state === state,
      )
      const rows = matching
        .filter(({ id }) => before === undefined || id < before)
        .slice(0, limit + 1)
      const page = idPage(
        { rows, counted: matching.length },
        { list: name, limit, idOf: ({ id }) => id },
      )
      const suppressions = page.items.map((one) => toReply(one, { muted, rules, now_ms }))
      return { suppressions, ...page.info }
    },
  })
}

/**
 * POST /api/v2/observability/incidents/suppressions: mutes the messages of matching incidents. The
 * incidents are still recorded. It takes effect within seconds.
 */
export function postSuppression(deps: IncidentRoutesDeps): Route {
  const { db, clock } = deps
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/incidents/suppressions',
    id: 'createIncidentSuppression',
    summary: 'Mute incidents for a time',
    etag: true,
    status: 201,
    auth: 'jwt',
    scope: writes,
    idempotent: true,
    body: storableSuppression,
    reply: suppressionSchema,
    errors: ['limit_reached', 'store_unavailable'],
    handle: async ({ body: spec, caller }) => {
      const which = { project_id: caller.project_id, suppression_id: newId() }
      const at = new Date(clock.now_ms())
      const stored = await insertSuppression(db, which, { spec, at, by: requesterOf(caller) })
      if (stored !== undefined) return toAnswer(deps, stored)
      throw problem('limit_reached', {
        detail: `The project has ${suppressions_max} suppressions, the maximum. Delete expired ones first.`,
      })
    },
  })
}

/** GET /api/v2/observability/incidents/suppressions/{suppression_id}: one suppression. */
export function getSuppression(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents/suppressions/{suppression_id}',
    id: 'getIncidentSuppression',
    summary: 'Read a suppression',
    etag: true,
    auth: 'jwt_or_key',
    scope: reads,
    params: suppressionPath,
    reply: suppressionSchema,
    errors: ['suppression_not_found', 'store_unavailable'],
    handle: async ({ params, caller: { project_id } }) =>
      toAnswer(deps, await findOrThrow(deps, { ...params, project_id })),
  })
}

/** PUT /api/v2/observability/incidents/suppressions/{suppression_id}: replaces a suppression. */
export function putSuppression(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/observability/incidents/suppressions/{suppression_id}',
    id: 'putIncidentSuppression',
    summary: 'Replace a suppression',
    etag: true,
    auth: 'jwt',
    scope: writes,
    headers: [ifMatchHeader],
    params: suppressionPath,
    body: storableSuppression,
    reply: suppressionSchema,
    errors: ['suppression_not_found', 'precondition_failed', 'store_unavailable'],
    handle: async ({ params, body: spec, caller, headers }) => {
      const which = { ...params, project_id: caller.project_id }
      await findOrThrow(deps, which)
      const at = new Date(deps.clock.now_ms())
      const stored = await replaceSuppression(
        deps.db,
        { ...which, version: versionToReplace(headers) },
        { spec, at, by: requesterOf(caller) },
      )
      return toAnswer(deps, stored ?? (await throwChanged(deps, which, headers)))
    },
  })
}

/**
 * DELETE /api/v2/observability/incidents/suppressions/{suppression_id}: deletes a suppression. Open
 * incidents that it muted are announced as still firing.
 */
export function removeSuppression(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/observability/incidents/suppressions/{suppression_id}',
    id: 'deleteIncidentSuppression',
    summary: 'Delete a suppression',
    status: 204,
    auth: 'jwt',
    scope: writes,
    headers: [ifMatchHeader],
    params: suppressionPath,
    reply: z.undefined(),
    errors: ['suppression_not_found', 'precondition_failed', 'store_unavailable'],
    handle: async ({ params, caller: { project_id }, headers }) => {
      const which = { ...params, project_id }
      await findOrThrow(deps, which)
      const version = versionToReplace(headers)
      const isDeleted = await deleteSuppression(deps.db, { ...which, version })
      if (!isDeleted) await throwChanged(deps, which, headers)
      return undefined
    },
  })
}

async function findOrThrow(
  { db }: IncidentRoutesDeps,
  which: WhichSuppression,
): Promise<StoredSuppression> {
  const id = which.suppression_id
  const stored = isUuid(id) ? await findSuppression(db, which) : undefined
  if (stored !== undefined) return stored
  throw problem('suppression_not_found', {
    detail: `suppression_id: got "${id.slice(0, 80)}", expected the id of a suppression of this project`,
  })
}

/** Throws `precondition_failed`, or `suppression_not_found` if it was deleted meanwhile. */
async function throwChanged(
  deps: IncidentRoutesDeps,
  which: WhichSuppression,
  headers: RequestHeaders,
): Promise<never> {
  const { version } = await findOrThrow(deps, which)
  throw changedSince(headers, version)
}

async function toAnswer({ db, clock }: IncidentRoutesDeps, stored: StoredSuppression) {
  const [muted, rules] = await Promise.all([
    countMuted(db, stored.project_id),
    ruleReferences(db, stored.project_id),
  ])
  const headers = { etag: etagOf(stored.version) }
  return new Answer(toReply(stored, { muted, rules, now_ms: clock.now_ms() }), { headers })
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
    ...{ state, active: state === 'active' },
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
