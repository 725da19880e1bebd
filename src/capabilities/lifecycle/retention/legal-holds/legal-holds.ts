import { z } from 'zod'
import { isUuid, newId, traceIdFrom } from '../../../../kernel/ids.ts'
import { problem } from '../../../../kernel/problem.ts'
import { idPage, idPageAfter, idPageQuery, pageFields } from '../../../../model/id-pages.ts'
import { expected, flagParameter, isStorable } from '../../../../model/list-query.ts'
import { managedByField, refuseUnlessOwner } from '../../../../model/managed-by.ts'
import { record } from '../../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route, requesterOf } from '../../../../platform/http/index.ts'
import type { RetentionDeps } from '../contract.ts'
import { tooManyHolds } from './managed-store.ts'
import {
  countHolds,
  findHold,
  type LegalHold,
  placeHold,
  releaseHold,
  selectHolds,
} from './store.ts'

/** Kinds of held items. A hold keeps every trace that is, or belongs to, the item. */
export const kinds = ['trace', 'task', 'conversation', 'user'] as const

const value_chars_max = 256
const reason_chars_max = 1_000

/** Fields of a request for a hold. */
export const holdFields = {
  kind: z.enum(kinds, { error: expected(kinds.join(', ')) }).meta({ id: 'LegalHoldKind' }),
  value: z
    .string()
    .min(1, { error: expected('1 to 256 characters') })
    .max(value_chars_max, { error: expected('at most 256 characters') })
    .refine(isStorable, { error: expected('text without U+0000') })
    .describe('Id of the item. Conversations may be named by the X-Conversation-ID of the client.'),
  reason: z
    .string()
    .min(1, { error: expected('1 to 1,000 characters') })
    .max(reason_chars_max, { error: expected('at most 1,000 characters') })
    .refine(isStorable, { error: expected('text without U+0000') }),
}

/** Transforms a hold: normalises the id of a trace to its stored spelling. */
export function withTraceId<Hold extends { kind: (typeof kinds)[number]; value: string }>(
  hold: Hold,
  context: z.RefinementCtx,
): Hold {
  if (hold.kind !== 'trace') return hold
  const value = traceIdFrom(hold.value)
  if (value !== undefined) return { ...hold, value }
  const message = expected('a trace id: a UUID or 32 hex digits')({ input: hold.value })
  context.addIssue({ code: 'custom', path: ['value'], message })
  return z.NEVER
}

const holdSchema = record('LegalHold', {
  hold_id: z.uuid(),
  kind: z
    .enum(kinds)
    .describe('Kind of the held item. A hold keeps every trace that is, or belongs to, the item.'),
  value: z.string().describe('The trace_id, task_id, conversation_id or user_id.'),
  reason: z.string(),
  created_at: z.iso.datetime(),
  created_by: z
    .string()
    .describe('`user:<id>`, `key:<id>`, `service_account:<id>` or `operator:<id>`.'),
  released_at: z.iso.datetime().nullable(),
  released_by: z.string().nullable(),
  managed_by: managedByField
    .nullable()
    .describe('Kubernetes resource that declares the hold; only that resource may release it.'),
  name: z.string().nullable().describe('Name of the hold in that resource.'),
})

const list = 'legal holds'
const holdBody = record('PlaceLegalHoldRequest', holdFields).transform(withTraceId)

/** GET /api/v2/observability/legal-holds: legal holds, newest first. */
export function listLegalHolds({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/legal-holds',
    id: 'listLegalHolds',
    summary: 'Legal holds, newest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write' },
    query: z.strictObject({
      released: flagParameter('`true`: include released holds.'),
      ...idPageQuery,
    }),
    reply: record('LegalHoldList', {
      holds: z.array(holdSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, released = false }, caller: { project_id } }) => {
      const { count_max, ...bounds } = idPageAfter(list, { limit, cursor })
      const [rows, counted] = await Promise.all([
        selectHolds(db, { project_id, released, ...bounds }),
        countHolds(db, { project_id, released, limit: count_max }),
      ])
      const page = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
      return { holds: page.items.map(toRecord), ...page.info }
    },
  })
}

/**
 * POST /api/v2/observability/legal-holds: places a hold, so that no run deletes the item. A run
 * under way respects the hold from its next day on. When the same hold exists, the answer is that
 * hold, with 200. Holds that a resource declares do not count, because they may end with the
 * resource.
 */
export function postLegalHold({ db, clock }: RetentionDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/legal-holds',
    id: 'placeLegalHold',
    summary: 'Keep a trace, task, conversation or user from being deleted',
    status: 201,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write', in_archived: true },
    body: holdBody,
    reply: holdSchema,
    also: {
      status: 200,
      description: 'The hold exists already; the answer is that hold, unchanged.',
      reply: holdSchema,
    },
    errors: ['too_many_holds', 'store_unavailable'],
    handle: async ({ body, caller }) => {
      const { project_id } = caller
      const created_at = new Date(clock.now_ms())
      const created_by = requesterOf(caller)
      const hold = { id: newId(), project_id, ...body, created_at, created_by }
      const placed = await placeHold(db, hold)
      if (placed !== undefined) {
        return new Answer(toRecord(placed.hold), { status: placed.is_new ? 201 : 200 })
      }
      throw tooManyHolds()
    },
  })
}

/**
 * DELETE /api/v2/observability/legal-holds/{hold_id}: releases a hold, so that the next run may
 * delete the item. The record is kept. Holds that a resource declares are refused.
 */
export function deleteLegalHold({ db, clock }: RetentionDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/observability/legal-holds/{hold_id}',
    id: 'releaseLegalHold',
    summary: 'Release a legal hold',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write', in_archived: true },
    params: z.strictObject({ hold_id: z.string().describe('The `hold_id` of the list.') }),
    reply: holdSchema,
    errors: ['legal_hold_not_found', 'managed_by_kubernetes', 'store_unavailable'],
    handle: async ({ params: { hold_id: id }, caller: { project_id, ...caller } }) => {
      const released_at = new Date(clock.now_ms())
      const about = { project_id, id, released_at, released_by: requesterOf(caller) }
      const released = isUuid(id) ? await releaseHold(db, about) : undefined
      if (released !== undefined) return toRecord(released)
      const managed = isUuid(id) ? await findHold(db, about) : undefined
      refuseUnlessOwner(managed?.managed_by ?? null, null)
      throw problem('legal_hold_not_found', {
        detail: `hold_id: got "${id.slice(0, 80)}", which is not a legal hold of this project`,
      })
    },
  })
}

function toRecord({ id: hold_id, project_id: _, managed_name: name, ...hold }: LegalHold) {
  return { hold_id, ...hold, name }
}
