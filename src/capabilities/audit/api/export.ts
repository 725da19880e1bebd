import { z } from 'zod'
import { toJsonLine } from '../../../kernel/json-lines.ts'
import { integerParameter } from '../../../model/list-query.ts'
import { Answer, defineRoute, linesMediaType, type Route } from '../../../platform/http/index.ts'
import { toRecordWithDetails } from '../events/event.ts'
import { selectChain, selectSegment } from '../events/store.ts'
import { toSealedRead } from '../reads/seal-reads.ts'
import { type AuditDeps, auditScope, chainErrors, chainQuery, findChainId } from './contract.ts'

/**
 * GET /api/v2/audit/export: records in the order of the chain as NDJSON, with all data that
 * `looptrace audit verify` needs: salts of the details, and the reads that a record seals.
 */
export function exportRecords(deps: AuditDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/audit/export',
    id: 'exportAuditRecords',
    summary: 'Records of the chain as NDJSON, with their proof',
    lines: 'always',
    auth: 'jwt',
    scope: auditScope,
    query: z.strictObject({
      ...chainQuery,
      after_seq: integerParameter({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'Number of the last record of the page before.',
      }),
      limit: integerParameter({
        minimum: 1,
        maximum: 1_000,
        default: 1_000,
        description: 'Maximum records, 1–1,000. An empty page is the end.',
      }),
    }),
    reply: z
      .string()
      .describe('One record a line: the fields of an AuditEvent, `details`, `reads`.'),
    errors: [...chainErrors, 'store_unavailable'],
    handle: async ({ query: { chain, after_seq: after, limit }, caller }) => {
      const chain_id = await findChainId(deps, { chain, caller })
      const rows = await selectChain(deps.db, { chain_id, after, limit })
      const lines: string[] = []
      let reads_left = reads_max
      for (const row of rows) {
        const { seq, segment_count } = row
        if (segment_count !== null && segment_count > reads_left) break
        reads_left -= segment_count ?? 0
        const segment =
          segment_count === null ? [] : await selectSegment(deps.db, { chain_id, seq })
        const reads = segment_count === null ? {} : { reads: segment.map(toSealedRead) }
        lines.push(toJsonLine({ ...toRecordWithDetails(row), ...reads }))
      }
      return new Answer('', {
        content: { media_type: linesMediaType, text: lines.join('') },
      })
    },
  })
}

/** Maximum reads in a page. A segment has at most 1,000 reads, so at least one fits. */
const reads_max = 5_000
