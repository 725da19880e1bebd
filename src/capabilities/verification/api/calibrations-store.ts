import type { VerifierName } from '../contract.ts'
import type { RunsDb } from '../runs/store.ts'
import type { Calibration } from '../trust/calibration.ts'

/** How well the confidence of a verifier is calibrated. */
type CalibrationQuality = Pick<Calibration, 'calibrated' | 'labels'> & {
  brier: number | null
  ece: number | null
}

/** Returns the quality of a project's calibrations by verifier. */
export async function selectCalibrations(
  db: RunsDb,
  project_id: string,
): Promise<ReadonlyMap<VerifierName, CalibrationQuality>> {
  const rows = await db
    .selectFrom('verification_calibrations')
    .select(['verifier', 'calibration', 'brier', 'ece'])
    .where('project_id', '=', project_id)
    .execute()
  return new Map(
    rows.map(({ verifier, calibration, brier, ece }) => {
      const { calibrated, labels } = calibration as unknown as Calibration
      return [verifier as VerifierName, { calibrated, labels, brier, ece }] as const
    }),
  )
}
