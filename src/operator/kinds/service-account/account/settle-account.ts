import { hash } from 'node:crypto'
import { isUuid } from '../../../../kernel/ids.ts'
import type { ManagedBy } from '../../../../model/managed-by.ts'
import { type EventDraft, NotReady, type ReconcileDeps, type Resource } from '../../../contract.ts'
import { isSameResource } from '../../../installation.ts'
import { isRefusal } from '../../../service/service-client.ts'
import { isSameSet } from '../keys/key-plan.ts'
import { type ServiceAccountSpec, toAccount } from '../spec.ts'
import type { Account, AccountApi, DesiredAccount } from './account-api.ts'

/** The account in the declared state, and the changes that were needed. */
export type SettledAccount = { account: Account; events: EventDraft[]; drifted: number }

/** The resource whose account is settled, and the clients to do it. */
type AccountContext = {
  resource: Resource<ServiceAccountSpec>
  deps: Pick<ReconcileDeps, 'noteExternalId' | 'peers'>
  api: AccountApi
  managed_by: ManagedBy
  /** Whether this generation was applied before, so that differences are drift. */
  was_settled: boolean
}

/**
 * Finds the account by the id in the annotation, or creates it, and applies the spec. Creating it
 * again returns the same account, so a crash before the annotation creates no second one.
 */
export async function settleAccount(context: AccountContext): Promise<SettledAccount> {
  const { resource, deps, api, managed_by, was_settled } = context
  const desired = desiredAccount(resource)
  const id = resource.meta.external_id
  if (id !== undefined && !isUuid(id)) {
    throw new NotReady(
      'InvalidExternalId',
      `the annotation looptrace.dev/external-id is "${id.slice(0, 80)}", expected the id of a service account`,
    )
  }
  const events: EventDraft[] = []
  let account = id === undefined ? undefined : await api.find(id)
  if (account === undefined) {
    const created = await api.create(desired).catch(throwIfNameTaken(desired))
    account = created.account
    await deps.noteExternalId(account.id)
    if (created.is_new) events.push(createdEvent(account, was_settled))
  }
  const drifted = events.length > 0 && was_settled ? 1 : 0
  const differs = differences(account, desired, managed_by)
  if (differs.length === 0) return { account, events, drifted }
  const take_over = mayTakeOver(account, context)
  const was_managed = account.managed_by !== null
  account = await api.change(account.id, { ...desired, take_over }).catch(throwIfNameTaken(desired))
  events.push(changedEvent({ differs, was_managed, was_settled }))
  return { account, events, drifted: drifted + (was_settled ? differs.length : 0) }
}

/** Returns the names of the fields in which an account differs from the spec. */
export function differences(
  account: Account,
  desired: DesiredAccount,
  managed_by: ManagedBy,
): string[] {
  const same = {
    name: account.name === desired.name,
    scopes: isSameSet(account.scopes, desired.scopes),
    disabled: (account.disabled_at !== null) === desired.disabled,
    owner:
      isSameResource(account.managed_by, managed_by) &&
      account.managed_by?.uid === managed_by.uid &&
      account.managed_by.installation === managed_by.installation,
  }
  return Object.entries(same).flatMap(([name, isSame]) => (isSame ? [] : [name]))
}

/** Returns the account that a spec declares. Trims the name, as the service does. */
export function desiredAccount({
  meta,
  spec,
}: Pick<Resource<ServiceAccountSpec>, 'meta' | 'spec'>): DesiredAccount {
  const { scopes, disabled } = spec
  const declared = { scopes, disabled, ...toAccount(spec) }
  return { ...declared, name: declared.name?.trim() || nameOf(meta) }
}

/** The service's limit for names. */
const maxNameChars = 100

/** Returns `namespace/name`; a longer one is cut and ends in a digest. */
function nameOf({ namespace, name }: { namespace: string; name: string }): string {
  const whole = `${namespace}/${name}`
  if (whole.length <= maxNameChars) return whole
  const digest = hash('sha256', whole, 'hex').slice(0, 8)
  return `${whole.slice(0, maxNameChars - digest.length - 1)}-${digest}`
}

/**
 * Whether the account of another resource may be taken over: only if that resource was in this
 * namespace and is gone, because the operator may not see all resources of other namespaces. Throws
 * `NotReady` (`Conflict`) otherwise.
 */
function mayTakeOver(
  { managed_by: owner }: Account,
  { resource, deps, managed_by }: AccountContext,
): boolean {
  if (owner === null) return false
  refuseOtherInstallation(owner, managed_by)
  if (isSameResource(owner, managed_by)) return false
  const { namespace } = resource.meta
  const isThere = deps
    .peers()
    .some(({ meta }) => meta.namespace === owner.namespace && meta.name === owner.name)
  if (owner.kind === managed_by.kind && owner.namespace === namespace && !isThere) return true
  throw new NotReady(
    'Conflict',
    `${owner.kind} ${owner.namespace}/${owner.name} already declares the service account`,
  )
}

/** Throws `NotReady` (`Conflict`) for an account that another installation serves. */
export function refuseOtherInstallation(
  owner: Pick<ManagedBy, 'kind' | 'namespace' | 'name' | 'installation'>,
  { installation }: Pick<ManagedBy, 'installation'>,
): void {
  if (owner.installation === undefined || owner.installation === installation) return
  const { kind, namespace, name } = owner
  throw new NotReady(
    'Conflict',
    `the installation ${owner.installation} serves the service account for ${kind} ${namespace}/${name}. Delete that resource first, or give this operator the name of that installation (LOOPTRACE_OPERATOR_INSTALLATION)`,
  )
}

function throwIfNameTaken({ name }: DesiredAccount): (error: unknown) => never {
  return (error) => {
    if (!isRefusal(error, 'name_taken')) throw error
    throw new NotReady(
      'NameTaken',
      `${error.message}. To adopt that account, set the annotation looptrace.dev/external-id to its id. Otherwise use another displayName than "${name}"`,
    )
  }
}

function createdEvent({ id, name }: Account, was_settled: boolean): EventDraft {
  const action = 'PostServiceAccount'
  return was_settled
    ? {
        type: 'Warning',
        reason: 'DriftCorrected',
        action,
        note: `the service account had been deleted in the service and was created again as ${id}`,
      }
    : {
        type: 'Normal',
        reason: 'Created',
        action,
        note: `created service account "${name}" as ${id}`,
      }
}

function changedEvent(change: {
  differs: string[]
  was_managed: boolean
  was_settled: boolean
}): EventDraft {
  const action = 'PutServiceAccount'
  const what = change.differs.join(', ')
  if (change.was_settled) {
    const note = `corrected fields that had been changed in the service: ${what}`
    return { type: 'Warning', reason: 'DriftCorrected', action, note }
  }
  return change.was_managed
    ? { type: 'Normal', reason: 'Updated', action, note: `set: ${what}` }
    : { type: 'Normal', reason: 'Adopted', action, note: 'adopted an existing service account' }
}
