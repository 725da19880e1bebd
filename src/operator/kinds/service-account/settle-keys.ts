import { KubeForbidden, type Secret, type SecretDraft } from '../../../platform/kube/index.ts'
import { duration_ms } from '../../common-spec.ts'
import { type EventDraft, NotReady, type ReconcileDeps, type Resource } from '../../contract.ts'
import { secretOwnerLabel } from '../../names.ts'
import type { AccountApi } from './account-api.ts'
import { type KeyAct, type KeyPlan, keyIn, planKeys, type SeenKeys } from './key-plan.ts'
import { fingerprintOf, readNotes, writeNotes } from './secret-notes.ts'
import type { DeclaredKey, ServiceAccountSpec } from './spec.ts'

/** What keys are settled with. */
export type KeysAbout = {
  resource: Pick<Resource<ServiceAccountSpec>, 'meta' | 'spec'>
  deps: Pick<ReconcileDeps, 'secrets' | 'clock' | 'peers'>
  api: AccountApi
  account_id: string
  /** This generation was brought about before: what differs now was changed by somebody else. */
  was_settled: boolean
}

/** Keys and Secrets as declared, and what had to be done to them. */
export type SettledKeys = {
  plan: KeyPlan
  events: EventDraft[]
  drifted: number
  has_written: boolean
}

/** One look plans, the next one proves it; more are needed only when others write meanwhile. */
const looks_max = 4

/**
 * Looks, does what is to be done and looks again, until nothing is: the last look is the proof.
 * Throws `NotReady` (`NotApplied`) when it does not come to rest.
 */
export async function settleKeys(about: KeysAbout): Promise<SettledKeys> {
  const done: Done = { events: [], drifted: 0 }
  for (let looks = 0; looks < looks_max; looks += 1) {
    const plan = await planFor(about)
    if (plan.acts.length === 0) return { plan, ...done, has_written: looks > 0 }
    for (const act of plan.acts) {
      await carryOutAndTell(act, about, done).catch((error: unknown) =>
        forbidden(error, plan, about),
      )
    }
  }
  throw unsettled('keys and Secrets')
}

/** Revokes and deletes what nobody should have, and makes nothing: for keys that are let go of. */
export async function clearStrays(about: KeysAbout): Promise<void> {
  const { tidying } = await planFor(about)
  for (const act of tidying) {
    if (act.act !== 'set_scopes') await carryOut(act, actDeps(about))
  }
}

/** A Secret that may not be written keeps no key alive that stands in none. */
async function forbidden(error: unknown, { tidying }: KeyPlan, about: KeysAbout): Promise<never> {
  const strays = tidying.filter(({ act }) => act === 'revoke')
  if (error instanceof KubeForbidden) {
    for (const act of strays) await carryOut(act, actDeps(about))
  }
  throw error
}

type Peers = ReconcileDeps['peers']
type Done = Pick<SettledKeys, 'events' | 'drifted'>

async function carryOutAndTell(act: KeyAct, about: KeysAbout, done: Done): Promise<void> {
  const event = await carryOut(act, actDeps(about))
  const isDrift = about.was_settled && isOfOthers(act)
  if (isDrift) done.drifted += 1
  if (event !== undefined) done.events.push(isDrift ? asDrift(event) : event)
}

async function planFor(about: KeysAbout): Promise<KeyPlan> {
  const { keys, scopes } = about.resource.spec
  return planKeys(keys, scopes, await look(about), about.deps.clock.now_ms())
}

/** Secrets first: a key that is written into one in between is then seen as live, and not as lost. */
async function look({ resource, deps, api, account_id }: KeysAbout): Promise<SeenKeys> {
  const owned = await deps.secrets.listOwned()
  const others: { declared: DeclaredKey; secret: Secret }[] = []
  for (const declared of resource.spec.keys) {
    if (owned.some(({ name }) => name === declared.secretName)) continue
    const secret = await deps.secrets.read(declared.secretName)
    // Without its label it is not listed, and still ours.
    if (secret?.owner_uid === resource.meta.uid) owned.push(secret)
    else if (secret !== undefined) others.push({ declared, secret })
  }
  const keys = await api.liveKeys(account_id)
  const foreign = new Set<string>()
  const ownerless = new Set<string>()
  for (const { declared, secret } of others) {
    const isLeft = isOwnerless(secret, deps.peers()) && keyIn(secret, declared, keys) !== undefined
    if (isLeft) owned.push(secret)
    const names = isLeft ? ownerless : foreign
    names.add(secret.name)
  }
  return { owned, ownerless, foreign, keys }
}

/**
 * A Secret of the operator's that nobody owns, or whose owner was a resource of this kind that is no
 * more: what a deleted resource let go of, and what a backup brought back with a resource that has
 * another uid. With a live key of the account in it, it is taken as it is.
 */
function isOwnerless(secret: Secret, peers: ReturnType<Peers>): boolean {
  const { owner_uid, labels } = secret
  if (readNotes(secret).minted_at_ms === undefined) return false
  if (owner_uid === undefined) return true
  return labels[secretOwnerLabel] === owner_uid && !peers.some(({ meta }) => meta.uid === owner_uid)
}

function actDeps({ resource, deps, api, account_id }: KeysAbout) {
  return { ...deps, api, account_id, scopes: resource.spec.scopes }
}

/** Whether an act puts right what somebody else did; crashes and the passing of time do not count. */
function isOfOthers(act: KeyAct): boolean {
  if (act.act === 'mint') return act.reason === 'missing'
  return act.act === 'rewrite' || act.act === 'set_scopes' || act.act === 'drop'
}

function asDrift({ action, note }: EventDraft): EventDraft {
  return { type: 'Warning', reason: 'DriftCorrected', action, note: `it was changed: now ${note}` }
}

/** Somebody else writes at the same time: what was read back is not what was written. */
export function unsettled(what: string): NotReady {
  return new NotReady('NotApplied', `it was changed again while it was read back: ${what}`, {
    again_after_ms: 1_000,
  })
}

/** What acts are done with. */
export type ActDeps = Pick<ReconcileDeps, 'secrets' | 'clock'> & {
  api: AccountApi
  account_id: string
  scopes: readonly string[]
}

type Act<Name extends KeyAct['act']> = Extract<KeyAct, { act: Name }>

/** Does one step and tells it; undefined when it turned out to be none. */
export async function carryOut(act: KeyAct, deps: ActDeps): Promise<EventDraft | undefined> {
  const { api, secrets } = deps
  switch (act.act) {
    case 'revoke':
      return revokeStray(act, deps)
    case 'mint':
      return mint(act, deps)
    case 'rewrite':
      await secrets.replace(act.secret, rewritten(act))
      return normal('SecretRestored', 'PutSecret', `Secret ${act.secret.name} is whole again`)
    case 'end':
      await api.revoke(act.key.id, act.at)
      return undefined
    case 'set_scopes':
      await api.setKeyScopes(act.key.id, deps.scopes)
      return normal(
        'KeyScopesSet',
        'SetKeyScopes',
        `key ${act.key.prefix} has the account's scopes`,
      )
    case 'drop':
      await secrets.remove(act.secret)
      return normal('SecretDeleted', 'DeleteSecret', `nothing declares Secret ${act.secret.name}`)
  }
}

/** Another operator may have written the key into its Secret since: it is looked for once more. */
async function revokeStray(
  { key }: Act<'revoke'>,
  { api, secrets }: ActDeps,
): Promise<EventDraft | undefined> {
  const values = (await secrets.listOwned()).flatMap(({ data }) => Object.values(data))
  if (values.some((value) => fingerprintOf(value) === key.fingerprint)) return undefined
  await api.revoke(key.id)
  return normal('KeyRevoked', 'RevokeKey', `key ${key.prefix} stood in no Secret that is declared`)
}

async function mint(act: Act<'mint'>, deps: ActDeps): Promise<EventDraft> {
  const { declared, secret, reason, previous } = act
  const { api, secrets, clock } = deps
  const minted_at_ms = clock.now_ms()
  const { expiresAfter } = declared
  const minted = await api.mint(deps.account_id, {
    name: declared.name,
    expires_at:
      expiresAfter === undefined
        ? null
        : new Date(minted_at_ms + duration_ms(expiresAfter)).toISOString(),
  })
  const draft: SecretDraft = {
    name: declared.secretName,
    labels: secret?.labels ?? {},
    annotations: { ...secret?.annotations, ...writeNotes({ minted_at_ms, previous }) },
    data: { [declared.secretKey]: minted.key },
  }
  try {
    await (secret === undefined ? secrets.create(draft) : secrets.replace(secret, draft))
  } catch (error) {
    // Surely not written. After any other failure it may have been: the next look tells.
    if (error instanceof KubeForbidden) await api.revoke(minted.id)
    throw error
  }
  const note = `key ${minted.prefix} is in Secret ${declared.secretName}`
  return reason === 'rotation'
    ? normal('KeyRotated', 'MintKey', note)
    : normal('KeyMinted', 'MintKey', note)
}

function rewritten({ secret, declared, value, held }: Act<'rewrite'>): SecretDraft {
  const { minted_at_ms, previous } = held
  return {
    name: secret.name,
    labels: secret.labels,
    annotations: { ...secret.annotations, ...writeNotes({ minted_at_ms, previous }) },
    data: { [declared.secretKey]: value },
  }
}

function normal(reason: string, action: string, note: string): EventDraft {
  return { type: 'Normal', reason, action, note }
}
