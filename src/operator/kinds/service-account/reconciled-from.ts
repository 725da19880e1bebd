import type { Condition, ConditionDraft, EventDraft, Reconciled } from '../../contract.ts'
import type { HeldKey, KeyPlan } from './key-plan.ts'
import type { SettledAccount } from './settle-account.ts'
import type { SettledKeys } from './settle-keys.ts'
import type { DeclaredKey } from './spec.ts'
import type { KeyStatus, ServiceAccountStatus } from './status.ts'

/** Something becomes due at the very earliest then: a clock that is a little late finds it due. */
const soonest_ms = 1_000

/** Nobody tells the operator when a Secret that is not its own goes away. */
const blockedLook_ms = 30_000

/** What was read back, as the status tells it. */
export function reconciledFrom(
  read: {
    project_id: string
    account: SettledAccount
    keys: SettledKeys
    ready_before: Condition | undefined
  },
  now_ms: number,
): Reconciled<ServiceAccountStatus> {
  const { project_id, account, keys, ready_before } = read
  const { held, blocked } = keys.plan
  const ready = readiness(read)
  const isNews = blocked.length > 0 && ready.message !== ready_before?.message
  return {
    conditions: [ready],
    status: {
      projectId: project_id,
      serviceAccountId: account.account.id,
      keys: held.map(keyStatus),
    },
    events: [
      ...account.events,
      ...keys.events,
      ...(isNews ? [notOwned(ready.reason, ready.message)] : []),
    ],
    drifted: account.drifted + keys.drifted,
    ...againAfter(keys.plan, now_ms),
  }
}

function againAfter({ blocked, due_at_ms }: KeyPlan, now_ms: number) {
  const waits = [
    ...(due_at_ms === undefined ? [] : [Math.max(soonest_ms, due_at_ms - now_ms)]),
    ...(blocked.length === 0 ? [] : [blockedLook_ms]),
  ]
  return waits.length === 0 ? {} : { again_after_ms: Math.min(...waits) }
}

function readiness({
  account,
  keys,
}: {
  account: SettledAccount
  keys: SettledKeys
}): ConditionDraft {
  const { held, blocked } = keys.plan
  if (blocked.length > 0) {
    return {
      type: 'Ready',
      status: 'False',
      reason: 'SecretNotOwned',
      message: `${blocked.map(told).join(', ')}: somebody else made it, and it is not overwritten`,
    }
  }
  const { name, disabled_at } = account.account
  const state = disabled_at === null ? '' : ', disabled as declared'
  return {
    type: 'Ready',
    status: 'True',
    reason: 'Synced',
    message: `service account "${name}" has ${held.length} of its keys in Secrets${state}`,
  }
}

function told({ name, secretName }: DeclaredKey): string {
  return `Secret ${secretName} of key ${name}`
}

function notOwned(reason: string, note: string): EventDraft {
  return { type: 'Warning', reason, action: 'MintKey', note }
}

function keyStatus({ declared, key, rotates_at_ms, previous }: HeldKey): KeyStatus {
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
