import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { openProjectSlots } from '../../../kernel/project-slots.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { recomputeCertification } from '../certifications/recompute.ts'
import { certificationVerdict } from './certification-reply.ts'
import {
  type CertificationRoutesDeps,
  certificationPath,
  readCertification,
  readScope,
} from './contract.ts'

/** Maximum concurrent recomputations of a process. */
const running_max = 2

/** Limits recomputations, because each reads all evidence into memory. */
const slotLimits = {
  work: 'computations of certifications',
  running_max: 1,
  waiting_max: 4,
  wait_ms_max: 5_000,
}

/**
 * POST /api/v1/reliability/phase10/release-certification/{certification_id}/recompute: computes the
 * result again from the stored evidence and compares it with the statement. Changes nothing.
 */
export function recomputeReleaseCertification(deps: CertificationRoutesDeps): Route {
  const { db, clock } = deps
  const slots = openProjectSlots(slotLimits)
  const running = new Semaphore({ permits_max: running_max })
  return defineRoute({
    method: 'POST',
    url: '/api/v1/reliability/phase10/release-certification/{certification_id}/recompute',
    id: 'recomputeReleaseCertification',
    summary: 'Compute a release certification again from its evidence',
    audit: 'refusals',
    auth: 'jwt_or_key',
    scope: readScope,
    params: certificationPath,
    reply: record('RecomputedCertification', {
      certification_id: z.uuid(),
      result: z
        .enum(['equal', 'different', 'inconclusive'])
        .describe(
          'Whether the computed statement has the same bytes. `inconclusive`: the evidence was deleted.',
        ),
      verdict: certificationVerdict,
      reason: z.string().nullable(),
      payload_digest: z
        .string()
        .nullable()
        .describe('SHA-256 of the computed payload, in hex; null when inconclusive.'),
      stored_payload_digest: z.string().describe('SHA-256 of the payload of the statement.'),
    }),
    errors: [
      'certification_not_found',
      'certification_without_statement',
      'rate_limited',
      'store_unavailable',
    ],
    handle: async ({ params: { certification_id }, caller: { project_id }, signal }) => {
      const row = await readCertification(db, { project_id, certification_id })
      const recomputed = await slots.take({ project_id, signal }, () =>
        running.run(() => recomputeCertification(db, row, clock.now_ms()), signal),
      )
      if (recomputed !== undefined) return { certification_id, ...recomputed }
      throw problem('certification_without_statement', {
        detail: `The certification is ${row.state}. Only an ended one can be computed again.`,
      })
    },
  })
}
