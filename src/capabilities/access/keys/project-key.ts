import { hash, randomInt } from 'node:crypto'
import type { KeyScope } from '../../../kernel/scopes.ts'
import type { TaskRule } from '../../../model/task-rules.ts'

/** The project and permissions of a key. */
export type ProjectKey = {
  key_id: string
  project_id: string
  scopes: ReadonlySet<KeyScope>
  /** Set when the key is a service account's. */
  service_account_id: string | null
  /** Default environment of data sent with the key. */
  environment?: string
  /** Set for a browser key, which visitors of its pages can read. */
  browser?: BrowserKey
  /** Rules for sessions and tasks that the project has switched off. */
  task_rules_off?: readonly TaskRule[]
  /** Set when the project is archived: the key can only read. */
  is_archived?: true
}

/** The limits of a browser key: exact origins, and calls per minute of each end user. */
export type BrowserKey = { origins: readonly string[]; user_rate_per_minute: number }

/** A new key. `key` is shown once; only `prefix` and `secret_hash` are stored. */
export type NewKey = { key: string; prefix: string; secret_hash: Buffer }

/** Kind of owner: a project, a service account, or a cluster's operator. */
export type KeyKind = keyof typeof kindPrefix

/**
 * Mints `lt_` (a service account's: `lt_sa_`, an operator's: `lt_op_`) + 8 public characters + `_`
 * + 32 secret ones, all base62: 190 bits of secret.
 */
export function newKey(kind: KeyKind): NewKey {
  const prefix = `${kindPrefix[kind]}${randomBase62(8)}`
  const key = `${prefix}_${randomBase62(secretLength)}`
  return { key, prefix, secret_hash: hashSecret(key) }
}

/** Returns what to store for a key that was minted elsewhere; undefined when it is malformed. */
export function givenKey(kind: KeyKind, key: string): NewKey | undefined {
  const prefix = prefixOf(kind, key)
  return prefix === undefined ? undefined : { key, prefix, secret_hash: hashSecret(key) }
}

/**
 * Returns the public prefix of a project's or service account's well-formed key, by which it is
 * stored; undefined for any other text.
 */
export function keyPrefix(key: string): string | undefined {
  return prefixOf('project', key) ?? prefixOf('service_account', key)
}

/** Returns the public prefix of an operator's well-formed key; undefined for any other text. */
export function operatorKeyPrefix(key: string): string | undefined {
  return prefixOf('operator', key)
}

/**
 * Returns the SHA-256, which is sufficient for random secrets of over 128 bits. As text first, because
 * Node takes three times as long to make a buffer of its own for each hash.
 */
export function hashSecret(secret: string): Buffer {
  return Buffer.from(hash('sha256', secret, 'hex'), 'hex')
}

/** Returns uniformly random characters of 0-9, A-Z and a-z, from the system's secure source. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('')
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 32
const kindPrefix = { project: 'lt_', service_account: 'lt_sa_', operator: 'lt_op_' } as const
const afterKind = /^[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/

function prefixOf(kind: KeyKind, key: string): string | undefined {
  const start = kindPrefix[kind]
  const isOne = key.startsWith(start) && afterKind.test(key.slice(start.length))
  return isOne ? key.slice(0, -secretLength - 1) : undefined
}
