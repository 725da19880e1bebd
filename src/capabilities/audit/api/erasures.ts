import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { erasePerson } from '../erase-person.ts'
import { type AuditDeps, auditScope, chainErrors, chainQuery, findChainId } from './contract.ts'

/**
 * POST /api/v2/audit/erasures: erases the personal data of a user in the chain's details. Another
 * administrator must erase that of an administrator, who could otherwise hide their own calls.
 */
export function eraseDetails(deps: AuditDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/audit/erasures',
    id: 'eraseAuditDetails',
    summary: 'Erase the personal data of a user in audit records',
    auth: 'jwt',
    scope: auditScope,
    query: z.strictObject(chainQuery),
    body: record('EraseAuditDetailsRequest', {
      user_id: z.uuid().toLowerCase().describe('The account. It may be deleted already.'),
    }),
    reply: record('AuditErasure', {
      origins: z.int().describe('Records and reads whose address and client were erased.'),
      changes: z
        .int()
        .describe('Records whose values were erased, because the values name the person.'),
    }),
    errors: [...chainErrors, 'store_unavailable'],
    handle: async ({ query: { chain }, body: { user_id }, caller }) => {
      const chain_id = await findChainId(deps, { chain, caller })
      if (user_id === caller.id) throw ownRecords()
      const erased_at = new Date(deps.clock.now_ms()).toISOString()
      return erasePerson(deps.db, { chain_id, user_id, erased_at })
    },
  })
}

function ownRecords(): Error {
  return problem('permission_denied', {
    detail: 'You cannot erase the origin of your own calls. Ask another administrator.',
  })
}
