import { hash, randomInt } from 'node:crypto'
import type { KeyScope } from '../../../kernel/scopes.ts'

/** Who a key speaks for, and what it may do. */
export type ProjectKey = {
  key_id: string
  project_id: string
  scopes: ReadonlySet<KeyScope>
  /** Set when the key is a service account's. */
  service_account_id: string | null
  /** Of what comes in with the key, where nothing else names one. */
  environment?: string
}

/** A new key. `key` is shown once; `prefix` and `secret_hash` are what is stored. */
export type NewKey = { key: string; prefix: string; secret_hash: Buffer }

/** Whose key it is: a project's, a service account's, or that of a cluster's operator. */
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

/** What is stored of a key that was minted elsewhere; undefined when it is no key of the kind. */
export function givenKey(kind: KeyKind, key: string): NewKey | undefined {
  const prefix = prefixOf(kind, key)
  return prefix === undefined ? undefined : { key, prefix, secret_hash: hashSecret(key) }
}

/**
 * The public part of a project's or service account's well-formed key, which it is looked up by;
 * undefined for anything else.
 */
export function keyPrefix(key: string): string | undefined {
  return prefixOf('project', key) ?? prefixOf('service_account', key)
}

/** The public part of an operator's well-formed key; undefined for anything else. */
export function operatorKeyPrefix(key: string): string | undefined {
  return prefixOf('operator', key)
}

/** Whether a text has the form of an operator's key; whether it is one, nobody has looked at. */
export function isOperatorKey(text: string): boolean {
  return operatorKeyPrefix(text) !== undefined
}

/**
 * The first 16 hex digits of a key's SHA-256: tells which key a text is to whoever has the text, and
 * helps nobody to find it.
 */
export function fingerprintOf(secret_hash: Buffer): string {
  return secret_hash.toString('hex', 0, 8)
}

/** SHA-256. Enough for random secrets of over 128 bits, which no dictionary holds. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** Evenly distributed characters of 0-9, A-Z and a-z, from the system's secure source. */
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
