import { z } from 'zod'
import type { ManagedBy } from '../../../model/managed-by.ts'
import type { ResourceMeta } from '../../contract.ts'
import {
  type ServiceClient,
  ServiceRefusal,
  type ServiceRequest,
  ServiceUnavailable,
} from '../../service/service-client.ts'

const owner = z.object({
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
})

const account = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  disabled_at: z.string().nullable(),
  managed_by: owner.nullable(),
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

/** A service account as the service answers it. */
export type Account = z.output<typeof account>

/** A key that is neither revoked nor past its end. */
export type LiveKey = z.output<typeof liveKey>

/** What an account is to be. */
export type AccountWish = { name: string; scopes: readonly string[]; disabled: boolean }

/** Accounts and keys of one project, as one resource declares them. */
export type AccountApi = {
  find(id: string): Promise<Account | undefined>
  /** The account that the resource declares, whatever its id. */
  findDeclared(): Promise<Account | undefined>
  /** Makes it, or answers the one that the resource declares already, as it stands. */
  create(wish: AccountWish): Promise<{ account: Account; is_new: boolean }>
  change(id: string, wish: AccountWish & { take_over: boolean }): Promise<Account>
  /** Deletes it with its keys; `retain` leaves it, and nothing declares it. Gone is done. */
  remove(id: string, options: { retain: boolean }): Promise<void>
  liveKeys(id: string): Promise<LiveKey[]>
  /** The new key and its value, which is told this once. */
  mint(id: string, wish: { name: string; expires_at: string | null }): Promise<MintedKey>
  setKeyScopes(key_id: string, scopes: readonly string[]): Promise<void>
  /** Ends a key now, or then. */
  revoke(key_id: string, at?: string): Promise<void>
}

export type MintedKey = { id: string; prefix: string; key: string }

/** Requests go out in the name of the resource, which the service compares with the owner. */
export function accountApi(
  service: ServiceClient,
  { project_id, managed_by }: { project_id: string; managed_by: ManagedBy },
): AccountApi {
  const root = '/api/v2/access/service-accounts'
  const keys = `/api/v2/access/projects/${project_id}/api-keys`
  const { kind, namespace, name } = managed_by
  const declarer = new URLSearchParams({ managed_by: `${kind}/${namespace}/${name}` })
  const call = (request: ServiceRequest) => service.request({ ...request, project_id })
  const read = async <T>(request: ServiceRequest, shape: z.ZodType<T>) =>
    shaped(shape, (await call(request)).body)
  return {
    find: (id) => orNone(read({ method: 'GET', path: `${root}/${id}` }, account)),
    findDeclared: async () => {
      const path = `${root}?${declarer}`
      const list = z.object({ service_accounts: z.array(account) })
      return (await read({ method: 'GET', path }, list)).service_accounts[0]
    },
    create: async ({ name: title, scopes }) => {
      const body = { name: title, scopes, managed_by }
      const { status, body: made } = await call({ method: 'POST', path: root, body })
      return { account: shaped(account, made), is_new: status === 201 }
    },
    change: (id, wish) =>
      read({ method: 'PUT', path: `${root}/${id}`, body: { ...wish, managed_by } }, account),
    remove: async (id, { retain }) => {
      const path = `${root}/${id}?${declarer}${retain ? '&retain=true' : ''}`
      await orNone(call({ method: 'DELETE', path }))
    },
    liveKeys: (id) => allKeys(`${root}/${id}/keys?live=true&limit=${page_size}`, read),
    mint: (id, wish) => {
      const body = { ...wish, managed_by }
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

/** Who a resource is, as the service keeps it with what it declares. */
export function ownerOf({ kind, namespace, name, uid }: ResourceMeta): ManagedBy {
  return { kind, namespace, name, uid }
}

const page_size = 200
/** An account of ours has a handful of live keys; many more are somebody's fault. */
const pages_max = 20

async function allKeys(
  path: string,
  read: <T>(request: ServiceRequest, shape: z.ZodType<T>) => Promise<T>,
): Promise<LiveKey[]> {
  const list = z.object({ api_keys: z.array(liveKey), next_cursor: z.string().nullable() })
  const found: LiveKey[] = []
  let cursor: string | null = null
  for (let page = 0; page < pages_max; page += 1) {
    const more = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer: z.output<typeof list> = await read({ method: 'GET', path: path + more }, list)
    found.push(...answer.api_keys)
    cursor = answer.next_cursor
    if (cursor === null) break
  }
  return found
}

async function orNone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    const isGone = error instanceof ServiceRefusal && error.code === 'service_account_not_found'
    if (isGone) return undefined
    throw error
  }
}

function shaped<T>(shape: z.ZodType<T>, body: unknown): T {
  const parsed = shape.safeParse(body)
  if (parsed.success) return parsed.data
  throw new ServiceUnavailable('the service answered what can not be read as a service account', {
    cause: parsed.error,
  })
}
