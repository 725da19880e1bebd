import { KubeForbidden, type Secret } from '../../../../platform/kube/index.ts'
import { type EventDraft, NotReady, type ReconcileDeps, type Resource } from '../../../contract.ts'
import { annotations, installationLabel, secretOwnerLabel } from '../../../names.ts'
import { isRefusal } from '../../../service/service-client.ts'
import type { AccountApi } from '../account/account-api.ts'
import { createRenderer } from '../secrets/secret-contents.ts'
import { digestOf, readNotes } from '../secrets/secret-notes.ts'
import type {
  DeclaredKey,
  RefusedSecret,
  ServiceAccountSpec,
  ServiceAccountStatus,
} from '../spec.ts'
import {
  type DeclaredKeys,
  findKeyIn,
  type KeyPlan,
  type KeyStep,
  planKeys,
  type SeenKeys,
} from './key-plan.ts'
import { carryOut, SecretRefused, type StepContext } from './key-steps.ts'

/** The account whose keys are settled, and the clients to do it. */
export type KeysContext = {
  resource: Resource<ServiceAccountSpec, ServiceAccountStatus>
  deps: Pick<
    ReconcileDeps,
    'secrets' | 'clock' | 'peers' | 'removeAnnotation' | 'installation' | 'project_id' | 'proxy_url'
  >
  api: AccountApi
  account_id: string
  /** Whether this generation was applied before, so that differences are drift. */
  was_settled: boolean
}

/** The keys and Secrets in the declared state, and the changes that were needed. */
export type SettledKeys = {
  plan: KeyPlan
  /** Secrets that the API server refuses to store. */
  refused: readonly RefusedSecret[]
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
  const refused = new Map<string, RefusedSecret>()
  for (let rounds = 0; rounds < rounds_max; rounds += 1) {
    const plan = await planFor(context, refused)
    const has_written = rounds > 0
    if (plan.steps.length === 0) {
      return { plan, refused: [...refused.values()], ...changes, has_written }
    }
    for (const step of plan.steps) {
      await carryOutAndRecord(step, context, changes).catch((error: unknown) =>
        handleFailure(error, { step, plan, context, refused }),
      )
    }
  }
  throw notApplied('keys and Secrets')
}

/** Revokes stray keys and deletes their Secrets without minting, before an account is released. */
export async function clearStrays(context: KeysContext): Promise<void> {
  const { cleanup } = await planFor(context, new Map())
  for (const step of cleanup) {
    if (step.act !== 'set_scopes') await carryOut(step, toStepContext(context))
  }
}

type FailedStep = {
  step: KeyStep
  plan: KeyPlan
  context: KeysContext
  refused: Map<string, RefusedSecret>
}

/**
 * Notes a refused Secret, so that the next rounds leave it out. Revokes stray keys when no key can
 * be written or minted. Rethrows other errors.
 */
async function handleFailure(error: unknown, failed: FailedStep): Promise<void> {
  const { step, plan, context, refused } = failed
  if (error instanceof SecretRefused && 'declared' in step) {
    const { name, secretName } = step.declared
    const attempt = error.has_minted ? { attempt: attemptOn(step.secret, context) } : {}
    const message = error.message.slice(0, refusal_characters_max)
    refused.set(name, { name, secretName, message, ...attempt })
    return
  }
  const isFull = isRefusal(error, 'key_limit_reached')
  const strays = plan.cleanup.filter(({ act }) => act === 'revoke')
  if (error instanceof KubeForbidden || isFull) {
    for (const stray of strays) await carryOut(stray, toStepContext(context))
  }
  if (!isFull || strays.length === 0) throw error
}

const refusal_characters_max = 500

/** Returns a digest of what a further attempt to mint depends on: the spec, the Secret, a request. */
function attemptOn(secret: Secret | undefined, { resource: { meta } }: KeysContext): string {
  const requested = meta.annotations[annotations.reconcile_requested_at]
  const state = [meta.uid, meta.generation, secret?.resource_version, requested]
  return digestOf(state)
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

async function planFor(
  context: KeysContext,
  refused: Map<string, RefusedSecret>,
): Promise<KeyPlan> {
  const seen = await readKeys(context)
  for (const before of context.resource.status.refusedSecrets ?? []) {
    const secret = seen.owned.find(({ name }) => name === before.secretName)
    if (before.attempt === attemptOn(secret, context)) refused.set(before.name, before)
  }
  const now_ms = context.deps.clock.now_ms()
  const current = { ...seen, refused: new Set(refused.keys()) }
  return planKeys(declaredKeys(context), current, now_ms)
}

/** Reads Secrets before keys, so that a key written in between is seen as live and not as lost. */
async function readKeys(context: KeysContext): Promise<SeenKeys> {
  const { resource, deps, api, account_id } = context
  const { installation } = deps
  const isOurs = (secret: Secret) => !isOfOtherInstallation(secret, installation)
  const owned = (await deps.secrets.listOwned()).filter(isOurs)
  const others: { declared: DeclaredKey; secret: Secret }[] = []
  for (const declared of resource.spec.keys) {
    if (owned.some(({ name }) => name === declared.secretName)) continue
    const secret = await deps.secrets.read(declared.secretName)
    // An owned Secret that lost its label is not listed.
    if (secret?.owner_uid === resource.meta.uid && isOurs(secret)) owned.push(secret)
    else if (secret !== undefined) others.push({ declared, secret })
  }
  const keys = await api.liveKeys(account_id)
  const foreign = new Set<string>()
  const ownerless = new Set<string>()
  for (const { declared, secret } of others) {
    const isAdoptable =
      isOurs(secret) &&
      isOwnerless(secret, deps.peers()) &&
      findKeyIn(secret, declared, keys) !== undefined
    if (isAdoptable) owned.push(secret)
    const names = isAdoptable ? ownerless : foreign
    names.add(secret.name)
  }
  return { owned, ownerless, foreign, keys, installation: installation?.id }
}

/** Whether the label of a Secret names another installation; earlier versions had no label. */
export function isOfOtherInstallation(
  { labels }: Secret,
  installation: ReconcileDeps['installation'],
): boolean {
  const named = labels[installationLabel]
  return named !== undefined && named !== installation?.id
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

function toStepContext(context: KeysContext): StepContext {
  const { deps, api, account_id } = context
  return { ...deps, ...declaredKeys(context), api, account_id }
}

function declaredKeys({ resource: { meta, spec }, deps, account_id }: KeysContext): DeclaredKeys {
  const { keys, scopes, secretTemplate } = spec
  const render = createRenderer(secretTemplate, {
    baseUrl: `${deps.proxy_url}/v1`,
    otlpEndpoint: deps.proxy_url,
    projectId: deps.project_id,
    serviceAccountId: account_id,
    namespace: meta.namespace,
  })
  return { keys, scopes, render }
}

/** Whether a step corrects a change by someone else; crashes and rotations do not count. */
function correctsDrift(step: KeyStep): boolean {
  if (step.act === 'mint') return step.reason === 'missing'
  if (step.act === 'rewrite') return step.reason === 'drift'
  return step.act === 'set_scopes' || step.act === 'drop'
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
