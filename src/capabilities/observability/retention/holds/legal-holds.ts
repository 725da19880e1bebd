import { z } from 'zod'
import { isUuid, newId, traceIdFrom } from '../../../../kernel/ids.ts'
import { decodeCursor, encodeCursor, pageInfo, totalExactMax } from '../../../../kernel/pages.ts'
import { problem } from '../../../../kernel/problem.ts'
import {
  cursorParameter,
  expected,
  flagParameter,
  isStorable,
  limitParameter,
} from '../../../../model/list-query.ts'
import { Answer, defineRoute, type Route } from '../../../../platform/http/index.ts'
import { asStoreProblem } from '../../../../platform/relational/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import type { RetentionDeps } from '../retention-deps.ts'
import {
  activeHolds_max,
  countHolds,
  type LegalHold,
  placeHold,
  releaseHold,
  selectHolds,
} from './store.ts'

const kinds = ['trace', 'task', 'conversation', 'user'] as const

const holdSchema = z.strictObject({
  hold_id: z.uuid(),
  kind: z.enum(kinds).describe('What is held: the whole of each trace that is or has it.'),
  value: z.string().describe('The trace_id, task_id, conversation_id or user_id.'),
  reason: z.string(),
  created_at: z.iso.datetime(),
  created_by: z.string().describe('`user:<id>`, `key:<id>` or `service_account:<id>`.'),
  released_at: z.iso.datetime().nullable(),
  released_by: z.string().nullable(),
})

const list = 'legal holds'
const value_chars_max = 256
const reason_chars_max = 1_000

const holdBody = z
  .strictObject({
    kind: z.enum(kinds, { error: expected(kinds.join(', ')) }),
    value: z
      .string()
      .min(1, { error: expected('1 to 256 characters') })
      .max(value_chars_max, { error: expected('at most 256 characters') })
      .refine(isStorable, { error: expected('text without U+0000') })
      .describe('A conversation may be named by the X-Conversation-ID that the client sent.'),
    reason: z
      .string()
      .min(1, { error: expected('1 to 1,000 characters') })
      .max(reason_chars_max, { error: expected('at most 1,000 characters') })
      .refine(isStorable, { error: expected('text without U+0000') }),
  })
  .transform((body, context) => {
    if (body.kind !== 'trace') return body
    const value = traceIdFrom(body.value)
    if (value !== undefined) return { ...body, value }
    const message = expected('a trace id: a UUID or 32 hex digits')({ input: body.value })
    context.addIssue({ code: 'custom', path: ['value'], message })
    return z.NEVER
  })

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
    reply: z.strictObject({
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
      ]).catch(rethrow)
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      const next = last === undefined ? null : encodeCursor(list, [last.id])
      return { holds: page.map(shown), ...pageInfo(counted, next) }
    },
  })
}

/**
 * POST /api/v2/observability/legal-holds: from now on no run deletes it. A run that is under way
 * heeds it from its next day on. What is held already is answered with 200, as it stands.
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
    errors: ['too_many_holds', 'store_unavailable'],
    handle: async ({ body, caller }) => {
      const { project_id } = caller
      const created_at = new Date(clock.now_ms())
      const created_by = requesterOf(caller)
      const hold = { id: newId(), project_id, ...body, created_at, created_by }
      const placed = await placeHold(db, hold).catch(rethrow)
      if (placed !== undefined) {
        return new Answer(shown(placed.hold), { status: placed.made ? 201 : 200 })
      }
      throw problem('too_many_holds', {
        detail: `The project has ${activeHolds_max} holds, as many as it can: release one.`,
      })
    },
  })
}

/** DELETE /api/v2/observability/legal-holds/{hold_id}: the next run may delete it; the record stays. */
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
    errors: ['legal_hold_not_found', 'store_unavailable'],
    handle: async ({ params: { hold_id: id }, caller }) => {
      const released_at = new Date(clock.now_ms())
      const about = { project_id: caller.project_id, id, released_at }
      const released = isUuid(id)
        ? await releaseHold(db, { ...about, released_by: requesterOf(caller) }).catch(rethrow)
        : undefined
      if (released !== undefined) return shown(released)
      throw problem('legal_hold_not_found', {
        detail: `hold_id: got "${id.slice(0, 80)}", which is no legal hold of this project`,
      })
    },
  })
}

function rethrow(error: unknown): never {
  throw asStoreProblem(error)
}

function shown({ id: hold_id, project_id: _, ...hold }: LegalHold) {
  return { hold_id, ...hold }
}

function positionIn(cursor: string): string {
  const [id] = decodeCursor(list, cursor, 1)
  if (typeof id === 'string' && isUuid(id)) return id
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this list`,
  })
}
