import { sql } from '../../../platform/relational/index.ts'
import type { RunsDb } from '../contract.ts'
import type { Calibration } from './calibration.ts'
import { type Calibrations, type VerifierName, verifierWeights } from './fuse.ts'
import {
  combineVerdicts,
  type FittedCalibration,
  type PersonLabel,
  type PersonVerdict,
} from './person-labels.ts'

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

/** Maximum verdicts of people that a calibration is fitted to; the newest count. */
const labels_max = 50_000

/**
 * The verdicts of people on a claim, and the results of the verifiers when the newest was given.
 */
type JudgedClaim = {
  /** Newest first. */
  verdicts: PersonVerdict[]
  results: { verifier: VerifierName; verdict: string; confidence: number }[]
}

/** The labels of a project. */
export type ProjectLabels = {
  byVerifier: ReadonlyMap<VerifierName, PersonLabel[]>
  /** Number of claims with a tie of verdicts. They are not labels. */
  disputed: number
}

/**
 * Returns the labels of a project by verifier: each result that decided a claim, and whether
 * people gave the same verdict, by overrides and by labels of reviewers. A claim is one label of
 * each verifier, however many people gave a verdict on it.
 */
export async function labelsOf(db: RunsDb, project_id: string): Promise<ProjectLabels> {
  const byVerifier = new Map(verifierNames.map((name) => [name, [] as PersonLabel[]]))
  let disputed = 0
  for (const { verdicts, results } of await judgedClaims(db, project_id)) {
    const decided = combineVerdicts(verdicts)
    if (decided === undefined) disputed += 1
    else {
      for (const { verifier, verdict, confidence } of results) {
        const isRight = verdict === decided.verdict
        byVerifier.get(verifier)?.push({ confidence, isRight, people: decided.people })
      }
    }
  }
  return { byVerifier, disputed }
}

async function judgedClaims(db: RunsDb, project_id: string): Promise<JudgedClaim[]> {
  const { rows } = await sql<JudgedClaim>`
    with given as (
      (select trace_id, claim_digest, created_by as by, verdict, machine, created_at
        from verification_overrides where project_id = ${project_id}
        order by created_at desc, trace_id, claim_digest limit ${labels_max})
      union all
      (select trace_id, claim_digest, reviewer as by, verdict, machine, created_at
        from verification_claim_labels where project_id = ${project_id}
        order by created_at desc, trace_id, claim_digest, reviewer limit ${labels_max})
    ), newest as (
      select * from given order by created_at desc, trace_id, claim_digest, by limit ${labels_max}
    ), claim as (
      select
        jsonb_agg(jsonb_build_object('by', by, 'verdict', verdict)
          order by created_at desc, by, verdict) as verdicts,
        (array_agg(machine order by created_at desc, by, verdict))[1] as machine
      from newest group by trace_id, claim_digest
    )
    select verdicts, coalesce((
      select jsonb_agg(jsonb_build_object('verifier', result -> 'verifier',
        'verdict', result -> 'verdict', 'confidence', result -> 'confidence') order by position)
      from jsonb_array_elements(machine) with ordinality as list (result, position)
      where result ->> 'verdict' in ('supported', 'contradicted')), '[]') as results
    from claim`.execute(db)
  return rows
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
    project_id,
    verifier,
    brier,
    ece,
    created_at,
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
