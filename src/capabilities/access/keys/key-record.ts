import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { type KeyScope, keyScopes } from '../../../kernel/scopes.ts'
import { pageFields } from '../../../model/id-pages.ts'
import type { ManagedBy } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import type { Caller } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { instantField } from '../fields.ts'
import { getDeclarer, refuseChange } from '../service-accounts/declaration.ts'
import { findServiceAccount } from '../service-accounts/store.ts'
import { newKey } from './project-key.ts'
import { findKey, type KeyInsert, type KeyRow } from './store.ts'

/** A key in a reply, without its secret. */
export const keySchema = record('ApiKey', {
  id: z.uuid(),
  project_id: z.uuid(),
  service_account_id: z.uuid().nullable(),
  name: z.string(),
  prefix: z.string().describe('Public part of the key, which identifies it.'),
  fingerprint: z
    .string()
    .describe('First 16 hex digits of the SHA-256 of the key, to compare it with a key you have.'),
  scopes: z.array(z.enum(keyScopes)),
  environment: z
    .string()
    .nullable()
    .describe('Default environment of data sent with the key; null: no default.'),
  origins: z
    .array(z.string())
    .nullable()
    .describe(
      'Origins of the pages that can use the key; null for a key that is not a browser key.',
    ),
  user_rate_per_minute: z
    .int()
    .nullable()
    .describe('Calls per minute of each end user of a browser key; null for other keys.'),
  created_at: instantField,
  created_by: z.uuid().nullable(),
  expires_at: instantField.nullable(),
  revoked_at: instantField.nullable(),
  last_used_at: instantField
    .nullable()
    .describe('Time of the last use, with a delay of up to two minutes.'),
})

/** A page of keys. */
export const keyListSchema = record('ApiKeyList', { api_keys: z.array(keySchema), ...pageFields })

/** A new key. `key` is shown only once. */
export const newKeySchema = keySchema
  .extend({
    key: z.string().nullable().describe('The key, shown once; null when the call is repeated.'),
  })
  .meta({ id: 'NewApiKey' })

/** Properties of a new key. */
type KeySpec = {
  project_id: string
  service_account_id: string | null
  name: string
  scopes: readonly KeyScope[]
  environment: string | null | undefined
  expires_at: string | null | undefined
  /** Of a browser key. */
  origins?: readonly string[] | null
  user_rate_per_minute?: number | null
}

/**
 * Mints a key and its row for the store. Throws `invalid_request` for an expiry that is not in the
 * future.
 */
export function mintKey(
  spec: KeySpec,
  { caller, now }: { caller: Caller; now: Date },
): { key: string; row: KeyInsert } {
  const { expires_at, environment = null, origins = null, ...columns } = spec
  const { user_rate_per_minute = null } = spec
  const { key, ...stored } = newKey(
    spec.service_account_id === null ? 'project' : 'service_account',
  )
  return {
    key,
    row: {
      ...columns,
      ...stored,
      environment,
      origins,
      user_rate_per_minute,
      id: newId(),
      created_at: now,
      created_by: caller.kind === 'user' ? caller.id : null,
      expires_at: expires_at == null ? null : futureInstant(expires_at, now),
    },
  }
}

function futureInstant(text: string, now: Date): Date {
  const instant = new Date(text)
  if (instant > now) return instant
  const detail = `got ${text}, expected an instant in the future`
  throw problem('invalid_request', {
    detail: `/expires_at: ${detail}`,
    faults: [{ pointer: '/expires_at', detail }],
  })
}

/** Throws `invalid_request` unless the service account has all these scopes. */
export function checkWithin(scopes: readonly KeyScope[], account: readonly string[]): void {
  const beyond = scopes.filter((scope) => !account.includes(scope))
  if (beyond.length === 0) return
  const detail = `got ${beyond.join(' ')}, expected scopes that the service account has`
  throw problem('invalid_request', {
    detail: `/scopes: ${detail}`,
    faults: [{ pointer: '/scopes', detail }],
  })
}

/** Returns the error for a key that the project does not have. */
export function keyNotFound(api_key_id: string): Error {
  return problem('api_key_not_found', { detail: `There is no key with the id ${api_key_id}` })
}

/**
 * Returns a key of the project that the caller may change. Keys of an account that a resource
 * declares may be changed only for that resource. Throws `api_key_not_found`,
 * `managed_by_kubernetes`.
 */
export async function findChangeableKey(
  db: Access['db'],
  which: { project_id: string; api_key_id: string },
  { caller, managed_by }: { caller: Caller; managed_by?: ManagedBy | undefined },
): Promise<KeyRow> {
  const by = getDeclarer(caller, { managed_by })
  const key = await findKey(db, which)
  if (key === undefined) throw keyNotFound(which.api_key_id)
  const { project_id, service_account_id } = key
  const account =
    service_account_id === null
      ? undefined
      : await findServiceAccount(db, { project_id, service_account_id })
  refuseChange(caller, account?.managed_by ?? null, by)
  return key
}
