import { z } from 'zod'
import { cutPage, decodeCursor, encodeCursor, invalidCursor } from '../../../kernel/pages.ts'
import { cursorParameter, limitParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { answered } from '../stream/post.ts'
import { type SetAsidePosition, selectSetAside } from '../stream/refusals.ts'
import { type AuditDeps, auditScope, chainErrors, chainQuery, findChainId } from './contract.ts'

const list = 'set-aside audit records'

/** GET /api/v2/audit/set-aside-records: records that streams go on without, newest first. */
export function getSetAside(deps: AuditDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/audit/set-aside-records',
    id: 'listSetAsideAuditRecords',
    summary: 'Records that a receiver of an audit stream refuses, newest first',
    auth: 'jwt',
    scope: auditScope,
    query: z.strictObject({ ...chainQuery, limit: limitParameter, cursor: cursorParameter }),
    reply: record('SetAsideAuditRecordList', {
      records: z.array(
        record('SetAsideAuditRecord', {
          stream: z.string().describe('`webhook` or `otlp`.'),
          seq: z.int().positive().describe('Number of the record in its chain.'),
          reason: z.string().describe("The receiver's last answer."),
          attempts: z.int().describe('Failed attempts to send only this record.'),
          set_aside_at: z.iso.datetime().describe('Time when the stream went on without it.'),
        }),
      ),
      next_cursor: z.string().nullable(),
    }),
    errors: [...chainErrors, 'invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { chain, limit, cursor }, caller }) => {
      const chain_id = await findChainId(deps, { chain, caller })
      const before = readCursor(cursor)
      const rows = await selectSetAside(deps.db, { chain_id, before, limit: limit + 1 })
      const { items, last } = cutPage(rows, limit)
      return {
        records: items.map(({ status, ...item }) => ({ ...item, reason: answered(status) })),
        next_cursor: last === undefined ? null : encodeCursor(list, [last.seq, last.stream]),
      }
    },
  })
}

function readCursor(cursor: string | undefined): SetAsidePosition | undefined {
  if (cursor === undefined) return undefined
  const [seq, stream] = decodeCursor(list, cursor, 2)
  if (Number.isSafeInteger(seq) && typeof stream === 'string') return { seq: Number(seq), stream }
  throw invalidCursor(cursor)
}
