import { z } from 'zod'
import { expected } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { withoutInvisible } from '../../../model/names.ts'
import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import type { CertificationRequest } from '../certifications/plan.ts'
import { toStoredEnvironment } from '../evidence/contract.ts'
import { imageDigest } from '../evidence/eval-case.ts'
import { maxEvalRuns } from '../evidence/read-eval-cases.ts'
import { policyId } from '../policy/policy.ts'

const lineOfText = z.string().min(1).max(256)
const givenName = lineOfText.refine(...withoutInvisible)
const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString())
const environment = lineOfText.refine((name) => name !== scenarioEnvironment, {
  error: expected('an environment with tasks of the release'),
})
const tags = z
  .array(lineOfText)
  .min(1)
  .max(10)
  .nullable()
  .default(null)
  .describe('Values of `release` on its tasks. Default: the version, and `name@version`.')
const evalRunIds = z
  .array(z.uuid())
  .max(maxEvalRuns)
  .default([])
  .transform((ids) => [...new Set(ids)].sort())

/** The body of POST of a certification. */
export const certificationBody = record('ReleaseCertificationRequest', {
  release: record('ReleaseToCertify', {
    name: givenName.describe('Name of the release, such as `support-agent`.'),
    version: givenName.describe('Version of the release, such as `1.4.0`.'),
    image_digest: imageDigest.nullable().default(null),
    tags,
  }),
  environment: environment
    .nullable()
    .describe('Environment of the tasks and eval runs, such as `staging`; null for those without.'),
  policy_id: policyId.default('default').describe('Policy to follow. Default: `default`.'),
  window: record('CertificationWindow', {
    from: instant
      .optional()
      .describe(
        'Earliest start of a task. Default: the declared start, or else `max_age` before `to`.',
      ),
    to: instant
      .optional()
      .describe(
        'End of the window, exclusive. Default: now. The certification waits for a time in the future.',
      ),
  })
    .nullable()
    .default(null)
    .describe('Window of the tasks. The first certification of a release declares its start.'),
  baseline: record('BaselineToCompare', {
    name: lineOfText
      .nullable()
      .default(null)
      .describe('Name of the baseline release. Default: the name of the release.'),
    version: lineOfText,
    tags,
    environment: environment
      .nullable()
      .default(null)
      .describe('Environment of the baseline. Default: the environment of the release.'),
    window: record('BaselineWindow', { from: instant, to: instant })
      .nullable()
      .default(null)
      .describe(
        'Window of the baseline. Default: from 30 days before the window of the release to its end.',
      ),
    eval_run_ids: evalRunIds,
  })
    .nullable()
    .default(null)
    .describe('Release that gates of the kind `regression` compare with.'),
  eval_run_ids: evalRunIds.describe(
    'Ids of eval runs of the release. Eval runs of earlier looks count too.',
  ),
}).superRefine(refuseUnstorable)

/** Returns a body as a request to plan. */
export function toRequest(body: z.output<typeof certificationBody>): CertificationRequest {
  const { image_digest, ...release } = body.release
  return {
    ...body,
    environment: toStoredEnvironment(body.environment),
    release: { ...release, image_digest: image_digest?.slice('sha256:'.length) ?? null },
  }
}
