import { isUuid } from '../../../kernel/ids.ts'
import type { Secret, SecretDraft } from '../../../platform/kube/index.ts'
import { apiGroup, NotReady, type ReconcileDeps, type Resource } from '../../contract.ts'
import { ownerOf } from '../../installation.ts'
import { installationLabel, secretLabels, secretOwnerLabel } from '../../names.ts'
import { resolveProject } from '../../service/project-ref.ts'
import { ServiceRefusal } from '../../service/service-client.ts'
import { type Account, type AccountApi, createAccountApi } from './account-api.ts'
import { isSameResource, refuseOtherInstallation } from './settle-account.ts'
import { clearStrays, isOfOtherInstallation } from './settle-keys.ts'
import type { ServiceAccountSpec, ServiceAccountStatus } from './spec.ts'

/** Annotation of a Secret that a deleted resource released, with the name of that resource. */
const retainedFrom = `${apiGroup}/retained-from`

type Declared = Resource<ServiceAccountSpec, ServiceAccountStatus>

/**
 * Deletes the account with its keys, then the Secrets. With `Retain` both stay, without an owner.
 * An account or Secret that another resource has taken over is left alone.
 */
export async function removeServiceAccount(resource: Declared, deps: ReconcileDeps): Promise<void> {
  const isKept = resource.spec.deletionPolicy === 'Retain'
  const api = await apiOf(resource, deps)
  const account = api && (await findDeclaredAccount(resource, deps, api))
  if (api !== undefined && account !== undefined) {
    const { id: account_id } = account
    if (isKept) await clearStrays({ resource, deps, api, account_id, was_settled: false })
    await api.remove(account_id, { retain: isKept })
  }
  for (const secret of await deps.secrets.listOwned()) {
    if (isOfOtherInstallation(secret, deps.installation)) continue
    await (isKept
      ? deps.secrets.disown(secret, release(secret, resource))
      : deps.secrets.remove(secret))
  }
  if (isKept)
    deps.logger.info({ account_id: account?.id }, 'kept the service account and its Secrets')
}

/** Returns the API of the project; undefined if the project does not exist. */
async function apiOf(
  { meta, spec, status }: Declared,
  deps: ReconcileDeps,
): Promise<AccountApi | undefined> {
  const { service, clock } = deps
  try {
    const knownId = spec.projectRef.id === undefined ? status.projectId : undefined
    const project_id = knownId ?? (await resolveProject(spec.projectRef, service, clock))
    return createAccountApi(service, { project_id, managed_by: ownerOf(meta, deps.installation) })
  } catch (error) {
    if (error instanceof NotReady && error.reason === 'ProjectNotFound') return undefined
    throw error
  }
}

/**
 * Finds the account by its owner, not by the annotation, which a crash may have prevented. Throws
 * `NotReady` (`Conflict`) when the annotation names an account that another installation serves, so
 * that the resource is not gone before its account.
 */
async function findDeclaredAccount(
  { meta }: Declared,
  { installation }: ReconcileDeps,
  api: AccountApi,
): Promise<Account | undefined> {
  try {
    const account = await api.findDeclared()
    const owner = account?.managed_by
    const isEarly = installation !== undefined && owner?.installation === undefined
    if (owner != null && isSameResource(owner, meta) && !(isEarly && owner.uid !== meta.uid)) {
      return account
    }
    const { external_id: id } = meta
    const noted = id === undefined || !isUuid(id) ? undefined : await api.find(id)
    if (noted?.managed_by != null && isSameResource(noted.managed_by, meta)) {
      refuseOtherInstallation(noted.managed_by, { installation: installation?.id })
    }
    return undefined
  } catch (error) {
    if (error instanceof ServiceRefusal && error.code === 'project_not_found') return undefined
    throw error
  }
}

function release(secret: Secret, { meta }: Declared): SecretDraft {
  const ours = new Set([...Object.keys(secretLabels), secretOwnerLabel, installationLabel])
  const labels = Object.entries(secret.labels).filter(([name]) => !ours.has(name))
  const from = `${meta.kind}.${meta.namespace}.${meta.name}`
  return {
    name: secret.name,
    labels: Object.fromEntries(labels),
    annotations: { ...secret.annotations, [retainedFrom]: from },
    data: secret.data,
  }
}
