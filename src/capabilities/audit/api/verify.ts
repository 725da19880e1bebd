import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { verifyStoredChain } from '../checkpoints/verify-stored-chain.ts'
import { type AuditDeps, auditScope, chainErrors, chainQuery, findChainId } from './contract.ts'

/** GET /api/v2/audit/verify: checks the chain against its checkpoints. */
export function verifyChain(deps: AuditDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/audit/verify',
    id: 'verifyAuditChain',
    summary: 'Check the chain against the checkpoints in the store',
    auth: 'jwt',
    scope: auditScope,
    query: z.strictObject(chainQuery),
    reply: record('AuditVerification', {
      chain_id: z.uuid(),
      valid: z.boolean().describe('Whether there are no faults.'),
      from_seq: z.int().describe('The first record that was checked.'),
      seq: z.int().describe('The last record that was checked.'),
      records: z.int().describe('Checked records, at most the newest 100,000 or so.'),
      pruned_seq: z.int().describe('Records up to this one were deleted by retention. 0: none.'),
      protected_seq: z
        .int()
        .describe('Number of the newest checkpoint. Later records are not protected yet. 0: none.'),
      checkpoints: z.int().describe('Checkpoints that were used.'),
      erased: z.int().describe('Details that were erased.'),
      faults: z.array(
        record('AuditFault', {
          kind: z.string(),
          seq: z.int().describe('Number of the record at which the fault shows.'),
          detail: z.string(),
        }),
      ),
    }),
    errors: [...chainErrors, 'store_unavailable'],
    handle: async ({ query: { chain }, caller, signal }) => {
      const chain_id = await findChainId(deps, { chain, caller })
      const { head, faults, ...report } = await verifyStoredChain(deps.db, { chain_id, signal })
      return { ...report, chain_id, valid: faults.length === 0, seq: head.seq, faults: [...faults] }
    },
  })
}
