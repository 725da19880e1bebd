import { NotReady, type ReconcileDeps, type Reconciled, type Resource } from '../../contract.ts'
import type { ServiceAccountSpec } from './spec.ts'
import type { ServiceAccountStatus } from './status.ts'

/** Brings an account and its keys to what the spec says. */
export async function reconcileServiceAccount(
  _resource: Resource<ServiceAccountSpec, ServiceAccountStatus>,
  _deps: ReconcileDeps,
): Promise<Reconciled<ServiceAccountStatus>> {
  throw new NotReady('Pending', 'The service is not asked yet.')
}
