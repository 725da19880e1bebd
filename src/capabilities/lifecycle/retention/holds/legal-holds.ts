import { z } from 'zod'
import { isUuid, newId } from '../../../../kernel/ids.ts'
import { decodeCursor, encodeCursor, pageInfo, totalExactMax } from '../../../../kernel/pages.ts'
import { problem } from '../../../../kernel/problem.ts'
import { cursorParameter, flagParameter, limitParameter } from '../../../../model/list-query.ts'
import { managedByField, refuseUnlessOwner } from '../../../../model/managed-by.ts'
import { record } from '../../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../../platform/http/index.ts'
import { requesterOf } from '../../../jobs/index.ts'
import type { RetentionDeps } from '../retention-deps.ts'
import { holdFields, kinds, withTraceId } from './hold-fields.ts'
import { tooManyHolds } from './managed-store.ts'
import {
  countHolds,
  findHold,
  type LegalHold,
  placeHold,
  releaseHold,
  selectHolds,
} from './store.ts'

const holdSchema = record('LegalHold', {
  hold_id: z.uuid(),
  kind: z.enum(kinds).describe('What is held: the whole of each trace that is or has it.'),
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
    .describe('The resource in Kubernetes that declares it, and alone may release it.'),
  name: z.string().nullable().describe('How that resource names it.'),
})

const list = 'legal holds'
const holdBody = record('PlaceLegalHoldRequest', holdFields).transform(withTraceId)

/** GET /api/v2/observability/legal-holds: newest first. */
export function listLegalHolds({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/legal-holds',
    id: 'listLegalHolds',
    summary: 'What may not be deleted, newest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write' },
    query: z.strictObject({
      released: flagParameter('`true`: also holds that were released.'),
      limit: limitParameter,
      cursor: cursorParameter,
    }),
    reply: record('LegalHoldList', {
      holds: z.array(holdSchema),
      total: z.int().nonnegative(),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, released = false }, caller: { project_id } }) => {
      const before = cursor === undefined ? undefined : positionIn(cursor)
      const [rows, counted] = await Promise.all([
        selectHolds(db, { project_id, released, before, limit: limit + 1 }),
        countHolds(db, { project_id, released, limit: totalExactMax + 1 }),
      ])
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      const next = last === undefined ? null : encodeCursor(list, [last.id])
      return { holds: page.map(shown), ...pageInfo(counted, next) }
    },
  })
}

/**
 * POST /api/v2/observability/legal-holds: from now on no run deletes it. A run that is under way
 * heeds it from its next day on. What is held already is answered with 200, as it stands; a hold
 * that a resource declares does not count, for it may go with the resource.
 */
export function postLegalHold({ db, clock }: RetentionDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/legal-holds',
    id: 'placeLegalHold',
    summary: 'Keep a trace, task, conversation or user from being deleted',
    status: 201,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write' },
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
        return new Answer(shown(placed.hold), { status: placed.made ? 201 : 200 })
      }
      throw tooManyHolds()
    },
  })
}

/**
 * DELETE /api/v2/observability/legal-holds/{hold_id}: the next run may delete it; the record stays. A
 * hold that a resource declares is refused.
 */
export function deleteLegalHold({ db, clock }: RetentionDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/observability/legal-holds/{hold_id}',
    id: 'releaseLegalHold',
    summary: 'Release a legal hold',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write' },
    params: z.strictObject({ hold_id: z.string().describe('The `hold_id` of the list.') }),
    reply: holdSchema,
    errors: ['legal_hold_not_found', 'managed_by_kubernetes', 'store_unavailable'],
    handle: async ({ params: { hold_id: id }, caller: { project_id, ...caller } }) => {
      const released_at = new Date(clock.now_ms())
      const about = { project_id, id, released_at, released_by: requesterOf(caller) }
      const released = isUuid(id) ? await releaseHold(db, about) : undefined
      if (released !== undefined) return shown(released)
      const managed = isUuid(id) ? await findHold(db, about) : undefined
      refuseUnlessOwner(managed?.managed_by ?? null, null)
      throw problem('legal_hold_not_found', {
        detail: `hold_id: got "${id.slice(0, 80)}", which is no legal hold of this project`,
      })
    },
  })
}

function shown({ id: hold_id, project_id: _, managed_name: name, ...hold }: LegalHold) {
  return { hold_id, ...hold, name }
}

function positionIn(cursor: string): string {
  const [id] = decodeCursor(list, cursor, 1)
  if (typeof id === 'string' && isUuid(id)) return id
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this list`,
  })
}
