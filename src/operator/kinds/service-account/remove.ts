import type { ReconcileDeps, Resource } from '../../contract.ts'
import type { ServiceAccountSpec } from './spec.ts'
import type { ServiceAccountStatus } from './status.ts'

/** Takes the account and its keys back, or lets go of them. */
export async function removeServiceAccount(
  _resource: Resource<ServiceAccountSpec, ServiceAccountStatus>,
  _deps: ReconcileDeps,
): Promise<void> {
  // Nothing was written yet.
}
