import { hash } from 'node:crypto'
import { isUuid } from '../../../kernel/ids.ts'
import type { ManagedBy } from '../../../model/managed-by.ts'
import { type EventDraft, NotReady, type ReconcileDeps, type Resource } from '../../contract.ts'
import { ServiceRefusal } from '../../service/service-client.ts'
import type { Account, AccountApi, AccountWish } from './account-api.ts'
import { isSameSet } from './key-plan.ts'
import type { ServiceAccountSpec } from './spec.ts'

/** An account as it is declared, and what had to be done to it. */
export type SettledAccount = { account: Account; events: EventDraft[]; drifted: number }

type About = {
  resource: Resource<ServiceAccountSpec>
  deps: Pick<ReconcileDeps, 'noteExternalId' | 'peers'>
  api: AccountApi
  managed_by: ManagedBy
  /** This generation was brought about before: what differs now was changed by somebody else. */
  was_settled: boolean
}

/**
 * Finds the account by the id that is noted, or makes it, and brings it to what is declared. Making
 * it again answers the same one, so that a crash before the id is noted makes no second account.
 */
export async function settleAccount(about: About): Promise<SettledAccount> {
  const { resource, deps, api, managed_by, was_settled } = about
  const wish = wishOf(resource)
  const noted = resource.meta.external_id
  if (noted !== undefined && !isUuid(noted)) {
    throw new NotReady(
      'InvalidExternalId',
      `the annotation looptrace.dev/external-id is "${noted.slice(0, 80)}", expected the id of a service account`,
    )
  }
  const found = noted === undefined ? undefined : await api.find(noted)
  const events: EventDraft[] = []
  let account = found
  if (account === undefined) {
    const made = await api.create(wish).catch(nameTaken(wish))
    account = made.account
    await deps.noteExternalId(account.id)
    if (made.is_new) events.push(created(account, was_settled))
  }
  const drifted = events.length > 0 && was_settled ? 1 : 0
  const differs = differences(account, wish, managed_by)
  if (differs.length === 0) return { account, events, drifted }
  const take_over = mayTakeOver(account, about)
  const was_managed = account.managed_by !== null
  account = await api.change(account.id, { ...wish, take_over }).catch(nameTaken(wish))
  events.push(changed({ differs, was_managed, was_settled }))
  return { account, events, drifted: drifted + (was_settled ? differs.length : 0) }
}

/** What of an account is not as declared, by the names that people know. */
export function differences(account: Account, wish: AccountWish, managed_by: ManagedBy): string[] {
  const same = {
    name: account.name === wish.name,
    scopes: isSameSet(account.scopes, wish.scopes),
    disabled: (account.disabled_at !== null) === wish.disabled,
    owner:
      isSameResource(account.managed_by, managed_by) && account.managed_by?.uid === managed_by.uid,
  }
  return Object.entries(same).flatMap(([name, isSame]) => (isSame ? [] : [name]))
}

/** The account that a spec asks for. The service trims names. */
export function wishOf({
  meta,
  spec,
}: Pick<Resource<ServiceAccountSpec>, 'meta' | 'spec'>): AccountWish {
  const name = spec.displayName?.trim() || nameOf(meta)
  return { name, scopes: spec.scopes, disabled: spec.disabled }
}

/** Whether it is the same resource, whatever its uid. */
export function isSameResource(
  one: Omit<ManagedBy, 'uid'> | null,
  other: Omit<ManagedBy, 'uid'>,
): boolean {
  const { kind, namespace, name } = other
  return one !== null && one.kind === kind && one.namespace === namespace && one.name === name
}

/** As the service bounds it. */
const nameChars_max = 100

/** `namespace/name`; a longer one is cut, and told apart by a digest. */
function nameOf({ namespace, name }: { namespace: string; name: string }): string {
  const whole = `${namespace}/${name}`
  if (whole.length <= nameChars_max) return whole
  const digest = hash('sha256', whole, 'hex').slice(0, 8)
  return `${whole.slice(0, nameChars_max - digest.length - 1)}-${digest}`
}

/**
 * An account of another resource is only taken over when that one was in this namespace and is no
 * more: of other namespaces the operator may not see all.
 */
function mayTakeOver(
  { managed_by: owner }: Account,
  { resource, deps, managed_by }: About,
): boolean {
  if (owner === null || isSameResource(owner, managed_by)) return false
  const { namespace } = resource.meta
  const isThere = deps
    .peers()
    .some(({ meta }) => meta.namespace === owner.namespace && meta.name === owner.name)
  if (owner.kind === managed_by.kind && owner.namespace === namespace && !isThere) return true
  throw new NotReady(
    'Conflict',
    `${owner.kind} ${owner.namespace}/${owner.name} declares the service account`,
  )
}

function nameTaken({ name }: AccountWish): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ServiceRefusal) || error.code !== 'name_taken') throw error
    throw new NotReady(
      'NameTaken',
      `${error.message}. To declare that one, put its id into the annotation looptrace.dev/external-id; else say another displayName than "${name}"`,
    )
  }
}

function created({ id, name }: Account, was_settled: boolean): EventDraft {
  const action = 'PostServiceAccount'
  return was_settled
    ? {
        type: 'Warning',
        reason: 'DriftCorrected',
        action,
        note: `the service account was deleted behind the resource's back: it is ${id} now`,
      }
    : { type: 'Normal', reason: 'Created', action, note: `service account "${name}" is ${id}` }
}

function changed(about: {
  differs: string[]
  was_managed: boolean
  was_settled: boolean
}): EventDraft {
  const action = 'PutServiceAccount'
  const what = about.differs.join(', ')
  if (about.was_settled) {
    const note = `changed behind the resource's back, and put right: ${what}`
    return { type: 'Warning', reason: 'DriftCorrected', action, note }
  }
  return about.was_managed
    ? { type: 'Normal', reason: 'Updated', action, note: `set: ${what}` }
    : { type: 'Normal', reason: 'Adopted', action, note: 'the service account is declared now' }
}
