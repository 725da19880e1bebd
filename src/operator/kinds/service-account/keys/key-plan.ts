import type { Secret } from '../../../../platform/kube/index.ts'
import { duration_ms } from '../../../common-spec.ts'
import { installationLabel, secretLabels, secretOwnerLabel } from '../../../names.ts'
import type { LiveKey } from '../account/account-api.ts'
import { differenceOf, type RenderContents } from '../secrets/secret-contents.ts'
import { fingerprintOf, type PreviousKey, readNotes } from '../secrets/secret-notes.ts'
import type { DeclaredKey } from '../spec.ts'

/** The keys and Secrets of an account, as read; the Secrets were read before the keys. */
export type SeenKeys = {
  keys: readonly LiveKey[]
  /** Secrets that the resource owns or may adopt. */
  owned: readonly Secret[]
  /** Names of the Secrets in `owned` that it does not own yet. */
  ownerless: ReadonlySet<string>
  /** Names of declared Secrets that exist and have another owner. */
  foreign: ReadonlySet<string>
  /** Id of the operator's installation, which labels its Secrets. */
  installation?: string | undefined
  /** Names of keys whose Secrets the API server refuses to store. */
  refused?: ReadonlySet<string>
}

/** The keys of a spec, the scopes of the account, and the contents of their Secrets. */
export type DeclaredKeys = {
  keys: readonly DeclaredKey[]
  scopes: readonly string[]
  render: RenderContents
}

/** One step from the current to the declared state. */
export type KeyStep =
  /** The key is in no declared Secret. */
  | { act: 'revoke'; key: LiveKey }
  | ({ act: 'mint'; declared: DeclaredKey; secret: Secret | undefined } & MintReason)
  /** The key is valid; its Secret has drifted, or the template has changed. */
  | {
      act: 'rewrite'
      declared: DeclaredKey
      secret: Secret
      value: string
      active: ActiveKey
      reason: 'drift' | 'template'
    }
  /** Expire the key at the end of its overlap. */
  | { act: 'end'; key: LiveKey; at: string }
  | { act: 'set_scopes'; key: LiveKey }
  /** The Secret is no longer declared. */
  | { act: 'drop'; secret: Secret }

type MintReason = { reason: 'missing' | 'rotation'; previous: readonly PreviousKey[] }

/** A declared key that is valid and in its Secret. */
export type ActiveKey = {
  declared: DeclaredKey
  key: LiveKey
  minted_at_ms: number
  rotates_at_ms: number | undefined
  previous: readonly PreviousKey[]
}

/** The steps to the declared state. */
export type KeyPlan = {
  /** Steps in order; empty when nothing differs. */
  steps: readonly KeyStep[]
  /** Steps, due now or after the mints, that create nothing: revoke, end, set scopes, drop. */
  cleanup: readonly KeyStep[]
  active: readonly ActiveKey[]
  /** Keys that are not minted because their Secret has another owner. */
  blocked: readonly DeclaredKey[]
  /** Time of the next step. */
  due_at_ms: number | undefined
}

/**
 * Plans the steps from the state that was read to the declared one. A key in a Secret is identified
 * by its fingerprint, so the plan needs no state but the service and the Secrets: after a crash at
 * any step a new plan leads to the same end.
 *
 * Missing keys are minted first, and meanwhile nothing is revoked. Another operator may have minted
 * a key for the same Secret: only one of the two can write the Secret, and the other finds its own
 * key to be a stray when it reads again.
 */
export function planKeys(
  { keys: declared, scopes, render }: DeclaredKeys,
  seen: SeenKeys,
  now_ms: number,
): KeyPlan {
  const plans = declared
    .filter(({ secretName }) => !seen.foreign.has(secretName))
    .map((one) => planOne(one, { seen, render }, now_ms))
  const active = plans.flatMap(({ active: one }) => (one === undefined ? [] : [one]))
  const previous = plans.flatMap((one) => one.previous)
  const kept = new Set([...active.map(({ key }) => key.id), ...previous.map(({ id }) => id)])
  const names = new Set(declared.map(({ secretName }) => secretName))
  const steps = plans
    .flatMap((one) => one.steps)
    .filter((step) => !('declared' in step && seen.refused?.has(step.declared.name)))
  const cleanup: KeyStep[] = [
    ...seen.keys.filter(({ id }) => !kept.has(id)).map((key) => ({ act: 'revoke', key }) as const),
    ...planEndings(previous, seen.keys),
    ...active
      .filter(({ key }) => !isSameSet(key.scopes, scopes))
      .map(({ key }) => ({ act: 'set_scopes', key }) as const),
    ...seen.owned
      .filter(({ name }) => !names.has(name))
      .map((secret) => ({ act: 'drop', secret }) as const),
  ]
  const dues = [
    ...active
      .filter(({ declared: { name } }) => !seen.refused?.has(name))
      .flatMap(({ rotates_at_ms }) => rotates_at_ms ?? []),
    ...previous.map(({ ends_at }) => Date.parse(ends_at)),
  ]
  return {
    steps: steps.some(({ act }) => act === 'mint') ? steps : [...steps, ...cleanup],
    cleanup,
    active,
    blocked: declared.filter(({ secretName }) => seen.foreign.has(secretName)),
    due_at_ms: dues.length === 0 ? undefined : Math.min(...dues),
  }
}

/** Returns how long the old key stays valid after a rotation. */
export function overlap_ms({ rotateAfter, overlap }: DeclaredKey): number {
  if (overlap !== undefined) return duration_ms(overlap)
  return Math.min(hour_ms, rotateAfter === undefined ? hour_ms : duration_ms(rotateAfter) / 2)
}

const hour_ms = 3_600_000

type PlanOfOne = { steps: KeyStep[]; active: ActiveKey | undefined; previous: PreviousKey[] }

function planOne(
  declared: DeclaredKey,
  { seen, render }: { seen: SeenKeys; render: RenderContents },
  now_ms: number,
): PlanOfOne {
  const secret = seen.owned.find(({ name }) => name === declared.secretName)
  if (secret === undefined) return planMint(declared, undefined, [])
  const notes = readNotes(secret)
  const previous = notes.previous.filter(
    ({ id, ends_at }) => Date.parse(ends_at) > now_ms && seen.keys.some((key) => key.id === id),
  )
  const current = findKeyIn(secret, declared, seen.keys)
  if (current === undefined || notes.previous.some(({ id }) => id === current.key.id)) {
    return planMint(declared, secret, previous)
  }
  const { key, value } = current
  const created_ms = Date.parse(key.created_at)
  const noted_ms = notes.minted_at_ms ?? created_ms
  const minted_at_ms = noted_ms <= now_ms ? noted_ms : created_ms
  const { rotateAfter } = declared
  const rotates_at_ms =
    rotateAfter === undefined ? undefined : minted_at_ms + duration_ms(rotateAfter)
  const active: ActiveKey = { declared, key, minted_at_ms, rotates_at_ms, previous }
  // The service allows two live keys of one name, so a rotation waits for the end of the last one.
  if (rotates_at_ms !== undefined && rotates_at_ms <= now_ms && previous.length === 0) {
    const ends_at = new Date(now_ms + overlap_ms(declared)).toISOString()
    const replaced = [{ id: key.id, ends_at }]
    const step = { act: 'mint', declared, secret, reason: 'rotation', previous: replaced } as const
    return { steps: [step], active, previous }
  }
  const differs = differenceOf(secret, render(declared, { id: key.id, value }))
  const isOurs = isLabelled(secret, seen) && !seen.ownerless.has(secret.name)
  if (isOurs && notes.minted_at_ms !== undefined && differs === undefined) {
    return { steps: [], active, previous }
  }
  const rewrite = { act: 'rewrite', declared, secret, value, active } as const
  return { steps: [{ ...rewrite, reason: differs ?? 'drift' }], active, previous }
}

/** Whether a Secret has the labels that the operator's watch selects. */
function isLabelled({ labels, owner_uid }: Secret, { installation }: SeenKeys): boolean {
  const wanted = Object.entries({
    ...secretLabels,
    ...(installation !== undefined && { [installationLabel]: installation }),
  })
  return (
    wanted.every(([name, value]) => labels[name] === value) &&
    labels[secretOwnerLabel] === owner_uid
  )
}

function planMint(
  declared: DeclaredKey,
  secret: Secret | undefined,
  previous: PreviousKey[],
): PlanOfOne {
  const step = { act: 'mint', declared, secret, reason: 'missing', previous } as const
  return { steps: [step], active: undefined, previous }
}

/** Finds the live key of the declared name whose value is in the Secret, under any data key. */
export function findKeyIn(
  secret: Pick<Secret, 'data'>,
  { name, secretKey }: DeclaredKey,
  keys: readonly LiveKey[],
): { key: LiveKey; value: string } | undefined {
  const { [secretKey]: first, ...others } = secret.data
  for (const value of [first, ...Object.values(others)]) {
    if (value === undefined) continue
    const print = fingerprintOf(value)
    const key = keys.find((one) => one.fingerprint === print && one.name === name)
    if (key !== undefined && value.startsWith(`${key.prefix}_`)) return { key, value }
  }
  return undefined
}

/** Plans the expiry of keys in their overlap that have a later one or none. */
function planEndings(previous: readonly PreviousKey[], keys: readonly LiveKey[]): KeyStep[] {
  return previous.flatMap(({ id, ends_at }) => {
    const key = keys.find((one) => one.id === id)
    if (key === undefined) return []
    const ends = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at)
    return ends <= Date.parse(ends_at) ? [] : [{ act: 'end', key, at: ends_at } as const]
  })
}

/** Whether two lists have the same elements, in any order. */
export function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  const set = new Set(others)
  return new Set(some).size === set.size && some.every((one) => set.has(one))
}
