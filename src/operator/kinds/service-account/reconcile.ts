import type { Secret, SecretDraft } from '../../../platform/kube/index.ts'
import {
  apiGroup,
  type Condition,
  type ConditionDraft,
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import { secretLabels, secretOwnerLabel } from '../../names.ts'
import { ServiceRefusal } from '../../service/service-client.ts'
import { type Account, type AccountApi, createAccountApi, ownerOf } from './account-api.ts'
import type { ActiveKey, KeyPlan } from './key-plan.ts'
import {
  desiredAccount,
  differences,
  isSameResource,
  type SettledAccount,
  settleAccount,
} from './settle-account.ts'
import { clearStrays, notApplied, type SettledKeys, settleKeys } from './settle-keys.ts'
import type { DeclaredKey, KeyStatus, ServiceAccountSpec, ServiceAccountStatus } from './spec.ts'

/**
 * Applies the spec to the account and its keys. No state is kept between calls: the id of the
 * account is in an annotation or is found by its owner, and keys are identified by the fingerprints
 * of the values in Secrets. After a crash at any write the next call continues.
 */
export async function reconcileServiceAccount(
  resource: Resource<ServiceAccountSpec, ServiceAccountStatus>,
  deps: ReconcileDeps,
): Promise<Reconciled<ServiceAccountStatus>> {
  try {
    return await applySpec(resource, deps)
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.code !== 'project_not_found') throw error
    throw new NotReady('ProjectNotFound', error.message)
  }
}

async function applySpec(
  resource: Resource<ServiceAccountSpec, ServiceAccountStatus>,
  deps: ReconcileDeps,
): Promise<Reconciled<ServiceAccountStatus>> {
  const { meta, status } = resource
  const { project_id } = deps
  const managed_by = ownerOf(meta)
  const api = createAccountApi(deps.service, { project_id, managed_by })
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  const was_settled = ready?.status === 'True' && ready.observedGeneration === meta.generation

  const account = await settleAccount({ resource, deps, api, managed_by, was_settled })
  const { id } = account.account
  const keys = await settleKeys({ resource, deps, api, account_id: id, was_settled })
  if (account.events.length > 0 || keys.has_written) {
    const now = await api.find(id)
    const differs =
      now === undefined ? ['id'] : differences(now, desiredAccount(resource), managed_by)
    if (differs.length > 0) throw notApplied(`the service account's ${differs.join(', ')}`)
  }
  return reconciledFrom({ account, keys, ready_before: ready }, deps.clock.now_ms())
}

/** Minimum wait for a due step, so that a clock that is slightly slow finds it due. */
const wait_ms_min = 1_000

/** Interval while a foreign Secret blocks a key; the operator does not watch such Secrets. */
const blockedCheck_ms = 30_000

/** Converts the state that was read back to conditions, status and events. */
function reconciledFrom(
  read: {
    account: SettledAccount
    keys: SettledKeys
    ready_before: Condition | undefined
  },
  now_ms: number,
): Reconciled<ServiceAccountStatus> {
  const { account, keys, ready_before } = read
  const { active, blocked } = keys.plan
  const ready = readyCondition(read)
  const isNew = blocked.length > 0 && ready.message !== ready_before?.message
  return {
    conditions: [ready],
    status: {
      serviceAccountId: account.account.id,
      keys: active.map(toKeyStatus),
    },
    events: [
      ...account.events,
      ...keys.events,
      ...(isNew ? [notOwnedEvent(ready.reason, ready.message)] : []),
    ],
    drifted: account.drifted + keys.drifted,
    ...nextCheckAfter(keys.plan, now_ms),
  }
}

function nextCheckAfter({ blocked, due_at_ms }: KeyPlan, now_ms: number) {
  const waits = [
    ...(due_at_ms === undefined ? [] : [Math.max(wait_ms_min, due_at_ms - now_ms)]),
    ...(blocked.length === 0 ? [] : [blockedCheck_ms]),
  ]
  return waits.length === 0 ? {} : { again_after_ms: Math.min(...waits) }
}

function readyCondition({
  account,
  keys,
}: {
  account: SettledAccount
  keys: SettledKeys
}): ConditionDraft {
  const { active, blocked } = keys.plan
  if (blocked.length > 0) {
    return {
      type: 'Ready',
      status: 'False',
      reason: 'SecretNotOwned',
      message: `${blocked.map(describeKey).join(', ')}: the Secret has another owner and is not overwritten. Rename or delete it`,
    }
  }
  const { name, disabled_at } = account.account
  const state = disabled_at === null ? '' : ', disabled as declared'
  return {
    type: 'Ready',
    status: 'True',
    reason: 'Synced',
    message: `service account "${name}" has ${active.length} keys in Secrets${state}`,
  }
}

function describeKey({ name, secretName }: DeclaredKey): string {
  return `Secret ${secretName} of key ${name}`
}

function notOwnedEvent(reason: string, note: string): EventDraft {
  return { type: 'Warning', reason, action: 'MintKey', note }
}

function toKeyStatus({ declared, key, rotates_at_ms, previous }: ActiveKey): KeyStatus {
  return {
    name: declared.name,
    keyId: key.id,
    prefix: key.prefix,
    secretName: declared.secretName,
    createdAt: key.created_at,
    ...(rotates_at_ms !== undefined && { rotatesAt: new Date(rotates_at_ms).toISOString() }),
    ...(key.expires_at !== null && { expiresAt: key.expires_at }),
    ...(previous.length > 0 && {
      previous: previous.map(({ id, ends_at }) => ({ keyId: id, endsAt: ends_at })),
    }),
  }
}

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
  const account = api && (await findDeclaredAccount(resource, api))
  if (api !== undefined && account !== undefined) {
    const { id: account_id } = account
    if (isKept) await clearStrays({ resource, deps, api, account_id, was_settled: false })
    await api.remove(account_id, { retain: isKept })
  }
  for (const secret of await deps.secrets.listOwned()) {
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
  const account = api && (await findDeclaredAccount(resource, api))
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
  for (const secret of await deps.secrets.listOwned()) await deps.secrets.remove(secret)
}

/** Returns the API of the project; undefined if the resource never had a project. */
function apiOf(
  { meta }: Pick<Declared, 'meta'>,
  { service, project_id }: ReconcileDeps,
): AccountApi | undefined {
  if (project_id === '') return undefined
  return createAccountApi(service, { project_id, managed_by: ownerOf(meta) })
}

/** Finds the account by its owner, not by the annotation, which a crash may have prevented. */
async function findDeclaredAccount(
  { meta }: Pick<Declared, 'meta'>,
  api: AccountApi,
): Promise<Account | undefined> {
  try {
    const account = await api.findDeclared()
    return account && isSameResource(account.managed_by, meta) ? account : undefined
  } catch (error) {
    if (error instanceof ServiceRefusal && error.code === 'project_not_found') return undefined
    throw error
  }
}

function release(secret: Secret, { meta }: Declared): SecretDraft {
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
