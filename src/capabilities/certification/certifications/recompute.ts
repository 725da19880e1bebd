import { hash } from 'node:crypto'
import type { Envelope } from '../../signing/index.ts'
import type { Certification, CertificationDb } from '../evidence/contract.ts'
import type { Verdict } from '../gates/judge-gates.ts'
import { digestPolicy, type PolicyDocument } from '../policy/policy.ts'
import { encodeStatement } from '../statement/statement.ts'
import { computePredicate } from './certify.ts'

/** A certification that was computed again. Digests are SHA-256, in hexadecimal. */
export type Recomputed = {
  result: 'equal' | 'different' | 'inconclusive'
  verdict: Verdict
  /** `evidence_expired`, `policy_changed` or `payload_differs`. */
  reason: string | null
  payload_digest: string | null
  stored_payload_digest: string
}

/**
 * Computes a certification again from its stored evidence. Returns undefined without a statement.
 * The result is never certified if the evidence is deleted, or policy or statement differ.
 */
export async function recomputeCertification(
  db: CertificationDb,
  certification: Certification,
  now_ms: number,
): Promise<Recomputed | undefined> {
  const { statement, held_until, policy_digest, image_digest } = certification
  if (statement === null) return undefined
  const { payload } = JSON.parse(statement) as Envelope
  const stored_payload_digest = hash('sha256', Buffer.from(payload, 'base64'))
  const unknown = { verdict: 'inconclusive', payload_digest: null, stored_payload_digest } as const
  if (held_until === null || Date.parse(held_until) <= now_ms) {
    return { ...unknown, result: 'inconclusive', reason: 'evidence_expired' }
  }
  if (digestPolicy(certification.policy as PolicyDocument) !== policy_digest) {
    return { ...unknown, result: 'different', reason: 'policy_changed' }
  }
  const predicate = await computePredicate(db, certification)
  const payload_digest = hash('sha256', encodeStatement(predicate, image_digest ?? undefined))
  if (payload_digest !== stored_payload_digest) {
    return { ...unknown, payload_digest, result: 'different', reason: 'payload_differs' }
  }
  const { verdict } = predicate
  return { result: 'equal', verdict, reason: null, payload_digest, stored_payload_digest }
}
