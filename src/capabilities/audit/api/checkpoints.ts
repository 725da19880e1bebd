import { z } from 'zod'
import { parsedJson } from '../../../kernel/json-values.ts'
import { cutPage } from '../../../kernel/pages.ts'
import { integerParameter, limitParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { selectCheckpoints } from '../events/store.ts'
import { type AuditDeps, auditScope, chainErrors, chainQuery, findChainId } from './contract.ts'

const envelopeSchema = record('SignedEnvelope', {
  payloadType: z.string(),
  payload: z.string().describe('Base64.'),
  signatures: z.array(record('EnvelopeSignature', { keyid: z.string(), sig: z.string() })),
})

/** GET /api/v2/audit/checkpoints: signed checkpoints of the chain, in their order. */
export function getCheckpoints(deps: AuditDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/audit/checkpoints',
    id: 'listAuditCheckpoints',
    summary: 'Signed checkpoints of the chain',
    auth: 'jwt',
    scope: auditScope,
    query: z.strictObject({
      ...chainQuery,
      from_seq: integerParameter({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'Only checkpoints of this record and later ones.',
      }),
      limit: limitParameter,
    }),
    reply: record('AuditCheckpointList', {
      checkpoints: z.array(
        record('AuditCheckpoint', {
          seq: z.int().describe('Number of the last record that it covers.'),
          kind: z
            .enum(['head', 'pruned'])
            .describe('`pruned`: retention deleted the records up to this one.'),
          created_at: z.iso.datetime(),
          published_at: z.iso
            .datetime()
            .nullable()
            .describe('Time when all sinks had received it. null: not yet, or no sink is set.'),
          envelope: envelopeSchema,
        }),
      ),
      next_seq: z.int().nullable().describe('`from_seq` of the next page.'),
    }),
    errors: [...chainErrors, 'store_unavailable'],
    handle: async ({ query: { chain, from_seq: from, limit }, caller }) => {
      const chain_id = await findChainId(deps, { chain, caller })
      // A record has at most two checkpoints, which stay on one page.
      const rows = await selectCheckpoints(deps.db, { chain_id, from, limit: limit + 2 })
      const next = rows[limit]
      const { items } = cutPage(
        rows.filter(({ seq }) => next === undefined || seq < next.seq),
        limit,
      )
      return {
        checkpoints: items.map(({ chain_id: _chain, envelope, ...row }) => ({
          ...row,
          envelope: parsedJson(envelope) as z.input<typeof envelopeSchema>,
        })),
        next_seq: next?.seq ?? null,
      }
    },
  })
}
