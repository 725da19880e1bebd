import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Certification } from '../evidence/contract.ts'
import type { Predicate } from '../statement/statement.ts'
import {
  certificationSchema,
  gateResultSchema,
  toCertificationReply,
} from './certification-reply.ts'
import { type CertificationRoutesDeps, readCertification, readScope } from './contract.ts'

type GateOfPredicate = Predicate['gates'][number]

/**
 * GET /api/v1/reliability/phase10/release-certification/compare: two certifications, gate by gate.
 * Differences of estimates are shown without an interval: a `regression` gate tests one.
 */
export function compareReleaseCertifications({ db, clock }: CertificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/reliability/phase10/release-certification/compare',
    id: 'compareReleaseCertifications',
    summary: 'Compare two release certifications gate by gate',
    auth: 'jwt_or_key',
    scope: readScope,
    query: z.strictObject({
      base: z.string().describe('Id of the earlier certification.'),
      head: z.string().describe('Id of the later certification.'),
    }),
    reply: record('CertificationComparison', {
      base: certificationSchema,
      head: certificationSchema,
      same_policy: z.boolean().describe('Whether both follow the same digest of a policy.'),
      gates: z.array(
        record('GateComparison', {
          metric: z.string(),
          kind: z.string(),
          base: gateResultSchema.nullable(),
          head: gateResultSchema.nullable(),
          change: z.number().nullable().describe('Estimate of `head` − estimate of `base`.'),
        }),
      ),
    }),
    errors: ['certification_not_found', 'store_unavailable'],
    handle: async ({ query: { base, head }, caller: { project_id } }) => {
      const earlier = await readCertification(db, { project_id, certification_id: base })
      const later = await readCertification(db, { project_id, certification_id: head })
      const now_ms = clock.now_ms()
      return {
        base: toCertificationReply(earlier, now_ms),
        head: toCertificationReply(later, now_ms),
        same_policy: earlier.policy_digest === later.policy_digest,
        gates: compareGates(gatesOf(earlier), gatesOf(later)),
      }
    },
  })
}

function gatesOf({ predicate }: Certification): readonly GateOfPredicate[] {
  return (predicate as Predicate | null)?.gates ?? []
}

function compareGates(base: readonly GateOfPredicate[], head: readonly GateOfPredicate[]) {
  const keyOf = ({ metric, kind }: GateOfPredicate) => `${kind} ${metric}`
  const earlier = new Map(base.map((gate) => [keyOf(gate), gate]))
  const later = new Map(head.map((gate) => [keyOf(gate), gate]))
  return [...new Set([...later.keys(), ...earlier.keys()])].flatMap((key) => {
    const [before = null, after = null] = [earlier.get(key), later.get(key)]
    const shown = after ?? before
    if (shown === null) return []
    const { metric, kind } = shown
    return [{ metric, kind, base: before, head: after, change: changeOf(before, after) }]
  })
}

function changeOf(before: GateOfPredicate | null, after: GateOfPredicate | null): number | null {
  const [from, to] = [before?.estimate ?? null, after?.estimate ?? null]
  return from === null || to === null ? null : to - from
}
