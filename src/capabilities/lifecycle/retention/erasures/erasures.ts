import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { isUuid, newId } from '../../../../kernel/ids.ts'
import { problem } from '../../../../kernel/problem.ts'
import { idPage, idPageAfter, idPageQuery, pageFields } from '../../../../model/id-pages.ts'
import { expected, isStorable } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route, requesterOf } from '../../../../platform/http/index.ts'
import { enqueueJob } from '../../../jobs/index.ts'
import type { RetentionDeps } from '../contract.ts'
import { activeHolds } from '../legal-holds/store.ts'
import { erasureKind } from './erasure-job.ts'
import { readReceipt, receiptSchema, userDigest } from './receipt.ts'
import {
  countErasures,
  type Erasure,
  erasureKey,
  findErasure,
  findOpenErasure,
  insertErasure,
  noteJob,
  selectErasures,
} from './store.ts'

const list = 'erasures'

const erasureSchema = record('Erasure', {
  erasure_id: z.uuid(),
  state: z.enum(['running', 'completed']),
  user_id_digest: z
    .string()
    .describe(
      'HMAC-SHA-256 of the user’s id with a key of the project; the id itself is not kept.',
    ),
  reason: z.string(),
  requested_by: z.string().describe('`user:<id>`, `key:<id>` or `service_account:<id>`.'),
  created_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
  job_id: z.uuid().nullable(),
  unreadable_at: z.iso
    .datetime()
    .nullable()
    .describe('Time when the data became unreadable in every store; the purge follows.'),
  receipt: receiptSchema.nullable().describe('null until the erasure is completed.'),
})

const erasureBody = record('EraseUserRequest', {
  user_id: z
    .string()
    .min(1, { error: expected('1 to 256 characters') })
    .max(256, { error: expected('at most 256 characters') })
    .refine(isStorable, { error: expected('text without U+0000') })
    .describe('Id of the user, as in X-User-ID and in records.'),
  reason: z
    .string()
    .min(1, { error: expected('1 to 1,000 characters') })
    .max(1_000, { error: expected('at most 1,000 characters') })
    .refine(isStorable, { error: expected('text without U+0000') }),
  purge: z
    .boolean({ error: expected('true or false') })
    .default(true)
    .describe('Rewrite the files that contained the rows, so that their bytes are deleted too.'),
})
/**
 * POST /api/v2/observability/erasures: queues the deletion of a user's data. While an erasure of
 * the user is under way, the answer is that erasure. Refuses users under a legal hold (409).
 */
export function postErasure(deps: RetentionDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/erasures',
    id: 'eraseUser',
    summary: "Delete a user's data",
    status: 202,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write', in_archived: true },
    body: erasureBody,
    reply: erasureSchema,
    errors: ['held', 'store_unavailable'],
    handle: async ({ body: { user_id, reason, purge }, caller }) => {
      const { project_id } = caller
      const requested_by = requesterOf(caller)
      return requestErasure(deps, { project_id, user_id, reason, purge, requested_by })
    },
  })
}

/** GET /api/v2/observability/erasures: erasures, newest first. */
export function listErasures({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/erasures',
    id: 'listErasures',
    summary: 'Erasures of users, newest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write' },
    query: z.strictObject(idPageQuery),
    reply: record('ErasureList', {
      erasures: z.array(erasureSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor }, caller: { project_id } }) => {
      const { count_max, ...bounds } = idPageAfter(list, { limit, cursor })
      const [rows, counted] = await Promise.all([
        selectErasures(db, { project_id, ...bounds }),
        countErasures(db, { project_id, limit: count_max }),
      ])
      const page = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
      return { erasures: page.items.map(toRecord), ...page.info }
    },
  })
}

/** GET /api/v2/observability/erasures/{erasure_id}: an erasure, with its receipt when completed. */
export function getErasure({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/erasures/{erasure_id}',
    id: 'getErasure',
    summary: 'An erasure with its receipt',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'retention:write' },
    params: z.strictObject({ erasure_id: z.string().describe('The `erasure_id` of the list.') }),
    reply: erasureSchema,
    errors: ['erasure_not_found', 'store_unavailable'],
    handle: async ({ params: { erasure_id: id }, caller: { project_id } }) => {
      const erasure = isUuid(id) ? await findErasure(db, { project_id, id }) : undefined
      if (erasure !== undefined) return toRecord(erasure)
      throw problem('erasure_not_found', {
        detail: `erasure_id: got "${id.slice(0, 80)}", which is not an erasure of this project`,
      })
    },
  })
}

type ErasureRequest = {
  project_id: string
  user_id: string
  reason: string
  purge: boolean
  requested_by: string
}

/**
 * Queues the deletion of a user's data, or returns the erasure of the user that is under way.
 * Throws `held`.
 */
export async function requestErasure(
  { db, clock }: Pick<RetentionDeps, 'db' | 'clock'>,
  request: ErasureRequest,
): Promise<z.input<typeof erasureSchema>> {
  const { project_id, user_id, requested_by } = request
  const holds = await activeHolds(db, project_id)
  if (holds.some(({ kind, value }) => kind === 'user' && value === user_id)) {
    throw problem('held', {
      detail: 'A legal hold blocks the erasure of this user. Release the hold first.',
    })
  }
  const key = await erasureKey(db, project_id, () => randomBytes(32))
  const user_id_digest = userDigest(key, user_id)
  const open = await findOpenErasure(db, { project_id, user_id_digest })
  const created_at = new Date(clock.now_ms())
  const erasure =
    open ?? (await insertErasure(db, { ...request, id: newId(), user_id_digest, created_at }))
  // Also for an open erasure: a crash may have come before its job. The key allows only one job.
  const job = await enqueueJob(db, {
    project_id,
    requested_by,
    clock,
    kind: erasureKind,
    params: { erasure_id: erasure.id },
    once_key: `${erasureKind} ${erasure.id}`,
  })
  await noteJob(db, erasure.id, job.id)
  return toRecord({ ...erasure, job_id: job.id })
}

function toRecord(erasure: Erasure): z.input<typeof erasureSchema> {
  const { id: erasure_id, user_id_digest, reason, requested_by } = erasure
  const { created_at, unreadable_at, ended_at, job_id, receipt } = erasure
  return {
    erasure_id,
    state: ended_at === null ? 'running' : 'completed',
    user_id_digest: user_id_digest.toString('hex'),
    reason,
    requested_by,
    created_at,
    unreadable_at,
    ended_at,
    job_id,
    receipt: readReceipt(receipt),
  }
}
