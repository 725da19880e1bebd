import { KubeForbidden, type Secret, type SecretDraft } from '../../../platform/kube/index.ts'
import { duration_ms } from '../../common-spec.ts'
import { type EventDraft, NotReady, type ReconcileDeps, type Resource } from '../../contract.ts'
import { secretOwnerLabel } from '../../names.ts'
import type { AccountApi } from './account-api.ts'
import { findKeyIn, type KeyPlan, type KeyStep, planKeys, type SeenKeys } from './key-plan.ts'
import { fingerprintOf, readNotes, writeNotes } from './secret-notes.ts'
import type { DeclaredKey, ServiceAccountSpec } from './spec.ts'

/** The account whose keys are settled, and the clients to do it. */
export type KeysContext = {
  resource: Pick<Resource<ServiceAccountSpec>, 'meta' | 'spec'>
  deps: Pick<ReconcileDeps, 'secrets' | 'clock' | 'peers'>
  api: AccountApi
  account_id: string
  /** Whether this generation was applied before, so that differences are drift. */
  was_settled: boolean
}

/** The keys and Secrets in the declared state, and the changes that were needed. */
export type SettledKeys = {
  plan: KeyPlan
  events: EventDraft[]
  drifted: number
  has_written: boolean
}

/** One round changes, the next one verifies; more are needed only when others write meanwhile. */
const rounds_max = 4

/**
 * Reads, plans and applies in rounds until a round finds no difference, which verifies the result.
 * Throws `NotReady` (`NotApplied`) when differences remain after the last round.
 */
export async function settleKeys(context: KeysContext): Promise<SettledKeys> {
  const changes: Changes = { events: [], drifted: 0 }
  for (let rounds = 0; rounds < rounds_max; rounds += 1) {
    const plan = await planFor(context)
    if (plan.steps.length === 0) return { plan, ...changes, has_written: rounds > 0 }
    for (const step of plan.steps) {
      await carryOutAndRecord(step, context, changes).catch((error: unknown) =>
        revokeStraysIfForbidden(error, plan, context),
      )
    }
  }
  throw notApplied('keys and Secrets')
}

/** Revokes stray keys and deletes their Secrets without minting, before an account is released. */
export async function clearStrays(context: KeysContext): Promise<void> {
  const { cleanup } = await planFor(context)
  for (const step of cleanup) {
    if (step.act !== 'set_scopes') await carryOut(step, toStepContext(context))
  }
}

/** Revokes stray keys even if Secrets can't be written, then rethrows the error. */
async function revokeStraysIfForbidden(
  error: unknown,
  { cleanup }: KeyPlan,
  context: KeysContext,
): Promise<never> {
  const strays = cleanup.filter(({ act }) => act === 'revoke')
  if (error instanceof KubeForbidden) {
    for (const step of strays) await carryOut(step, toStepContext(context))
  }
  throw error
}

type Peers = ReconcileDeps['peers']
type Changes = Pick<SettledKeys, 'events' | 'drifted'>

async function carryOutAndRecord(
  step: KeyStep,
  context: KeysContext,
  changes: Changes,
): Promise<void> {
  const event = await carryOut(step, toStepContext(context))
  const isDrift = context.was_settled && correctsDrift(step)
  if (isDrift) changes.drifted += 1
  if (event !== undefined) changes.events.push(isDrift ? toDriftEvent(event) : event)
}

async function planFor(context: KeysContext): Promise<KeyPlan> {
  const { keys, scopes } = context.resource.spec
  return planKeys(keys, scopes, await readKeys(context), context.deps.clock.now_ms())
}

/** Reads Secrets before keys, so that a key written in between is seen as live and not as lost. */
async function readKeys({ resource, deps, api, account_id }: KeysContext): Promise<SeenKeys> {
  const owned = await deps.secrets.listOwned()
  const others: { declared: DeclaredKey; secret: Secret }[] = []
  for (const declared of resource.spec.keys) {
    if (owned.some(({ name }) => name === declared.secretName)) continue
    const secret = await deps.secrets.read(declared.secretName)
    // An owned Secret that lost its label is not listed.
    if (secret?.owner_uid === resource.meta.uid) owned.push(secret)
    else if (secret !== undefined) others.push({ declared, secret })
  }
  const keys = await api.liveKeys(account_id)
  const foreign = new Set<string>()
  const ownerless = new Set<string>()
  for (const { declared, secret } of others) {
    const isAdoptable =
      isOwnerless(secret, deps.peers()) && findKeyIn(secret, declared, keys) !== undefined
    if (isAdoptable) owned.push(secret)
    const names = isAdoptable ? ownerless : foreign
    names.add(secret.name)
  }
  return { owned, ownerless, foreign, keys }
}

/**
 * Whether a Secret of the operator has no owner, or a resource of this kind that no longer exists.
 * A deleted resource may have released it, or a backup restored it with another uid of the
 * resource. Such a Secret is adopted if it contains a live key of the account.
 */
function isOwnerless(secret: Secret, peers: ReturnType<Peers>): boolean {
  const { owner_uid, labels } = secret
  if (readNotes(secret).minted_at_ms === undefined) return false
  if (owner_uid === undefined) return true
  return labels[secretOwnerLabel] === owner_uid && !peers.some(({ meta }) => meta.uid === owner_uid)
}

function toStepContext({ resource, deps, api, account_id }: KeysContext) {
  return { ...deps, api, account_id, scopes: resource.spec.scopes }
}

/** Whether a step corrects a change by someone else; crashes and rotations do not count. */
function correctsDrift(step: KeyStep): boolean {
  if (step.act === 'mint') return step.reason === 'missing'
  return step.act === 'rewrite' || step.act === 'set_scopes' || step.act === 'drop'
}

function toDriftEvent({ action, note }: EventDraft): EventDraft {
  return {
    type: 'Warning',
    reason: 'DriftCorrected',
    action,
    note: `corrected a change by someone else: ${note}`,
  }
}

/** Creates the error for a read-back that differs, because another writer is active. */
export function notApplied(what: string): NotReady {
  return new NotReady(
    'NotApplied',
    `the read-back differs, because another writer is active: ${what}`,
    {
      again_after_ms: 1_000,
    },
  )
}

/** The account and clients of a step. */
type StepContext = Pick<ReconcileDeps, 'secrets' | 'clock'> & {
  api: AccountApi
  account_id: string
  scopes: readonly string[]
}

type Step<Name extends KeyStep['act']> = Extract<KeyStep, { act: Name }>

/** Carries out one step and returns its event; undefined if there is nothing to report. */
async function carryOut(step: KeyStep, deps: StepContext): Promise<EventDraft | undefined> {
  const { api, secrets } = deps
  switch (step.act) {
    case 'revoke':
      return revokeStray(step, deps)
    case 'mint':
      return mint(step, deps)
    case 'rewrite':
      await secrets.replace(step.secret, restoredSecret(step))
      return normalEvent('SecretRestored', 'PutSecret', `Secret ${step.secret.name} is restored`)
    case 'end':
      await api.revoke(step.key.id, step.at)
      return undefined
    case 'set_scopes':
      await api.setKeyScopes(step.key.id, deps.scopes)
      return normalEvent(
        'KeyScopesSet',
        'SetKeyScopes',
        `key ${step.key.prefix} has the scopes of the account`,
      )
    case 'drop':
      await secrets.remove(step.secret)
      return normalEvent(
        'SecretDeleted',
        'DeleteSecret',
        `Secret ${step.secret.name} is no longer declared`,
      )
  }
}

/** Revokes a key after one more search: another operator may have written it to a Secret since. */
async function revokeStray(
  { key }: Step<'revoke'>,
  { api, secrets }: StepContext,
): Promise<EventDraft | undefined> {
  const values = (await secrets.listOwned()).flatMap(({ data }) => Object.values(data))
  if (values.some((value) => fingerprintOf(value) === key.fingerprint)) return undefined
  await api.revoke(key.id)
  return normalEvent('KeyRevoked', 'RevokeKey', `key ${key.prefix} was in no declared Secret`)
}

async function mint(step: Step<'mint'>, deps: StepContext): Promise<EventDraft> {
  const { declared, secret, reason, previous } = step
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
    // The Secret was certainly not written. After any other failure the next round finds out.
    if (error instanceof KubeForbidden) await api.revoke(minted.id)
    throw error
  }
  const note = `key ${minted.prefix} is in Secret ${declared.secretName}`
  return reason === 'rotation'
    ? normalEvent('KeyRotated', 'MintKey', note)
    : normalEvent('KeyMinted', 'MintKey', note)
}

function restoredSecret({ secret, declared, value, active }: Step<'rewrite'>): SecretDraft {
  const { minted_at_ms, previous } = active
  return {
    name: secret.name,
    labels: secret.labels,
    annotations: { ...secret.annotations, ...writeNotes({ minted_at_ms, previous }) },
    data: { [declared.secretKey]: value },
  }
}

function normalEvent(reason: string, action: string, note: string): EventDraft {
  return { type: 'Normal', reason, action, note }
}
