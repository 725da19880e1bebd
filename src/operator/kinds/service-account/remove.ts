import type { Secret, SecretDraft } from '../../../platform/kube/index.ts'
import { apiGroup, NotReady, type ReconcileDeps, type Resource } from '../../contract.ts'
import { secretLabels, secretOwnerLabel } from '../../names.ts'
import { resolveProject } from '../../project-ref.ts'
import { ServiceRefusal } from '../../service-client.ts'
import { type Account, type AccountApi, accountApi, ownerOf } from './account-api.ts'
import { isSameResource } from './settle-account.ts'
import { clearStrays } from './settle-keys.ts'
import type { ServiceAccountSpec } from './spec.ts'
import type { ServiceAccountStatus } from './status.ts'

/** Stands on a Secret that a deleted resource let go of: which one it was. */
const retainedFrom = `${apiGroup}/retained-from`

type Declared = Resource<ServiceAccountSpec, ServiceAccountStatus>

/**
 * Deletes the account with its keys, then the Secrets; or (`Retain`) lets go of both, which then stay
 * as they are: the account belongs to nobody's resource, the Secrets have no owner. What another
 * resource has taken over meanwhile is left to that one.
 */
export async function removeServiceAccount(resource: Declared, deps: ReconcileDeps): Promise<void> {
  const isKept = resource.spec.deletionPolicy === 'Retain'
  const api = await apiOf(resource, deps)
  const account = api && (await declaredAccount(resource, api))
  if (api !== undefined && account !== undefined) {
    const { id: account_id } = account
    if (isKept) await clearStrays({ resource, deps, api, account_id, was_settled: false })
    await api.remove(account_id, { retain: isKept })
  }
  for (const secret of await deps.secrets.listOwned()) {
    await (isKept
      ? deps.secrets.disown(secret, letGo(secret, resource))
      : deps.secrets.remove(secret))
  }
  if (isKept) deps.logger.info({ account_id: account?.id }, 'service account and Secrets are kept')
}

/** Undefined when there is no such project: then there is nothing of it in the service. */
async function apiOf(
  { meta, spec, status }: Declared,
  { service, clock }: ReconcileDeps,
): Promise<AccountApi | undefined> {
  try {
    const known = spec.projectRef.id === undefined ? status.projectId : undefined
    const project_id = known ?? (await resolveProject(spec.projectRef, service, clock))
    return accountApi(service, { project_id, managed_by: ownerOf(meta) })
  } catch (error) {
    if (error instanceof NotReady && error.reason === 'ProjectNotFound') return undefined
    throw error
  }
}

/** By its owner and not by the id that was noted: a crash may have come before that. */
async function declaredAccount({ meta }: Declared, api: AccountApi): Promise<Account | undefined> {
  try {
    const account = await api.findDeclared()
    return account && isSameResource(account.managed_by, meta) ? account : undefined
  } catch (error) {
    if (error instanceof ServiceRefusal && error.code === 'project_not_found') return undefined
    throw error
  }
}

function letGo(secret: Secret, { meta }: Declared): SecretDraft {
  const ours = new Set([...Object.keys(secretLabels), secretOwnerLabel])
  const labels = Object.entries(secret.labels).filter(([name]) => !ours.has(name))
  const from = `${meta.kind}.${meta.namespace}.${meta.name}`
  return {
    name: secret.name,
    labels: Object.fromEntries(labels),
    annotations: { ...secret.annotations, [retainedFrom]: from },
    data: secret.data,
  }
}
