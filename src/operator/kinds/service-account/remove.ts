import { isUuid } from '../../../kernel/ids.ts'
import type { Secret, SecretDraft } from '../../../platform/kube/index.ts'
import { apiGroup, type ReconcileDeps, type Resource } from '../../contract.ts'
import { isSameResource, ownerOf } from '../../installation.ts'
import { installationLabel, secretLabels, secretOwnerLabel } from '../../names.ts'
import { isRefusal } from '../../service/service-client.ts'
import { type Account, type AccountApi, createAccountApi } from './account/account-api.ts'
import { refuseOtherInstallation } from './account/settle-account.ts'
import { clearStrays, isOfOtherInstallation } from './keys/settle-keys.ts'
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
  const api = apiOf(resource, deps)
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

/**
 * Revokes all keys of the account and deletes the Secrets, after the grant was withdrawn. The account
 * stays with its history, disabled and under another name, so that its tokens are refused and its
 * name is free.
 */
export async function withdrawServiceAccount(
  resource: Pick<Declared, 'meta'>,
  deps: ReconcileDeps,
): Promise<void> {
  const api = apiOf(resource, deps)
  const account = api && (await findDeclaredAccount(resource, deps, api))
  if (api !== undefined && account !== undefined) {
    const { id, scopes } = account
    const mark = ` (withdrawn ${id})`
    const isMarked = account.name.endsWith(mark)
    const name = isMarked ? account.name : `${account.name.slice(0, 100 - mark.length)}${mark}`
    if (!isMarked || account.disabled_at === null) {
      await api.change(id, { name, scopes, disabled: true, take_over: false })
    }
    for (const key of await api.liveKeys(id)) await api.revoke(key.id)
  }
  for (const secret of await deps.secrets.listOwned()) {
    if (!isOfOtherInstallation(secret, deps.installation)) await deps.secrets.remove(secret)
  }
}

/** Returns the API of the project; undefined if the resource never had a project. */
function apiOf(
  { meta }: Pick<Declared, 'meta'>,
  { service, project_id, installation }: ReconcileDeps,
): AccountApi | undefined {
  if (project_id === '') return undefined
  return createAccountApi(service, { project_id, managed_by: ownerOf(meta, installation) })
}

/**
 * Finds the account by its owner, not by the annotation, which a crash may have prevented. Throws
 * `NotReady` (`Conflict`) when the annotation names an account that another installation serves, so
 * that the resource is not gone before its account.
 */
async function findDeclaredAccount(
  { meta }: Pick<Declared, 'meta'>,
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
    if (isRefusal(error, 'project_not_found')) return undefined
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
