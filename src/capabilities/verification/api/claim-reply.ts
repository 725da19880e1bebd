import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { valueReasons } from '../../provenance/sources/index.ts'
import { type StoredResult, type StoredValue, verifierNames } from '../contract.ts'
import type { Override, StoredClaim } from '../runs/claims-store.ts'
import { type Verdict, verdicts } from '../verdicts/verdict.ts'

const share = z.number().min(0).max(1)

export const verdictSchema = z.enum(verdicts).meta({ id: 'ClaimVerdict' })

/** Verdicts that a person can give. */
export const personVerdicts = ['supported', 'contradicted'] as const

const offsets = z
  .tuple([z.int().nonnegative(), z.int().nonnegative()])
  .describe('UTF-16 offsets: start, end (exclusive).')

const evidence = record('VerificationEvidence', {
  kind: z
    .enum(['trace', 'document', 'fact', 'web', 'model'])
    .meta({ id: 'VerificationEvidenceKind' })
    .describe('Kind of the source. `trace`: a text that the agent saw.'),
  source: z.string().describe('Name of the text, its URL, or the name of the model.'),
  quote: z.string().describe('Verbatim text of the source.'),
  at: offsets.nullable().describe('Offsets of the quote in the source; null for facts and models.'),
  digest: z.string().nullable().describe('SHA-256 of the source, in hexadecimal.'),
  place: record('EvidenceObservation', { trace_id: z.guid(), observation_id: z.string() })
    .optional()
    .describe('Observation with the source.'),
  document: record('EvidenceDocument', { document_id: z.uuid(), version: z.int() }).optional(),
})

const valueSchema = record('ClaimValue', {
  value: z.string(),
  kind: z
    .string()
    .describe('Kind of the value, such as `number`, `date`, `id`, `amount`, `url` or `quote`.'),
  at: offsets,
  verdict: z
    .enum(['seen', 'derived', 'exempt', 'other_subject', 'unsupported', 'not_checked'])
    .meta({ id: 'ValueVerdict' })
    .describe('`unsupported`: not found in what the agent saw.'),
  derivation: z
    .string()
    .nullable()
    .describe('Calculation of a derived value, such as `12 + 30 = 42`; null for other values.'),
  reason: z
    .enum(valueReasons)
    .meta({ id: 'ValueReason' })
    .nullable()
    .optional()
    .describe(
      'Why a value was not checked or needs no source, such as `calculable` (several calculations may give it) or `incomplete` (a part of what the agent saw is missing).',
    ),
  evidence: z.array(evidence),
})

const resultSchema = record('VerifierResult', {
  verifier: z.enum(verifierNames),
  verdict: verdictSchema,
  confidence: share.describe('Stated probability that the verdict is right.'),
  method: z.string().describe('Method of the verdict, such as `provenance`, `words` or `judge`.'),
  evidence: z.array(evidence),
  note: z.string(),
})

const overrideSchema = record('ClaimOverride', {
  verdict: z.enum(personVerdicts).meta({ id: 'PersonVerdict' }),
  reason: z.string(),
  created_by: z.string(),
  created_at: z.iso.datetime(),
})

/** Reply with one claim. Verdict and probability are those of the verifiers. */
export const claimSchema = record('VerifiedClaim', {
  claim_id: z.uuid(),
  run_id: z.uuid(),
  trace_id: z.guid(),
  position: z.int().nonnegative().describe('Order in the answer, from 0.'),
  text: z.string(),
  at: offsets.describe('UTF-16 offsets in the answer.'),
  kind: z.string(),
  verdict: verdictSchema.describe('Verdict of the verifiers.'),
  probability: share
    .nullable()
    .describe('Probability that the claim is true; null if no verifier decided it.'),
  weight: share.describe('Weight in the trust score; 0 if no verifier decided it.'),
  values: z.array(valueSchema),
  results: z.array(resultSchema).describe('One result for each verifier.'),
  override: overrideSchema.nullable().describe('Verdict of a person; null without one.'),
  effective_verdict: verdictSchema.describe('Verdict of the person, else of the verifiers.'),
})

/** Overrides of a trace by the digest of their claim. */
export type Overrides = ReadonlyMap<string, Override>

export function byDigest(overrides: readonly Override[]): Overrides {
  return new Map(overrides.map((override) => [override.claim_digest, override]))
}

/** Returns the verdict that counts: of a person, else of the verifiers. */
export function effectiveVerdict(
  { digest, verdict }: Pick<StoredClaim, 'digest' | 'verdict'>,
  overrides: Overrides,
): Verdict {
  return overrides.get(digest)?.verdict ?? (verdict as Verdict)
}

/** Returns a claim as a reply. */
export function toClaimReply(claim: StoredClaim, overrides: Overrides) {
  const { id: claim_id, run_id, trace_id, position, text, kind, probability, weight } = claim
  return {
    claim_id,
    run_id,
    trace_id,
    position,
    text,
    kind,
    probability,
    weight,
    at: [claim.starts_at, claim.ends_at],
    verdict: claim.verdict as Verdict,
    values: claim.checked_values as unknown as StoredValue[],
    results: resultsOf(claim),
    override: toOverride(overrides.get(claim.digest)),
    effective_verdict: effectiveVerdict(claim, overrides),
  } as z.input<typeof claimSchema>
}

/** Returns the results of the verifiers on a claim. */
export function resultsOf({ results }: Pick<StoredClaim, 'results'>): readonly StoredResult[] {
  return results as unknown as StoredResult[]
}

function toOverride(override: Override | undefined): z.input<typeof overrideSchema> | null {
  if (override === undefined) return null
  const { verdict, reason, created_by, created_at } = override
  return { verdict, reason, created_by, created_at }
}
