import { sql } from '../../../platform/relational/index.ts'
import type { RunsDb } from '../runs/store.ts'
import type { Calibration } from './calibration.ts'
import { type Calibrations, type VerifierName, verifierWeights } from './fuse.ts'
import type { FittedCalibration, PersonLabel } from './person-labels.ts'

/** A stored calibration of a project. `version` counts the fits of the verifier from 1. */
export type StoredCalibration = FittedCalibration & { version: number; created_at: string }

/** Returns the calibrations that a new run of a project uses. */
export async function calibrationsOf(db: RunsDb, project_id: string): Promise<Calibrations> {
  const stored = await storedCalibrations(db, project_id)
  return Object.fromEntries(
    [...stored].map(([verifier, { calibrated, labels, steps }]) => [
      verifier,
      { calibrated, labels, steps },
    ]),
  )
}

/** Returns the calibrations of a project with their figures. */
export async function storedCalibrations(
  db: RunsDb,
  project_id: string,
): Promise<ReadonlyMap<VerifierName, StoredCalibration>> {
  const rows = await db
    .selectFrom('verification_calibrations')
    .select(['verifier', 'version', 'calibration', 'brier', 'ece', 'created_at'])
    .where('project_id', '=', project_id)
    .orderBy('verifier')
    .execute()
  return new Map(
    rows.map(({ verifier, calibration, version, ...figures }) => {
      const { calibrated, labels, steps } = calibration as unknown as Calibration
      const stored = { ...figures, version: Number(version), calibrated, labels, steps }
      return [verifier as VerifierName, stored] as const
    }),
  )
}

/** Maximum labels that a calibration is fitted to; the newest count. */
export const labels_max = 50_000

/**
 * Returns the labels of a project by verifier: each result that decided a claim, and whether a
 * person came to the same verdict.
 */
export async function labelsOf(
  db: RunsDb,
  project_id: string,
): Promise<ReadonlyMap<VerifierName, PersonLabel[]>> {
  const { rows } = await sql<PersonLabel & { verifier: VerifierName }>`
    select result ->> 'verifier' as verifier,
      (result ->> 'confidence')::float8 as confidence,
      result ->> 'verdict' = verdict as "isRight",
      created_by
    from (
      select * from verification_overrides
      where project_id = ${project_id}
      order by created_at desc, trace_id, claim_digest limit ${labels_max}
    ) as newest
    cross join lateral jsonb_array_elements(machine) as result
    where result ->> 'verdict' in ('supported', 'contradicted')
  `.execute(db)
  const byVerifier = new Map(verifierNames.map((name) => [name, [] as PersonLabel[]]))
  for (const { verifier, ...label } of rows) byVerifier.get(verifier)?.push(label)
  return byVerifier
}

const verifierNames = Object.keys(verifierWeights) as VerifierName[]

/** Stores calibrations of a project, each with the next version of its verifier. */
export async function putCalibrations(
  db: RunsDb,
  { project_id, created_at }: { project_id: string; created_at: Date },
  fitted: ReadonlyMap<VerifierName, FittedCalibration>,
): Promise<void> {
  if (fitted.size === 0) return
  const rows = [...fitted].map(([verifier, { brier, ece, ...calibration }]) => ({
    ...{ project_id, verifier, brier, ece, created_at },
    version: 1,
    calibration: JSON.stringify(calibration),
  }))
  await db
    .insertInto('verification_calibrations')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'verifier']).doUpdateSet(({ ref }) => ({
        version: sql`verification_calibrations.version + 1`,
        calibration: ref('excluded.calibration'),
        brier: ref('excluded.brier'),
        ece: ref('excluded.ece'),
        created_at: ref('excluded.created_at'),
      })),
    )
    .execute()
}
