import { z } from 'zod'
import { type ManagedBy, managedByField } from '../../../../model/managed-by.ts'
import type { OwnedObject } from '../../../contract.ts'
import { ownerQuery } from '../../../installation.ts'
import {
  isRefusal,
  parseAnswer,
  type ServiceClient,
  type ServiceRequest,
  ServiceUnavailable,
} from '../../../service/service-client.ts'

const account = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  disabled_at: z.string().nullable(),
  managed_by: managedByField.nullable(),
  suspended_at: z.string().nullish(),
  suspended_by: z.string().nullish(),
  suspended_reason: z.string().nullish(),
})

const liveKey = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  fingerprint: z.string(),
  scopes: z.array(z.string()),
  created_at: z.string(),
  expires_at: z.string().nullable(),
})

/** A service account in the service. */
export type Account = z.output<typeof account>

/** A key that is neither revoked nor expired. */
export type LiveKey = z.output<typeof liveKey>

/** The fields that a spec sets on an account. */
export type DesiredAccount = { name: string; scopes: readonly string[]; disabled: boolean }

/** The accounts and keys of one project, on behalf of one resource. */
export type AccountApi = {
  find(id: string): Promise<Account | undefined>
  /** Finds the account that the resource declares, by its owner. */
  findDeclared(): Promise<Account | undefined>
  /** Creates the account, or returns the existing one of the resource unchanged. */
  create(desired: DesiredAccount): Promise<{ account: Account; is_new: boolean }>
  change(id: string, desired: DesiredAccount & { take_over: boolean }): Promise<Account>
  /**
   * Deletes the account with its keys; `retain` only removes its owner. A missing one is ignored.
   */
  remove(id: string, options: { retain: boolean }): Promise<void>
  /** Ends the suspension of the account. */
  resume(id: string, reason: string): Promise<Account>
  liveKeys(id: string): Promise<LiveKey[]>
  /** Mints a key and returns it with its value, which can't be read again. */
  mint(id: string, desired: { name: string; expires_at: string | null }): Promise<MintedKey>
  setKeyScopes(key_id: string, scopes: readonly string[]): Promise<void>
  /** Revokes a key now, or at the given time. */
  revoke(key_id: string, at?: string): Promise<void>
}

type MintedKey = { id: string; prefix: string; key: string }

/** Creates the API of a resource. Requests name the resource, which the service checks as owner. */
export function createAccountApi(
  service: ServiceClient,
  { project_id, managed_by }: { project_id: string; managed_by: ManagedBy },
): AccountApi {
  const root = '/api/v2/access/service-accounts'
  const keys = `/api/v2/access/projects/${project_id}/api-keys`
  const declarer = new URLSearchParams({ managed_by: ownerQuery(managed_by) })
  const call = (request: ServiceRequest) => service.request({ ...request, project_id })
  const read = async <T>(request: ServiceRequest, shape: z.ZodType<T>) =>
    parse(shape, (await call(request)).body)
  return {
    find: (id) => undefinedIfGone(read({ method: 'GET', path: `${root}/${id}` }, account)),
    findDeclared: async () => {
      const path = `${root}?${declarer}`
      const list = z.object({ service_accounts: z.array(account) })
      return (await read({ method: 'GET', path }, list)).service_accounts[0]
    },
    create: async ({ name: title, scopes }) => {
      const body = { name: title, scopes, managed_by }
      const { status, body: created } = await call({ method: 'POST', path: root, body })
      return { account: parse(account, created), is_new: status === 201 }
    },
    change: (id, desired) =>
      read({ method: 'PUT', path: `${root}/${id}`, body: { ...desired, managed_by } }, account),
    remove: async (id, { retain }) => {
      const path = `${root}/${id}?${declarer}${retain ? '&retain=true' : ''}`
      await undefinedIfGone(call({ method: 'DELETE', path }))
    },
    resume: (id, reason) => {
      const body = { reason, managed_by }
      return read({ method: 'POST', path: `${root}/${id}/resume`, body }, account)
    },
    liveKeys: (id) => allKeys(`${root}/${id}/keys?live=true&limit=${page_size}`, read),
    mint: (id, desired) => {
      const body = { ...desired, managed_by }
      const minted = z.object({ id: z.string(), prefix: z.string(), key: z.string() })
      return read({ method: 'POST', path: `${root}/${id}/keys`, body }, minted)
    },
    setKeyScopes: async (key_id, scopes) => {
      await call({
        method: 'POST',
        path: `${keys}/${key_id}/scopes`,
        body: { scopes, managed_by },
      })
    },
    revoke: async (key_id, at) => {
      const body = { managed_by, ...(at !== undefined && { at }) }
      await call({ method: 'POST', path: `${keys}/${key_id}/revoke`, body })
    },
  }
}

/**
 * Lists the accounts with a live key that resources of an installation declare, in all projects.
 * Throws `ServiceUnavailable` for a list that is not complete.
 */
export async function listOwnedAccounts(
  service: ServiceClient,
  installation_id: string,
): Promise<OwnedObject[]> {
  const path = `/api/v2/access/installations/${installation_id}/service-accounts?limit=${page_size}`
  const list = z.object({ service_accounts: z.array(ownedAccount), next_cursor: nextCursor })
  const owned: OwnedObject[] = []
  let more = ''
  for (let page = 0; page < maxOwnedPages; page += 1) {
    const { body } = await service.request({ method: 'GET', path: path + more })
    const { service_accounts, next_cursor } = parse(list, body)
    owned.push(
      ...service_accounts.map(({ managed_by, ...account }) => ({ ...account, owner: managed_by })),
    )
    if (next_cursor === null) return owned
    more = `&cursor=${encodeURIComponent(next_cursor)}`
  }
  throw new ServiceUnavailable(`the installation has over ${owned.length} service accounts`)
}

const nextCursor = z.string().nullable()
const ownedAccount = z.object({ id: z.uuid(), project_id: z.uuid(), managed_by: managedByField })
/** Bounds a list to 200,000 accounts, beyond the scale of one operator. */
const maxOwnedPages = 1_000

const page_size = 200
/** An account of a resource has a handful of live keys; more pages point to a fault elsewhere. */
const pages_max = 20

async function allKeys(
  path: string,
  read: <T>(request: ServiceRequest, shape: z.ZodType<T>) => Promise<T>,
): Promise<LiveKey[]> {
  const list = z.object({ api_keys: z.array(liveKey), next_cursor: z.string().nullable() })
  const live: LiveKey[] = []
  let cursor: string | null = null
  for (let page = 0; page < pages_max; page += 1) {
    const more = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer: z.output<typeof list> = await read({ method: 'GET', path: path + more }, list)
    live.push(...answer.api_keys)
    cursor = answer.next_cursor
    if (cursor === null) break
  }
  return live
}

async function undefinedIfGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isRefusal(error, 'service_account_not_found')) return undefined
    throw error
  }
}

const parse = <T>(shape: z.ZodType<T>, body: unknown): T =>
  parseAnswer(shape, body, 'service account')
