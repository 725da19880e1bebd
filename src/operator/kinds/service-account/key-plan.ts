import type { Secret } from '../../../platform/kube/index.ts'
import { duration_ms } from '../../common-spec.ts'
import { secretLabels, secretOwnerLabel } from '../../names.ts'
import type { LiveKey } from './account-api.ts'
import { fingerprintOf, type PreviousKey, readNotes } from './secret-notes.ts'
import type { DeclaredKey } from './spec.ts'

/** What was read of an account's keys, Secrets before keys. */
export type SeenKeys = {
  keys: readonly LiveKey[]
  /** Secrets that the resource owns, or may come to own. */
  owned: readonly Secret[]
  /** Names of those of them that it does not own yet. */
  ownerless: ReadonlySet<string>
  /** Names of declared Secrets that are there and belong to somebody else. */
  foreign: ReadonlySet<string>
}

/** One step towards what is declared. */
export type KeyAct =
  /** It stands in no Secret: nobody can use it as it should be used. */
  | { act: 'revoke'; key: LiveKey }
  | ({ act: 'mint'; declared: DeclaredKey; secret: Secret | undefined } & MintReason)
  /** The key is good, and what stands around it is not. */
  | { act: 'rewrite'; declared: DeclaredKey; secret: Secret; value: string; held: HeldKey }
  /** Its overlap ends then. */
  | { act: 'end'; key: LiveKey; at: string }
  | { act: 'set_scopes'; key: LiveKey }
  /** Nothing declares it any more. */
  | { act: 'drop'; secret: Secret }

type MintReason = { reason: 'missing' | 'rotation'; previous: readonly PreviousKey[] }

/** A declared key that works and stands in its Secret. */
export type HeldKey = {
  declared: DeclaredKey
  key: LiveKey
  minted_at_ms: number
  rotates_at_ms: number | undefined
  previous: readonly PreviousKey[]
}

export type KeyPlan = {
  /** In the order in which they are done; empty: it is as declared. */
  acts: readonly KeyAct[]
  /** Those of them, now or later, that make nothing: revoke, end, set, drop. */
  tidying: readonly KeyAct[]
  held: readonly HeldKey[]
  /** Keys that are not made, as their Secret belongs to somebody else. */
  blocked: readonly DeclaredKey[]
  /** When there will be something to do. */
  due_at_ms: number | undefined
}

/**
 * Compares what is declared with what was read. A key in a Secret is known by its fingerprint, so that
 * nothing has to be remembered but what stands in service and Secrets: whoever dies at any step and
 * plans again ends at the same place.
 *
 * Keys that are missing come first, and while one is, nothing is revoked. Another operator may be
 * at the same Secret with a key that it has just made: of the two, one can write the Secret, and the
 * other one finds its own key to be a stray when it looks again.
 */
export function planKeys(
  declared: readonly DeclaredKey[],
  scopes: readonly string[],
  seen: SeenKeys,
  now_ms: number,
): KeyPlan {
  const found = declared
    .filter(({ secretName }) => !seen.foreign.has(secretName))
    .map((one) => planOne(one, seen, now_ms))
  const held = found.flatMap(({ held: one }) => (one === undefined ? [] : [one]))
  const previous = found.flatMap((one) => one.previous)
  const kept = new Set([...held.map(({ key }) => key.id), ...previous.map(({ id }) => id)])
  const names = new Set(declared.map(({ secretName }) => secretName))
  const making = found.flatMap((one) => one.acts)
  const tidying: KeyAct[] = [
    ...seen.keys.filter(({ id }) => !kept.has(id)).map((key) => ({ act: 'revoke', key }) as const),
    ...endings(previous, seen.keys),
    ...held
      .filter(({ key }) => !isSameSet(key.scopes, scopes))
      .map(({ key }) => ({ act: 'set_scopes', key }) as const),
    ...seen.owned
      .filter(({ name }) => !names.has(name))
      .map((secret) => ({ act: 'drop', secret }) as const),
  ]
  const dues = [
    ...held.flatMap(({ rotates_at_ms }) => rotates_at_ms ?? []),
    ...previous.map(({ ends_at }) => Date.parse(ends_at)),
  ]
  return {
    acts: making.some(({ act }) => act === 'mint') ? making : [...making, ...tidying],
    tidying,
    held,
    blocked: declared.filter(({ secretName }) => seen.foreign.has(secretName)),
    due_at_ms: dues.length === 0 ? undefined : Math.min(...dues),
  }
}

/** How long the old key works on after a rotation. */
export function overlap_ms({ rotateAfter, overlap }: DeclaredKey): number {
  if (overlap !== undefined) return duration_ms(overlap)
  return Math.min(hour_ms, rotateAfter === undefined ? hour_ms : duration_ms(rotateAfter) / 2)
}

const hour_ms = 3_600_000

type PlanOfOne = { acts: KeyAct[]; held: HeldKey | undefined; previous: PreviousKey[] }

function planOne(declared: DeclaredKey, seen: SeenKeys, now_ms: number): PlanOfOne {
  const secret = seen.owned.find(({ name }) => name === declared.secretName)
  if (secret === undefined) return missing(declared, undefined, [])
  const notes = readNotes(secret)
  const previous = notes.previous.filter(
    ({ id, ends_at }) => Date.parse(ends_at) > now_ms && seen.keys.some((key) => key.id === id),
  )
  const standing = keyIn(secret, declared, seen.keys)
  if (standing === undefined || notes.previous.some(({ id }) => id === standing.key.id)) {
    return missing(declared, secret, previous)
  }
  const { key, value } = standing
  const created_ms = Date.parse(key.created_at)
  const noted_ms = notes.minted_at_ms ?? created_ms
  const minted_at_ms = noted_ms <= now_ms ? noted_ms : created_ms
  const { rotateAfter } = declared
  const rotates_at_ms =
    rotateAfter === undefined ? undefined : minted_at_ms + duration_ms(rotateAfter)
  const held: HeldKey = { declared, key, minted_at_ms, rotates_at_ms, previous }
  if (rotates_at_ms !== undefined && rotates_at_ms <= now_ms) {
    const ends_at = new Date(now_ms + overlap_ms(declared)).toISOString()
    const left = [...previous, { id: key.id, ends_at }]
    const act = { act: 'mint', declared, secret, reason: 'rotation', previous: left } as const
    return { acts: [act], held, previous }
  }
  const isAlone = Object.keys(secret.data).length === 1 && secret.data[declared.secretKey] === value
  const isOurs = isLabelled(secret) && !seen.ownerless.has(secret.name)
  const isWhole = isOurs && notes.minted_at_ms !== undefined && isAlone
  const acts: KeyAct[] = isWhole ? [] : [{ act: 'rewrite', declared, secret, value, held }]
  return { acts, held, previous }
}

/** Without its labels the operator would not see it change. */
function isLabelled({ labels, owner_uid }: Secret): boolean {
  const wanted = Object.entries(secretLabels)
  return (
    wanted.every(([name, value]) => labels[name] === value) &&
    labels[secretOwnerLabel] === owner_uid
  )
}

function missing(
  declared: DeclaredKey,
  secret: Secret | undefined,
  previous: PreviousKey[],
): PlanOfOne {
  const act = { act: 'mint', declared, secret, reason: 'missing', previous } as const
  return { acts: [act], held: undefined, previous }
}

/** The live key of the declared name whose value is in the Secret, wherever in it. */
export function keyIn(
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

/** Keys in their overlap that do not end with it yet. */
function endings(previous: readonly PreviousKey[], keys: readonly LiveKey[]): KeyAct[] {
  return previous.flatMap(({ id, ends_at }) => {
    const key = keys.find((one) => one.id === id)
    if (key === undefined) return []
    const ends = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at)
    return ends <= Date.parse(ends_at) ? [] : [{ act: 'end', key, at: ends_at } as const]
  })
}

/** Scopes have no order. */
export function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  const set = new Set(others)
  return new Set(some).size === set.size && some.every((one) => set.has(one))
}
