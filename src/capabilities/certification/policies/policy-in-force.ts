import type { PolicyDocument } from '../policy/policy.ts'
import { builtInDigest, builtInPolicy, defaultPolicyId } from './default-policy.ts'
import { type PolicyDb, policyTable } from './store.ts'

/** The version of a policy that a certification follows. */
export type PolicyInForce = {
  policy_id: string
  /** 0: built in. */
  version: number
  digest: string
  document: PolicyDocument
}

/**
 * Returns the current version of a policy of a project. The id `default` has the built-in policy until the
 * project has a policy of this id; other unknown ids give undefined.
 */
export async function findPolicyInForce(
  db: PolicyDb,
  { project_id, policy_id }: { project_id: string; policy_id: string },
): Promise<PolicyInForce | undefined> {
  const stored = await policyTable.findBy(db, project_id, { id: policy_id })
  if (stored !== undefined) {
    const { version, digest, document } = stored
    return { policy_id, version, digest, document }
  }
  if (policy_id !== defaultPolicyId) return undefined
  return { policy_id, version: 0, digest: builtInDigest, document: builtInPolicy }
}
