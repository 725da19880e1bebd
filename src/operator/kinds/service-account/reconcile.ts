import { NotReady, type ReconcileDeps, type Reconciled, type Resource } from '../../contract.ts'
import { resolveProject } from '../../project-ref.ts'
import { ServiceRefusal } from '../../service-client.ts'
import { accountApi, ownerOf } from './account-api.ts'
import { reconciledFrom } from './reconciled-from.ts'
import { differences, settleAccount, wishOf } from './settle-account.ts'
import { settleKeys } from './settle-keys.ts'
import type { ServiceAccountSpec } from './spec.ts'
import type { ServiceAccountStatus } from './status.ts'
import { unsettled } from './unsettled.ts'

/**
 * Brings an account and its keys to what the spec says. Nothing is remembered between two calls: the
 * id of the account stands in an annotation, or is found by its owner; keys are told by their
 * fingerprints in Secrets. A crash at any write is made good by the next call.
 */
export async function reconcileServiceAccount(
  resource: Resource<ServiceAccountSpec, ServiceAccountStatus>,
  deps: ReconcileDeps,
): Promise<Reconciled<ServiceAccountStatus>> {
  try {
    return await bring(resource, deps)
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.code !== 'project_not_found') throw error
    throw new NotReady('ProjectNotFound', error.message)
  }
}

async function bring(
  resource: Resource<ServiceAccountSpec, ServiceAccountStatus>,
  deps: ReconcileDeps,
): Promise<Reconciled<ServiceAccountStatus>> {
  const { spec, meta, status } = resource
  const project_id = await resolveProject(spec.projectRef, deps.service, deps.clock)
  const managed_by = ownerOf(meta)
  const api = accountApi(deps.service, { project_id, managed_by })
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  const was_settled = ready?.status === 'True' && ready.observedGeneration === meta.generation

  const account = await settleAccount({ resource, deps, api, managed_by, was_settled })
  const { id } = account.account
  const keys = await settleKeys({ resource, deps, api, account_id: id, was_settled })
  if (account.events.length > 0 || keys.has_written) {
    const now = await api.find(id)
    const differs = now === undefined ? ['id'] : differences(now, wishOf(resource), managed_by)
    if (differs.length > 0) throw unsettled(`the service account's ${differs.join(', ')}`)
  }
  return reconciledFrom({ project_id, account, keys, ready_before: ready }, deps.clock.now_ms())
}
