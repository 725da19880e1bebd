import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { IdPage } from '../../../model/id-pages.ts'
import { sql } from '../../../platform/relational/index.ts'
import { enqueueJob, type JobDb } from '../../jobs/index.ts'
import type { Certification, CertificationDb } from '../evidence/contract.ts'
import { lockAttempts, type ReleaseKey, relatedSubjects } from './attempts.ts'
import { type CertificationRequest, checkPlan, digestRequest, windowEnd } from './plan.ts'
import { type Declaration, keyOfPlan, type PlanKey, storePlan } from './store-plan.ts'

/** Kind of certification jobs. Their `params` are `{ certification_id }`. */
export const certificationJob = 'certification'

/** Maximum certifications of a project that have not ended. */
const unended_max = 100

/** A certification of a project. */
export type CertificationKey = { project_id: string; certification_id: string }

/**
 * Declares a certification: stores its plan or extends the plan of earlier looks, and stores a
 * pending certification, with its job if the window has ended. Until it is finished, the same
 * request returns it with `is_new: false`. Throws `certification_running`,
 * `certification_plan_conflict`, `invalid_request`, `limit_reached`.
 */
export function declareCertification(
  { db, clock }: { db: CertificationDb; clock: Clock },
  declaration: Declaration,
): Promise<{ certification: Certification; is_new: boolean }> {
  const { project_id, request, policy, requested_by } = declaration
  const now_ms = clock.now_ms()
  const to = windowEnd(request, now_ms)
  const about = { ...keyOfPlan(declaration), window_to: to }
  return db.transaction().execute(async (trx) => {
    await lockAttempts(trx, project_id)
    const open = await findOpen(trx, about)
    if (open !== undefined) return { certification: sameRequest(open, request), is_new: false }
    await assertRoom(trx, project_id)
    const subjects = await relatedSubjects(trx, releaseOf(declaration))
    const { plan, declared_at } = await storePlan(trx, declaration, { now_ms, subjects })
    checkPlan(plan, to)
    await checkNotEarlier(trx, about, subjects)
    const inserted = await trx
      .insertInto('certifications')
      .values({
        ...about,
        id: newId(),
        state: 'pending',
        created_at: new Date(now_ms),
        requested_by,
        policy_version: policy.version,
        policy_digest: policy.digest,
        policy: JSON.stringify(policy.document),
        release_name: request.release.name,
        release_version: request.release.version,
        image_digest: request.release.image_digest,
        window_from: plan.window_from,
        release_tags: plan.release_tags,
        baseline: plan.baseline && JSON.stringify(plan.baseline),
        eval_run_ids: plan.eval_run_ids,
        declared_at,
        request_digest: digestRequest(request),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    const isDue = Date.parse(to) <= now_ms
    return { certification: isDue ? await startJob(trx, inserted, clock) : inserted, is_new: true }
  })
}

function releaseOf({ project_id, request }: Declaration): ReleaseKey {
  const { name, version, image_digest } = request.release
  return { project_id, release_name: name, release_version: version, image_digest }
}

function findOpen(trx: CertificationDb, key: PlanKey): Promise<Certification | undefined> {
  return looksOf(trx, key, [key.subject])
    .selectAll()
    .where('state', 'in', ['pending', 'running'])
    .executeTakeFirst()
}

/** The certifications of subjects by a policy. */
function looksOf(
  trx: CertificationDb,
  { project_id, environment, policy_id }: PlanKey,
  subjects: readonly string[],
) {
  return trx
    .selectFrom('certifications')
    .where('project_id', '=', project_id)
    .where('subject', 'in', subjects)
    .where('environment', '=', environment)
    .where('policy_id', '=', policy_id)
}

function sameRequest(open: Certification, request: CertificationRequest): Certification {
  if (open.request_digest === digestRequest(request)) return open
  throw problem('certification_running', {
    detail: `The certification ${open.id} of this release is ${open.state}. Wait for its end, or cancel it.`,
  })
}

/** Refuses a look that ends before an earlier one, because evidence must accumulate. */
async function checkNotEarlier(
  trx: CertificationDb,
  key: PlanKey & { window_to: string },
  subjects: readonly string[],
): Promise<void> {
  const last = await looksOf(trx, key, subjects)
    .select('window_to')
    .where('state', '=', 'ended')
    .where('window_to', '>', key.window_to)
    .orderBy('window_to', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last === undefined) return
  throw problem('certification_plan_conflict', {
    detail: `window.to: got ${key.window_to}, but an earlier look at this release ended at ${last.window_to}. Omit the field, or give a later time.`,
  })
}

async function assertRoom(trx: CertificationDb, project_id: string): Promise<void> {
  const rows = await trx
    .selectFrom('certifications')
    .select('id')
    .where('project_id', '=', project_id)
    .where('state', 'in', ['pending', 'running'])
    .limit(unended_max)
    .execute()
  if (rows.length < unended_max) return
  throw problem('limit_reached', {
    detail: `The project has ${unended_max} certifications that have not ended. Wait, or cancel some.`,
  })
}

/** Queues the job of a pending certification. */
export async function startJob(
  trx: CertificationDb,
  { id, project_id, requested_by }: Certification,
  clock: Clock,
): Promise<Certification> {
  const params = { certification_id: id }
  const job = { project_id, kind: certificationJob, params, requested_by, clock }
  const { id: job_id } = await enqueueJob(trx as unknown as JobDb, job)
  return trx
    .updateTable('certifications')
    .set({ job_id })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Finds a certification of a project; `certification_id` must be a UUID. */
export function findCertification(
  db: CertificationDb,
  { project_id, certification_id }: CertificationKey,
): Promise<Certification | undefined> {
  return db
    .selectFrom('certifications')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', certification_id)
    .executeTakeFirst()
}

/** Filters of a list of certifications. */
export type CertificationFilter = {
  project_id: string
  release_name?: string | undefined
  release_version?: string | undefined
  environment?: string | undefined
  subject?: string | undefined
}

/** Returns certifications, newest first, and counts the matches up to `count_max`. */
export async function selectCertifications(
  db: CertificationDb,
  { project_id, ...filter }: CertificationFilter,
  { after, limit, count_max }: IdPage,
): Promise<{ rows: Certification[]; counted: number }> {
  const matches = Object.entries(filter).reduce(
    (query, [column, value]) =>
      value === undefined
        ? query
        : query.where(column as Exclude<keyof typeof filter, undefined>, '=', value),
    db.selectFrom('certifications').where('project_id', '=', project_id),
  )
  const rows = await matches
    .selectAll()
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  const counted = await matches.select('id').limit(count_max).execute()
  return { rows, counted: counted.length }
}

/**
 * Cancels an unfinished certification with its job. Returns undefined if the certification does not
 * exist or has ended.
 */
export function cancelCertification(
  { db, clock }: { db: CertificationDb; clock: Clock },
  { project_id, certification_id }: CertificationKey,
  by: string,
): Promise<Certification | undefined> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .updateTable('certifications')
      .set({ state: 'cancelled', ended_at: new Date(clock.now_ms()), error: `Cancelled by ${by}.` })
      .where('project_id', '=', project_id)
      .where('id', '=', certification_id)
      .where('state', 'in', ['pending', 'running'])
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) return undefined
    await trx.deleteFrom('certification_evidence').where('certification_id', '=', row.id).execute()
    await trx
      .updateTable('job_runs')
      .set({ state: 'failed', error: `Cancelled by ${by}.`, ended_at: sql`now()` })
      .set({ lease_owner: null, lease_until: null })
      .where('id', '=', row.job_id)
      .where('state', 'in', ['queued', 'running'])
      .execute()
    return row
  })
}
