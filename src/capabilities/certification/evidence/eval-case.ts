import { z } from 'zod'
import { expected } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { evidenceLeaves, merkleRoot } from '../statement/merkle-tree.ts'

/** Digest of an image in requests and replies. */
export const imageDigest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, { error: expected('sha256: and 64 hex digits') })
  .meta({ id: 'ImageDigest', description: 'Digest of an image: `sha256:` and 64 hex digits.' })

/** Maximum cases of one eval run, repeats included. */
export const maxEvalCases = 20_000

const text = z.string().min(1).max(256)

/** One repeat of one case of an eval run. */
export const evalCase = record('EvalCase', {
  case_id: text.describe('Id of the case: the same in every run and release. 1–256 characters.'),
  repeat: z
    .int()
    .min(0)
    .max(9_999)
    .default(0)
    .describe('Number of the repeat of the case, 0–9,999.'),
  cluster: text
    .nullable()
    .default(null)
    .describe('User or scenario of the case. Cases of one cluster are not independent.'),
  name: text.nullable().default(null).describe('Group of the case, for `worst_group`.'),
  passed: z
    .boolean()
    .nullable()
    .describe('Whether the case passed; null for a skipped case, which is not a sample.'),
  score: z.number().min(0).max(1).nullable().default(null),
  duration_ms: z.number().min(0).max(1e12).nullable().default(null),
  cost_usd: z.number().min(0).max(1e6).nullable().default(null),
})

/** One repeat of one case of an eval run. */
export type EvalCase = z.output<typeof evalCase>

/** Returns the id of a case and repeat in evidence. */
export function evalCaseId({ case_id, repeat }: Pick<EvalCase, 'case_id' | 'repeat'>): string {
  return `${case_id}#${repeat}`
}

/** Returns the digest of the cases of an eval run in any order: the root of their Merkle tree. */
export function digestEvalCases(cases: readonly EvalCase[]): string {
  const items = cases.map((one) => ({ ...one, id: evalCaseId(one) }))
  return merkleRoot(evidenceLeaves(items)).toString('hex')
}
