import type { ReconcileDeps, Resource } from '../../contract.ts'
import type { RetentionPolicySpec } from './spec.ts'
import type { RetentionPolicyStatus } from './status.ts'

/** Takes the policy and its holds back, or lets go of them. */
export async function removeRetention(
  _resource: Resource<RetentionPolicySpec, RetentionPolicyStatus>,
  _deps: ReconcileDeps,
): Promise<void> {
  // Nothing was written yet.
}
