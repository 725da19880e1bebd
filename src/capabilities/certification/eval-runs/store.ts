import type { IdPage } from '../../../model/id-pages.ts'
import {
  type CertificationTables,
  countUpTo,
  type Kysely,
  sql,
} from '../../../platform/relational/index.ts'
import type { EvalCase } from '../evidence/eval-case.ts'
import type { EvalFormat } from './eval-file.ts'

/** The database of eval runs. */
export type EvalRunDb = Kysely<CertificationTables>

/** Names an eval run of a project. */
export type WhichEvalRun = { project_id: string; run_id: string }

/** A release, as requests name it. */
type EvalRelease = {
  release_name: string
  release_version: string
  /** 64 hex digits. */
  image_digest: string | null
}

/** A stored eval run, without its cases. */
export type StoredEvalRun = EvalRelease & {
  id: string
  project_id: string
  name: string
  environment: string
  format: EvalFormat
  /** `digestEvalCases` of its cases. */
  digest: string
  cases: number
  passed: number
  failed: number
  skipped: number
  created_at: string
  created_by: string
}

/** An eval run to store. */
export type NewEvalRun = Omit<StoredEvalRun, 'created_at'> & { created_at: Date }

/** Cases per insert statement: the largest run needs 20 statements. */
const cases_per_statement = 1_000

/**
 * Stores an eval run with its cases, or returns the run of the same release, environment and name
 * that has equal cases. Returns `full` when the project has `runs_max` runs.
 */
export function insertEvalRun(
  db: EvalRunDb,
  run: NewEvalRun,
  { cases, runs_max }: { cases: readonly EvalCase[]; runs_max: number },
): Promise<{ run: StoredEvalRun; is_new: boolean } | 'full'> {
  const { id: run_id, project_id } = run
  return db.transaction().execute(async (trx) => {
    const lock = `looptrace.certification_eval_runs ${project_id}`
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
    const known = await findEqual(trx, run)
    if (known !== undefined) return { run: known, is_new: false }
    if ((await countRuns(trx, { project_id }, runs_max)) >= runs_max) return 'full'
    const stored = await trx
      .insertInto('certification_eval_runs')
      .values(run)
      .returningAll()
      .executeTakeFirstOrThrow()
    for (let at = 0; at < cases.length; at += cases_per_statement) {
      const some = cases.slice(at, at + cases_per_statement)
      await trx
        .insertInto('certification_eval_cases')
        .values(some.map((one) => ({ run_id, project_id, ...one })))
        .execute()
    }
    return { run: stored, is_new: true }
  })
}

async function findEqual(trx: EvalRunDb, run: NewEvalRun): Promise<StoredEvalRun | undefined> {
  return runsOf(trx, run)
    .where('image_digest', 'is not distinct from', run.image_digest)
    .where('name', '=', run.name)
    .where('digest', '=', run.digest)
    .executeTakeFirst()
}

/** Filters of a list of eval runs. */
export type EvalRunFilter = {
  project_id: string
  release_name?: string | undefined
  release_version?: string | undefined
  environment?: string | undefined
}

/** Returns a page of eval runs, newest first, and counts the matches up to `count_max`. */
export async function selectEvalRuns(
  db: EvalRunDb,
  filter: EvalRunFilter,
  { after, limit, count_max }: IdPage,
): Promise<{ rows: StoredEvalRun[]; counted: number }> {
  const rows = await runsOf(db, filter)
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return { rows, counted: await countRuns(db, filter, count_max) }
}

function runsOf(
  db: EvalRunDb,
  { project_id, release_name, release_version, environment }: EvalRunFilter,
) {
  return db
    .selectFrom('certification_eval_runs')
    .selectAll()
    .where('project_id', '=', project_id)
    .$if(release_name !== undefined, (query) =>
      query.where('release_name', '=', release_name ?? ''),
    )
    .$if(release_version !== undefined, (query) =>
      query.where('release_version', '=', release_version ?? ''),
    )
    .$if(environment !== undefined, (query) => query.where('environment', '=', environment ?? ''))
}

async function countRuns(db: EvalRunDb, filter: EvalRunFilter, count_max: number): Promise<number> {
  const n = await countUpTo(db, runsOf(db, filter), count_max)
  return Number(n)
}

/** Finds an eval run of a project. */
export function findEvalRun(
  db: EvalRunDb,
  { project_id, run_id }: WhichEvalRun,
): Promise<StoredEvalRun | undefined> {
  return runsOf(db, { project_id }).where('id', '=', run_id).executeTakeFirst()
}

/**
 * Deletes an eval run with its cases, unless a plan names it, for the release or the baseline:
 * otherwise the runs of a certification could be chosen by their results.
 */
export async function deleteEvalRun(
  db: EvalRunDb,
  { project_id, run_id }: WhichEvalRun,
): Promise<'deleted' | 'in_use' | 'unknown'> {
  const { numDeletedRows } = await db
    .deleteFrom('certification_eval_runs')
    .where('project_id', '=', project_id)
    .where('id', '=', run_id)
    .where(
      sql<boolean>`not exists (
        select from certification_plans as plan
        where plan.project_id = ${project_id} and (${run_id}::uuid = any(plan.eval_run_ids)
          or plan.baseline -> 'eval_run_ids' @> to_jsonb(${run_id.toLowerCase()}::text)))`,
    )
    .executeTakeFirst()
  if (numDeletedRows > 0n) return 'deleted'
  return (await findEvalRun(db, { project_id, run_id })) === undefined ? 'unknown' : 'in_use'
}
