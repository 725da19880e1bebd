import { NotReady, type ReconcileDeps, type Reconciled, type Resource } from '../../contract.ts'
import type { RetentionPolicySpec } from './spec.ts'
import type { RetentionPolicyStatus } from './status.ts'

/** Brings a project's retention in the service to what the spec says. */
export async function reconcileRetention(
  _resource: Resource<RetentionPolicySpec, RetentionPolicyStatus>,
  _deps: ReconcileDeps,
): Promise<Reconciled<RetentionPolicyStatus>> {
  throw new NotReady('Pending', 'The service is not asked yet.')
}
