import { type CryptoKey, importJWK, importPKCS8, type JWK } from 'jose'
import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { openPrivateKey } from './seal-private-key.ts'
import { decideRotation, maySign, type RotationRules } from './signing-key-rotation.ts'
import { listSigningKeys, rotateSigningKeys, type SigningKeyRow } from './store.ts'

/** The keys that sign access tokens, shared by all pods through the store. */
export type SigningKeys = {
  /** The key to sign with now; makes or rotates keys when that is due. */
  current(): Promise<{ kid: string; private_key: CryptoKey }>
  /** The public key of a `kid`; undefined for one that is not, or no longer, ours. */
  find(kid: string): Promise<CryptoKey | undefined>
  /** The public keys, those that will sign soon and those that signed lately included. */
  jwks(): Promise<{ keys: JWK[] }>
}

export type SigningKeysOptions = {
  db: Kysely<AccessTables>
  clock: Clock
  logger: Logger
  /** Encrypts the private keys in the store; at least 32 characters. */
  secret_key: string
  /** How long the keys read from the store are used before they are read again. */
  refresh_ms?: number
  /** How soon an unknown `kid` makes us read them again; anybody can send such tokens. */
  unknown_kid_refresh_ms?: number
  rules: RotationRules
}

/** Reads keys from the store and holds on to them, also through an outage of the store. */
export function createSigningKeys(options: SigningKeysOptions): SigningKeys {
  return new StoredSigningKeys(options)
}

type Ring = {
  rows: readonly SigningKeyRow[]
  publicKeys: Map<string, CryptoKey>
  read_at_ms: number
}

class StoredSigningKeys implements SigningKeys {
  readonly #options: SigningKeysOptions
  #ring: Ring | undefined
  #reading: Promise<Ring> | undefined

  constructor(options: SigningKeysOptions) {
    this.#options = options
  }

  async current(): Promise<{ kid: string; private_key: CryptoKey }> {
    const { clock, rules } = this.#options
    const found = await this.#signer()
    if (found !== undefined) {
      const age_ms = clock.now_ms() - Date.parse(found.row.activates_at)
      const next = this.#ring?.rows.some((row) => row.activates_at > found.row.activates_at)
      if (age_ms >= rules.rotate_after_ms && next !== true) await this.#rotate()
      return { kid: found.row.id, private_key: await imported(found.pkcs8) }
    }
    await this.#rotate()
    const made = await this.#signer()
    if (made === undefined) throw problem('internal_error', { cause: new NoSigningKeyError() })
    return { kid: made.row.id, private_key: await imported(made.pkcs8) }
  }

  async find(kid: string): Promise<CryptoKey | undefined> {
    const { clock, unknown_kid_refresh_ms = 5_000 } = this.#options
    const ring = await this.#fresh()
    const known = ring.publicKeys.get(kid)
    if (known !== undefined) return known
    if (clock.now_ms() - ring.read_at_ms < unknown_kid_refresh_ms) return undefined
    return (await this.#read()).publicKeys.get(kid)
  }

  async jwks(): Promise<{ keys: JWK[] }> {
    await this.current()
    const { rows } = await this.#fresh()
    return { keys: rows.map(({ public_jwk }) => public_jwk) }
  }

  async #signer(): Promise<{ row: SigningKeyRow; pkcs8: Buffer } | undefined> {
    const { clock, secret_key, rules } = this.#options
    const { rows } = await this.#fresh()
    for (const row of rows) {
      if (!maySign(row, clock.now_ms(), rules)) continue
      const pkcs8 = openPrivateKey(row.private_key_encrypted, { secret_key, kid: row.id })
      if (pkcs8 !== undefined) return { row, pkcs8 }
    }
    return undefined
  }

  async #rotate(): Promise<void> {
    const { db, clock, secret_key, rules, logger } = this.#options
    const now = new Date(clock.now_ms())
    await rotateSigningKeys(db, now, async (rows) => {
      const rotation = await decideRotation(rows, { now, secret_key, rules })
      if (rotation) logger.info({ kid: rotation.add.id }, 'a new signing key for access tokens')
      return rotation
    })
    await this.#read()
  }

  /** Keys no older than `refresh_ms`; when the store can not say, those known before. */
  async #fresh(): Promise<Ring> {
    const { clock, refresh_ms = 60_000 } = this.#options
    const ring = this.#ring
    if (ring === undefined) return this.#read()
    if (clock.now_ms() - ring.read_at_ms < refresh_ms) return unretired(ring, clock)
    return this.#read().catch(() => unretired(ring, clock))
  }

  #read(): Promise<Ring> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readNow(): Promise<Ring> {
    const { db, clock } = this.#options
    const read_at_ms = clock.now_ms()
    const rows = await listSigningKeys(db, new Date(read_at_ms))
    const publicKeys = new Map<string, CryptoKey>()
    for (const row of rows) publicKeys.set(row.id, await importedPublic(row.public_jwk))
    this.#ring = { rows, publicKeys, read_at_ms }
    return this.#ring
  }
}

/** Thrown (as a cause) when a key that was just made can not be used; never expected. */
class NoSigningKeyError extends Error {
  override readonly name = 'NoSigningKeyError'
  override readonly message = 'no signing key is usable after a rotation'
}

function unretired(ring: Ring, clock: Clock): Ring {
  const now = new Date(clock.now_ms()).toISOString()
  const rows = ring.rows.filter(({ retires_at }) => retires_at === null || retires_at > now)
  if (rows.length === ring.rows.length) return ring
  const publicKeys = new Map([...ring.publicKeys].filter(([kid]) => rows.some((r) => r.id === kid)))
  return { ...ring, rows, publicKeys }
}

function imported(pkcs8: Buffer): Promise<CryptoKey> {
  return importPKCS8(pkcs8.toString('utf8'), 'EdDSA')
}

async function importedPublic(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, 'EdDSA')
  if (key instanceof Uint8Array) throw new TypeError('a signing key is symmetric')
  return key
}
