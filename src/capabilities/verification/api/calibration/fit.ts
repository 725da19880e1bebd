import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { labelsOf, putCalibrations, storedCalibrations } from '../../trust/calibration-store.ts'
import { fitToPeople } from '../../trust/person-labels.ts'
import type { VerificationRoutesDeps } from '../contract.ts'
import { calibrationReply, readCalibration } from './calibration.ts'

/**
 * POST /api/v1/verification/calibration/fit: fits the calibrations of a project to the verdicts of
 * its people. Later runs use them; stored runs keep those that they used.
 */
export function fitVerifiers({ db, clock }: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/verification/calibration/fit',
    id: 'fitVerificationCalibration',
    summary: 'Fit the calibration of each verifier to the verdicts of people',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    reply: calibrationReply,
    errors: ['store_unavailable'],
    handle: async ({ caller: { project_id } }) => {
      const [{ byVerifier }, known] = await Promise.all([
        labelsOf(db, project_id),
        storedCalibrations(db, project_id),
      ])
      // A verifier without labels gets the identity calibration.
      const fitted = [...byVerifier]
        .filter(([name, given]) => given.length > 0 || known.has(name))
        .map(([name, given]) => [name, fitToPeople(given)] as const)
      const created_at = new Date(clock.now_ms())
      await putCalibrations(db, { project_id, created_at }, new Map(fitted))
      return readCalibration(db, project_id)
    },
  })
}
