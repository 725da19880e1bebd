import { z } from 'zod'
import { parsedJson } from '../../../kernel/json-values.ts'
import { cutPage, encodeCursor } from '../../../kernel/pages.ts'
import { idAfter } from '../../../model/id-pages.ts'
import { cursorParameter, limitParameter, textParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { eventSchema } from '../events/event.ts'
import { type ReadRow, selectReads } from '../events/store.ts'
import { type AuditDeps, auditScope, chainErrors, chainQuery, findChainId } from './contract.ts'

const list = 'audited reads'
const { actor_kind, via, resource_type, resource_id, project_id, request_id, origin } =
  eventSchema.shape

const readSchema = record('AuditedRead', {
  read_at: z.iso.datetime(),
  action: z.string().describe('The operationId of the route.'),
  ...{ actor_kind, actor_id: z.string(), via, resource_type, resource_id, project_id, request_id },
  origin,
  segment_seq: z
    .int()
    .nullable()
    .describe(
      'Number of the record that seals the read. null: not sealed yet, for about a second.',
    ),
})

/** GET /api/v2/audit/reads: reads of content by people, newest first. */
export function getReads(deps: AuditDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/audit/reads',
    id: 'listAuditedReads',
    summary: 'Reads of content by people, newest first',
    auth: 'jwt',
    scope: auditScope,
    query: z.strictObject({
      ...chainQuery,
      actor_id: textParameter('Id of the user.'),
      resource_id: textParameter('Id of the task, trace, conversation or document.'),
      limit: limitParameter,
      cursor: cursorParameter,
    }),
    reply: record('AuditedReadList', {
      reads: z.array(readSchema),
      next_cursor: z.string().nullable(),
    }),
    errors: [...chainErrors, 'invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { chain, limit, cursor, ...query }, caller }) => {
      const chain_id = await findChainId(deps, { chain, caller })
      const before = idAfter(list, cursor)
      const rows = await selectReads(deps.db, { chain_id, ...query }, { before, limit: limit + 1 })
      const { items, last } = cutPage(rows, limit)
      return {
        reads: items.map(toAuditedRead),
        next_cursor: last === undefined ? null : encodeCursor(list, [last.id]),
      }
    },
  })
}

/** A read of content, as replies and streams show it. */
export type AuditedRead = z.input<typeof readSchema>

/** Returns a stored read without its salt. */
export function toAuditedRead(row: ReadRow): AuditedRead {
  const { id: _id, chain_id: _chain, origin_hash: _hash, origin_salt: _salt, ...read } = row
  const { origin_value, ...shown } = read
  const origin = origin_value === null ? null : parsedJson(origin_value)
  return { ...shown, origin: origin as AuditedRead['origin'] }
}
