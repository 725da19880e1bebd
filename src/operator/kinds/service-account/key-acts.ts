import { KubeForbidden, type SecretDraft } from '../../../platform/kube/index.ts'
import type { EventDraft, ReconcileDeps } from '../../contract.ts'
import { duration_ms } from '../../duration.ts'
import type { AccountApi } from './account-api.ts'
import type { KeyAct } from './key-plan.ts'
import { fingerprintOf, writeNotes } from './secret-notes.ts'

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
