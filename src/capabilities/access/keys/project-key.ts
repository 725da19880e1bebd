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

/**
 * Mints `lt_` (a service account's: `lt_sa_`) + 8 public characters + `_` + 32 secret ones, all
 * base62: 190 bits of secret.
 */
export function newKey(kind: 'project' | 'service_account'): NewKey {
  const prefix = `${kind === 'project' ? 'lt_' : 'lt_sa_'}${randomBase62(8)}`
  const key = `${prefix}_${randomBase62(secretLength)}`
  return { key, prefix, secret_hash: hashSecret(key) }
}

/** The public part of a well-formed key, which it is looked up by; undefined for anything else. */
export function keyPrefix(key: string): string | undefined {
  return keyPattern.test(key) ? key.slice(0, -secretLength - 1) : undefined
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
const keyPattern = /^lt_(?:sa_)?[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/
