import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { RunsDb } from '../../contract.ts'
import { verifierNames } from '../../contract.ts'
import { minCalibrationLabels } from '../../trust/calibration.ts'
import {
  labelsOf,
  type StoredCalibration,
  storedCalibrations,
} from '../../trust/calibration-store.ts'
import { measureLabels } from '../../trust/person-labels.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'

const count = z.int().nonnegative()
const share = z.number().min(0).max(1)
const brier = share
  .nullable()
  .describe('Brier score: mean squared error of the confidence; null without labels.')
const ece = share
  .nullable()
  .describe('Expected calibration error over 10 bins; null without labels.')

const fitSchema = record('CalibrationFit', {
  version: z.int().min(1).describe('Number of the fit, from 1.'),
  calibrated: z.boolean().describe('`false`: too few labels, so the confidence stays unchanged.'),
  labels: count.describe('Labels used for the fit.'),
  steps: z
    .array(record('CalibrationStep', { from: z.number(), value: z.number() }))
    .describe('Measured confidence for each stated confidence. A step applies up to the next one.'),
  brier,
  ece,
  created_at: z.iso.datetime(),
})

/** Reply with the calibrations of a project. */
export const calibrationReply = record('VerificationCalibration', {
  project_id: z.uuid(),
  labels_needed: count.describe('Labels of a verifier required for a fit.'),
  claims_disputed: count.describe(
    'Claims with a tie of verdicts by different people. They are not labels.',
  ),
  verifiers: z.array(
    record('VerifierLabels', {
      name: z.enum(verifierNames),
      labels: count.describe(
        'Results on claims that people decided by overrides or by labels of tasks: one for each claim.',
      ),
      labels_counted: count.describe(
        'Labels that a fit uses. Labels of one person count up to the number of all others.',
      ),
      people: count.describe('People who gave the verdicts that count.'),
      largest_share: share
        .nullable()
        .describe('Greatest share of the labels by one person; null without labels.'),
      brier: brier.describe('Brier score of the stated confidence; null without labels.'),
      ece: ece.describe(
        'Expected calibration error of the stated confidence; null without labels.',
      ),
      fit: fitSchema
        .nullable()
        .describe('Calibration of later runs, with figures of ten-fold cross-validation.'),
    }),
  ),
})

/** GET /api/v1/verification/calibration: how well stated confidence fits the verdicts of people. */
export function getCalibration({ db }: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/calibration',
    id: 'getVerificationCalibration',
    summary: 'Labels, figures and calibration of each verifier',
    auth: 'jwt',
    scope: readScope,
    reply: calibrationReply,
    errors: ['store_unavailable'],
    handle: ({ caller: { project_id } }) => readCalibration(db, project_id),
  })
}

/** Reads labels and calibrations of a project. */
export async function readCalibration(
  db: RunsDb,
  project_id: string,
): Promise<z.input<typeof calibrationReply>> {
  const [{ byVerifier, disputed }, fits] = await Promise.all([
    labelsOf(db, project_id),
    storedCalibrations(db, project_id),
  ])
  return {
    project_id,
    labels_needed: minCalibrationLabels,
    claims_disputed: disputed,
    verifiers: verifierNames.map((name) => ({
      name,
      ...measureLabels(byVerifier.get(name) ?? []),
      fit: toFit(fits.get(name)),
    })),
  }
}

function toFit(fit: StoredCalibration | undefined): z.input<typeof fitSchema> | null {
  return fit === undefined ? null : { ...fit, steps: [...fit.steps] }
}
