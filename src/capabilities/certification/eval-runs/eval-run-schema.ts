import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { withoutInvisible } from '../../../model/names.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import { toEnvironmentName } from '../evidence/contract.ts'
import { imageDigest } from '../evidence/eval-case.ts'
import { evalFormats, maxEvalFileChars } from './eval-file.ts'
import type { StoredEvalRun } from './store.ts'

/** Maximum body of an upload. JSON escapes each quote and line feed of the file. */
export const maxEvalRunBodyBytes = 16 * 1_024 * 1_024

/** Text on one line, 1–256 characters. */
const lineOfText = z
  .string()
  .min(1)
  .max(256)
  .refine(...withoutInvisible)

/** The release that was evaluated. */
const release = record('EvaluatedRelease', {
  name: lineOfText.describe('Name of the release, such as `support-agent`.'),
  version: lineOfText.describe('Version of the release, such as `1.4.0`.'),
  image_digest: imageDigest.nullable().default(null),
})

const evalFormat = z.enum(evalFormats).meta({
  id: 'EvalFormat',
  description: '`junit`: a JUnit report. `jsonl`: a case a line as JSON.',
})

/** The body of POST of an eval run. */
export const evalRunBody = record('EvalRunRequest', {
  name: lineOfText.default('eval').describe('Name of the evaluation. Default: `eval`.'),
  release,
  environment: lineOfText
    .nullable()
    .describe('Environment in which it ran, such as `staging`; null for none.'),
  format: evalFormat,
  content: z
    .string()
    .min(1)
    .max(maxEvalFileChars)
    .describe(
      'The file as text, up to 8 Mi characters and 20,000 cases with their repeats. Only ids, groups, clusters, outcomes and numbers are stored.',
    ),
}).superRefine(({ content: _, ...fields }, context) => refuseUnstorable(fields, context))

export type EvalRunBody = z.output<typeof evalRunBody>

const count = z.int().nonnegative()

/** An eval run in replies. */
export const evalRunSchema = record('EvalRun', {
  eval_run_id: z.uuid(),
  name: z.string(),
  release,
  environment: z.string().nullable(),
  format: evalFormat,
  digest: z
    .string()
    .describe('Root of the Merkle tree of the cases, in hex. Independent of their order.'),
  cases: count.describe('Cases with their repeats, skipped ones included.'),
  passed: count,
  failed: count,
  skipped: count,
  created_at: z.iso.datetime(),
  created_by: z.string(),
})

/** Returns the reply of an eval run. */
export function toEvalRunReply(run: StoredEvalRun): z.input<typeof evalRunSchema> {
  const { id, name, format, digest, cases, passed, failed, skipped } = run
  const image_digest = run.image_digest === null ? null : `sha256:${run.image_digest}`
  return {
    environment: toEnvironmentName(run.environment),
    eval_run_id: id,
    name,
    format,
    digest,
    cases,
    passed,
    failed,
    skipped,
    release: { name: run.release_name, version: run.release_version, image_digest },
    created_at: run.created_at,
    created_by: run.created_by,
  }
}
