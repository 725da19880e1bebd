import {
  type Condition,
  type ConditionDraft,
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import { ownerOf } from '../../installation.ts'
import { annotations } from '../../names.ts'
import { isRefusal } from '../../service/service-client.ts'
import { type Account, createAccountApi } from './account/account-api.ts'
import {
  desiredAccount,
  differences,
  type SettledAccount,
  settleAccount,
} from './account/settle-account.ts'
import type { ActiveKey } from './keys/key-plan.ts'
import {
  clearStrays,
  type KeysContext,
  notApplied,
  type SettledKeys,
  settleKeys,
} from './keys/settle-keys.ts'
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
    if (!isRefusal(error, 'project_not_found')) throw error
    throw new NotReady('ProjectNotFound', error.message)
  }
}

async function applySpec(
  resource: Resource<ServiceAccountSpec, ServiceAccountStatus>,
  deps: ReconcileDeps,
): Promise<Reconciled<ServiceAccountStatus>> {
  const { meta, status } = resource
  const { project_id } = deps
  const managed_by = ownerOf(meta, deps.installation)
  const api = createAccountApi(deps.service, { project_id, managed_by })
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  const was_settled = ready?.status === 'True' && ready.observedGeneration === meta.generation

  const account = await settleAccount({ resource, deps, api, managed_by, was_settled })
  const { id } = account.account
  const context = { resource, deps, api, account_id: id, was_settled }
  const isSuspended = await resumeOnRequest(account.account, context)
  if (isSuspended) await clearStrays(context)
  if (isSuspended) throw suspended(account.account)
  const keys = await settleKeys(context)
  if (account.events.length > 0 || keys.has_written) {
    const now = await api.find(id)
    const differs =
      now === undefined ? ['id'] : differences(now, desiredAccount(resource), managed_by)
    if (differs.length > 0) throw notApplied(`the service account's ${differs.join(', ')}`)
  }
  return reconciledFrom({ account, keys, ready_before: ready }, deps.clock.now_ms())
}

/**
 * Ends a suspension by the annotation `looptrace.dev/resume`, and removes the annotation also when
 * nothing is suspended, so that it can't lift a later suspension. Returns whether the account is
 * suspended.
 */
async function resumeOnRequest(
  account: Account,
  { resource: { meta }, deps, api }: KeysContext,
): Promise<boolean> {
  const isSuspended = account.suspended_at != null
  const value = meta.annotations[annotations.resume]
  if (value === undefined) return isSuspended
  const reason = value
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, maxResumeReasonChars)
  if (isSuspended && reason !== '') await api.resume(account.id, reason)
  await deps.removeAnnotation(annotations.resume, value)
  return isSuspended && reason === ''
}

/** The service's limit for reasons. */
const maxResumeReasonChars = 500

function suspended({ suspended_at, suspended_by, suspended_reason }: Account): NotReady {
  return new NotReady(
    'Suspended',
    `user ${suspended_by} revoked a key in an emergency at ${suspended_at}: ${suspended_reason}. No key is minted until a project admin resumes the service account, or the resource has the annotation ${annotations.resume} with a reason`,
  )
}

/** Minimum wait for a due step, so that a clock that is slightly slow finds it due. */
const wait_ms_min = 1_000

/** Interval while a foreign Secret blocks a key; the operator does not watch such Secrets. */
const blockedCheckMs = 30_000

const minRefusedCheckMs = 5_000

/** Returns the pause before the next dry run: as long as the refusal has lasted, so pauses double. */
function refusedCheckMs(before: Condition | undefined, now_ms: number): number {
  if (before?.reason !== 'SecretNotWritable') return minRefusedCheckMs
  return Math.max(minRefusedCheckMs, now_ms - Date.parse(before.lastTransitionTime))
}

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
  const { refused, plan } = keys
  const ready = readyCondition(read)
  const isNew = ready.status === 'False' && ready.message !== ready_before?.message
  return {
    conditions: [ready],
    status: {
      serviceAccountId: account.account.id,
      keys: plan.active.map(toKeyStatus),
      ...(refused.length > 0 && { refusedSecrets: [...refused] }),
    },
    events: [
      ...account.events,
      ...keys.events,
      ...(isNew ? [notWrittenEvent(ready.reason, ready.message)] : []),
    ],
    drifted: account.drifted + keys.drifted,
    ...nextCheckAfter(keys, { ready_before, now_ms }),
  }
}

function nextCheckAfter(
  { plan: { blocked, due_at_ms }, refused }: SettledKeys,
  { ready_before, now_ms }: { ready_before: Condition | undefined; now_ms: number },
) {
  const waits = [
    ...(due_at_ms === undefined ? [] : [Math.max(wait_ms_min, due_at_ms - now_ms)]),
    ...(blocked.length === 0 ? [] : [blockedCheckMs]),
    ...(refused.length === 0 ? [] : [refusedCheckMs(ready_before, now_ms)]),
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
  if (keys.refused.length > 0) {
    return {
      type: 'Ready',
      status: 'False',
      reason: 'SecretNotWritable',
      message: keys.refused.map((one) => `${describeKey(one)}: ${one.message}`).join('; '),
    }
  }
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

function describeKey({ name, secretName }: Pick<DeclaredKey, 'name' | 'secretName'>): string {
  return `Secret ${secretName} of key ${name}`
}

function notWrittenEvent(reason: string, note: string): EventDraft {
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
