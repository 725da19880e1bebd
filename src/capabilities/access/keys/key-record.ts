import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { type KeyScope, keyScopes } from '../../../kernel/scopes.ts'
import { record } from '../../../model/named-schemas.ts'
import type { Caller } from '../../../platform/http/index.ts'
import { instantField, pageFields } from '../fields.ts'
import { newKey } from './project-key.ts'
import type { KeyInsert } from './store.ts'

/** A key in a reply, without its secret. */
export const keySchema = record('ApiKey', {
  id: z.uuid(),
  project_id: z.uuid(),
  service_account_id: z.uuid().nullable(),
  name: z.string(),
  prefix: z.string().describe('The public part, by which a key can be told from others.'),
  fingerprint: z
    .string()
    .describe('The first 16 hex digits of its SHA-256: which key a text is that somebody has.'),
  scopes: z.array(z.enum(keyScopes)),
  environment: z
    .string()
    .nullable()
    .describe('Of what comes in with the key, where nothing else names one.'),
  created_at: instantField,
  created_by: z.uuid().nullable(),
  expires_at: instantField.nullable(),
  revoked_at: instantField.nullable(),
  last_used_at: instantField.nullable().describe('Up to a minute or two late.'),
})

/** A page of keys. */
export const keyListSchema = record('ApiKeyList', { api_keys: z.array(keySchema), ...pageFields })

/** A key that was just made. `key` is shown this once. */
export const newKeySchema = keySchema
  .extend({
    key: z.string().nullable().describe('The key. Shown once: null when the call is repeated.'),
  })
  .meta({ id: 'NewApiKey' })

/** What a new key is to be. */
export type KeyWish = {
  project_id: string
  service_account_id: string | null
  name: string
  scopes: readonly KeyScope[]
  environment: string | null | undefined
  expires_at: string | null | undefined
}

/**
 * Mints a key and the row to store it by. Throws `invalid_request` for an expiry that is not in the
 * future.
 */
export function mintKey(
  wish: KeyWish,
  { caller, now }: { caller: Caller; now: Date },
): { key: string; row: KeyInsert } {
  const { expires_at, environment = null, ...about } = wish
  const { key, ...stored } = newKey(
    wish.service_account_id === null ? 'project' : 'service_account',
  )
  return {
    key,
    row: {
      ...about,
      ...stored,
      environment,
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

/** The error for a key that the project does not have. */
export function keyNotFound(api_key_id: string): Error {
  return problem('api_key_not_found', { detail: `There is no key with the id ${api_key_id}` })
}
