import { z } from 'zod'
import { cutPage, encodeCursor } from '../../../kernel/pages.ts'
import { idAfter } from '../../../model/id-pages.ts'
import { cursorParameter, limitParameter, textParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { auditedReadSchema, toAuditedRead } from '../events/audited-read.ts'
import { selectReads } from '../events/store.ts'
import { type AuditDeps, auditScope, chainErrors, chainQuery, findChainId } from './contract.ts'

const list = 'audited reads'
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
      reads: z.array(auditedReadSchema),
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
