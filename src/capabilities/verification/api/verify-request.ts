import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { verifierList } from '../verifiers/choose-verifiers.ts'

/** Request of a verification; the body may be left out. */
export const verifyBody = record('VerifyRequest', {
  force_reverify: z
    .boolean()
    .default(false)
    .describe('Verifies again, even if the trace is already verified.'),
  verifiers: verifierList
    .default(null)
    .describe('Verifiers to run. Null: all that are available in this installation.'),
  async_mode: z
    .boolean()
    .default(true)
    .describe(
      '`true`: verifies in the background. `false`: waits up to 60 s for the result. At most 16 requests of a project wait at one time.',
    ),
}).optional()

/** Request of an estimate; the body may be left out. */
export const estimateBody = record('EstimateRequest', {
  verifiers: verifierList
    .default(null)
    .describe('Verifiers to estimate. Null: all that are available in this installation.'),
}).optional()
