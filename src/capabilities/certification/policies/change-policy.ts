import { type Problem, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import { type ResourceName, refuseUnlessOwner } from '../../../model/managed-by.ts'
import { assertVersion, type RequestHeaders } from '../../../platform/http/index.ts'
import { toPolicyDocument } from '../policy/policy.ts'
import {
  changePolicies,
  countPolicies,
  isSame,
  lockPolicy,
  markDeleted,
  type PolicyChange,
  type PolicyDb,
  type StoredPolicy,
  setOwner,
  type WhichPolicy,
  writeVersion,
} from './store.ts'

/** Maximum policies of a project. */
const policies_max = 100

/** Maximum versions of a policy. Statements name versions, so none is ever deleted. */
const versions_max = 10_000

export type PolicyDeps = { db: PolicyDb; clock: Clock }

/** A policy to change, and the headers with the version that was read. */
type ChangedPolicy = WhichPolicy & { headers: RequestHeaders }

/**
 * Creates a policy or writes its next version. Equal rules write no version. An operator's call adopts
 * a policy that no resource manages. Throws `managed_by_kubernetes`, `precondition_failed`,
 * `limit_reached`.
 */
export function putPolicy(
  { db }: PolicyDeps,
  { headers, ...which }: ChangedPolicy,
  change: PolicyChange,
): Promise<StoredPolicy> {
  return changePolicies(db, which.project_id, async (trx) => {
    const locked = await lockPolicy(trx, which)
    const before = locked?.deleted_at === null ? locked : undefined
    refuseUnlessOwner(before?.managed_by ?? null, change.managed_by)
    assertVersion(headers, before?.version ?? 0)
    if (before === undefined) await checkLimit(trx, which)
    else if (hasRules(before, change)) return keepVersion(trx, before, change)
    if ((locked?.version ?? 0) >= versions_max) throw tooManyVersions()
    return writeVersion(trx, which, change, locked)
  })
}

function hasRules(
  { policy_id, version, document }: StoredPolicy,
  { rules }: PolicyChange,
): boolean {
  return isSame(document, toPolicyDocument(policy_id, version, rules))
}

async function keepVersion(
  trx: PolicyDb,
  before: StoredPolicy,
  { managed_by }: PolicyChange,
): Promise<StoredPolicy> {
  if (!isSame(before.managed_by, managed_by)) await setOwner(trx, before, managed_by)
  return { ...before, managed_by }
}

/**
 * Deletes a policy, or with `retain` only its declaration. Versions remain, because statements name
 * them. Throws `release_policy_not_found`, `managed_by_kubernetes`, `permission_denied`,
 * `precondition_failed`.
 */
export function deletePolicy(
  { db, clock }: PolicyDeps,
  { headers, ...which }: ChangedPolicy,
  { by, is_operator, retain }: { by: ResourceName | null; is_operator: boolean; retain: boolean },
): Promise<void> {
  return changePolicies(db, which.project_id, async (trx) => {
    const before = await lockPolicy(trx, which)
    if (before?.deleted_at !== null) throw policyNotFound(which.policy_id)
    refuseUnlessOwner(before.managed_by, by)
    if (is_operator && before.managed_by === null) {
      const detail = 'No resource declares this policy, so an operator cannot delete it.'
      throw problem('permission_denied', { detail })
    }
    assertVersion(headers, before.version)
    if (retain) return setOwner(trx, which, null)
    return markDeleted(trx, which, new Date(clock.now_ms()))
  })
}

/** Returns the error for an id that no policy of the project has. */
export function policyNotFound(policy_id: string): Problem {
  return problem('release_policy_not_found', {
    detail: `policy_id: got "${policy_id.slice(0, 80)}", expected the id of a release policy of this project`,
  })
}

async function checkLimit(trx: PolicyDb, { project_id }: WhichPolicy): Promise<void> {
  if ((await countPolicies(trx, project_id)) < policies_max) return
  const detail = `The project has ${policies_max} release policies, the maximum. Delete some first.`
  throw problem('limit_reached', { detail })
}

function tooManyVersions(): Problem {
  const detail = `The policy has ${versions_max} versions, the maximum. Create a policy with another id.`
  return problem('limit_reached', { detail })
}
