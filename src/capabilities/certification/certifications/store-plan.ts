import type { Baseline, CertificationDb } from '../evidence/contract.ts'
import type { PolicyInForce } from '../policies/policy-in-force.ts'
import { type CertificationRequest, extendPlan, firstPlan, type Plan, subjectOf } from './plan.ts'

/** A request with the policy that it follows and its requester. */
export type Declaration = {
  project_id: string
  requested_by: string
  request: CertificationRequest
  policy: PolicyInForce
}

/** Returns the key of the plan that a request follows. */
export function keyOfPlan({ project_id, request, policy }: Declaration) {
  const subject = subjectOf(request.release)
  return { project_id, subject, environment: request.environment, policy_id: policy.policy_id }
}

/** The key of a plan. */
export type PlanKey = ReturnType<typeof keyOfPlan>

/**
 * Finds the plan of a release, or the first plan that was declared for it with another image or
 * without one: neither another digest nor none declares another window. Of another image only
 * the plan's eval runs of the asked image are kept.
 */
async function findPlan(
  trx: CertificationDb,
  { project_id, subject, environment, policy_id }: PlanKey,
  { subjects, image_digest }: { subjects: readonly string[]; image_digest: string | null },
): Promise<(Plan & { declared_at: string }) | undefined> {
  const plans = await trx
    .selectFrom('certification_plans')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('subject', 'in', subjects)
    .where('environment', '=', environment)
    .where('policy_id', '=', policy_id)
    .orderBy('declared_at')
    .execute()
  const found = plans.find((plan) => plan.subject === subject) ?? plans[0]
  if (found === undefined) return undefined
  const plan = { ...found, baseline: found.baseline as Baseline | null }
  const isOther = found.subject !== subject && image_digest !== null
  if (!isOther || plan.eval_run_ids.length === 0) return plan
  const runs = await trx
    .selectFrom('certification_eval_runs')
    .select('id')
    .where('project_id', '=', project_id)
    .where('id', 'in', plan.eval_run_ids)
    .where('image_digest', '=', image_digest)
    .execute()
  return { ...plan, eval_run_ids: runs.map(({ id }) => id) }
}

/**
 * Stores the plan of a request, or extends the one of earlier looks. Throws
 * `certification_plan_conflict`.
 */
export async function storePlan(
  trx: CertificationDb,
  declaration: Declaration,
  { now_ms, subjects }: { now_ms: number; subjects: readonly string[] },
): Promise<{ plan: Plan; declared_at: string }> {
  const { request, policy } = declaration
  const key = keyOfPlan(declaration)
  const { image_digest } = request.release
  const known = await findPlan(trx, key, { subjects, image_digest })
  const plan = known ? extendPlan(known, request) : firstPlan(request, { policy, now_ms })
  const { window_from, release_tags, baseline, eval_run_ids } = plan
  const declared_at = known?.declared_at ?? new Date(now_ms).toISOString()
  await trx
    .insertInto('certification_plans')
    .values({
      ...key,
      window_from,
      release_tags,
      eval_run_ids,
      declared_at,
      baseline: baseline && JSON.stringify(baseline),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'subject', 'environment', 'policy_id'])
        .doUpdateSet({ eval_run_ids }),
    )
    .execute()
  return { plan: { window_from, release_tags, baseline, eval_run_ids }, declared_at }
}
