import {
  KubeDenied,
  KubeInvalid,
  KubeUnavailable,
  type SecretDraft,
} from '../../../../platform/kube/index.ts'
import { duration_ms } from '../../../common-spec.ts'
import type { EventDraft, ReconcileDeps } from '../../../contract.ts'
import type { AccountApi } from '../account/account-api.ts'
import { toDraft } from '../secrets/secret-contents.ts'
import { fingerprintOf, writeNotes } from '../secrets/secret-notes.ts'
import type { DeclaredKey } from '../spec.ts'
import type { DeclaredKeys, KeyStep } from './key-plan.ts'

/** The account and clients of a step. */
export type StepContext = Pick<ReconcileDeps, 'secrets' | 'clock'> &
  DeclaredKeys & { api: AccountApi; account_id: string }

type Step<Name extends KeyStep['act']> = Extract<KeyStep, { act: Name }>

/**
 * Carries out one step and returns its event; undefined if there is nothing to report. Throws
 * `SecretRefused` when the API server refuses the Secret.
 */
export async function carryOut(step: KeyStep, deps: StepContext): Promise<EventDraft | undefined> {
  const { api, secrets } = deps
  switch (step.act) {
    case 'revoke':
      return revokeStray(step, deps)
    case 'mint':
      return mint(step, deps)
    case 'rewrite':
      return rewrite(step, deps)
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

/**
 * Revokes a key after one more search: another operator may have written it to a Secret since. Only
 * the entry of the key counts, because a template can repeat the value of any key.
 */
async function revokeStray(
  { key }: Step<'revoke'>,
  { api, secrets, keys }: StepContext,
): Promise<EventDraft | undefined> {
  const owned = await secrets.listOwned()
  const values = keys.flatMap(({ secretName, secretKey }) => {
    const secret = owned.find(({ name }) => name === secretName)
    return secret?.data[secretKey] ?? []
  })
  if (values.some((value) => fingerprintOf(value) === key.fingerprint)) return undefined
  await api.revoke(key.id)
  return normalEvent('KeyRevoked', 'RevokeKey', `key ${key.prefix} was in no declared Secret`)
}

/** The API server refuses to store a Secret: its name, a quota, a webhook, `immutable`. */
export class SecretRefused extends Error {
  override readonly name = 'SecretRefused'
  /** Whether a key was minted for the Secret, and revoked. */
  readonly has_minted: boolean

  constructor(cause: Error, { has_minted }: { has_minted: boolean }) {
    super(cause.message, { cause })
    this.has_minted = has_minted
  }
}

/**
 * Mints a key and writes it to its Secret. A dry run of the write comes first, so that a Secret that
 * the API server refuses costs no key. When the write itself fails, the key is revoked at once.
 */
async function mint(step: Step<'mint'>, deps: StepContext): Promise<EventDraft> {
  const { declared, secret, reason, previous } = step
  const { api, secrets, clock } = deps
  const minted_at_ms = clock.now_ms()
  const draft = (key: { id: string; value: string }): SecretDraft => {
    const contents = deps.render(declared, key)
    return withNotes(toDraft(declared.secretName, contents, secret), { minted_at_ms, previous })
  }
  await refusable(secrets.rehearse(draft(rehearsedKey), secret), { has_minted: false })
  const { expiresAfter } = declared
  const minted = await api.mint(deps.account_id, {
    name: declared.name,
    expires_at:
      expiresAfter === undefined
        ? null
        : new Date(minted_at_ms + duration_ms(expiresAfter)).toISOString(),
  })
  const whole = draft({ id: minted.id, value: minted.key })
  const write = secret === undefined ? secrets.create(whole) : secrets.replace(secret, whole)
  await refusable(write, { has_minted: true }).catch(async (error: unknown) => {
    if (await isWritten(error, minted, declared, deps)) return
    await api.revoke(minted.id)
    throw error
  })
  const note = `key ${minted.prefix} is in Secret ${declared.secretName}`
  return reason === 'rotation'
    ? normalEvent('KeyRotated', 'MintKey', note)
    : normalEvent('KeyMinted', 'MintKey', note)
}

/** An id and a value as long as those of a key, for dry runs. */
const rehearsedKey = {
  id: '00000000-0000-7000-8000-000000000000',
  value: `lt_sa_${'0'.repeat(8)}_${'0'.repeat(32)}`,
}

/** Throws `SecretRefused` for an answer of the API server that a retry would repeat. */
async function refusable(
  write: Promise<unknown>,
  { has_minted }: { has_minted: boolean },
): Promise<void> {
  try {
    await write
  } catch (error) {
    if (error instanceof KubeInvalid || error instanceof KubeDenied) {
      throw new SecretRefused(error, { has_minted })
    }
    throw error
  }
}

/** Whether a write without an answer has stored the key. A failed read counts as no. */
async function isWritten(
  error: unknown,
  { key }: { key: string },
  { secretName }: DeclaredKey,
  { secrets }: StepContext,
): Promise<boolean> {
  if (!(error instanceof KubeUnavailable)) return false
  const secret = await secrets.read(secretName).catch(() => undefined)
  return Object.values(secret?.data ?? {}).includes(key)
}

/** Writes the contents of a Secret again, with the same key. */
async function rewrite(
  { secret, declared, value, active, reason }: Step<'rewrite'>,
  { secrets, render }: StepContext,
): Promise<EventDraft> {
  const contents = render(declared, { id: active.key.id, value })
  const draft = withNotes(toDraft(secret.name, contents, secret), active)
  await refusable(secrets.replace(secret, draft), { has_minted: false })
  return reason === 'template'
    ? normalEvent('SecretUpdated', 'PutSecret', `Secret ${secret.name} follows the template`)
    : normalEvent('SecretRestored', 'PutSecret', `Secret ${secret.name} is restored`)
}

function withNotes(draft: SecretDraft, notes: Parameters<typeof writeNotes>[0]): SecretDraft {
  return { ...draft, annotations: { ...draft.annotations, ...writeNotes(notes) } }
}

function normalEvent(reason: string, action: string, note: string): EventDraft {
  return { type: 'Normal', reason, action, note }
}
