import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importJWK,
  importPKCS8,
  type JWK,
} from 'jose'
import { problem } from '../../../kernel/problem.ts'
import { openSealed, type SealedFor, sealValue } from '../../../kernel/sealed-value.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { listSigningKeys, type Rotation, rotateSigningKeys, type SigningKeyRow } from './store.ts'

/** Keys that sign access tokens, shared by all pods through the store. */
export type SigningKeys = {
  /** Returns the key to sign with now; creates or rotates keys when due. */
  current(): Promise<{ kid: string; private_key: CryptoKey }>
  /** Returns the public key of a `kid`; undefined for an unknown or retired one. */
  find(kid: string): Promise<CryptoKey | undefined>
  /**
   * Returns the public keys, including those that will sign soon and those that signed recently.
   */
  jwks(): Promise<{ keys: JWK[] }>
}

type SigningKeysOptions = {
  db: Kysely<AccessTables>
  clock: Clock
  logger: Logger
  /** Encrypts the private keys in the store; at least 32 characters. */
  secret_key: string
  /** Interval at which the keys are read from the store. */
  refresh_ms?: number
  /** Shortest interval at which unknown `kid`s, which anyone can send, cause a read. */
  unknown_kid_refresh_ms?: number
  rules: RotationRules
}

/** Reads keys from the store and keeps them in memory, also during an outage of the store. */
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
    const signer = await this.#signer()
    if (signer !== undefined) {
      const age_ms = clock.now_ms() - Date.parse(signer.row.activates_at)
      const next = this.#ring?.rows.some((row) => row.activates_at > signer.row.activates_at)
      if (age_ms >= rules.rotate_after_ms && next !== true) await this.#rotate()
      return { kid: signer.row.id, private_key: await importPrivate(signer.pkcs8) }
    }
    await this.#rotate()
    const made = await this.#signer()
    if (made === undefined) throw problem('internal_error', { cause: new NoSigningKeyError() })
    return { kid: made.row.id, private_key: await importPrivate(made.pkcs8) }
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
      const pkcs8 = openSealed(row.private_key_encrypted, sealedFor(secret_key, row.id))
      if (pkcs8 !== undefined) return { row, pkcs8 }
    }
    return undefined
  }

  async #rotate(): Promise<void> {
    const { db, clock, secret_key, rules, logger } = this.#options
    const now = new Date(clock.now_ms())
    await rotateSigningKeys(db, now, async (rows) => {
      const rotation = await decideRotation(rows, { now, secret_key, rules })
      if (rotation) logger.info({ kid: rotation.add.id }, 'created a signing key for access tokens')
      return rotation
    })
    await this.#read()
  }

  /**
   * Returns keys read within `refresh_ms`, or the last known ones during an outage of the store.
   */
  async #fresh(): Promise<Ring> {
    const { clock, refresh_ms = 60_000 } = this.#options
    const ring = this.#ring
    if (ring === undefined) return this.#read()
    if (clock.now_ms() - ring.read_at_ms < refresh_ms) return dropRetired(ring, clock)
    return this.#read().catch(() => dropRetired(ring, clock))
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
    for (const row of rows) publicKeys.set(row.id, await importPublic(row.public_jwk))
    this.#ring = { rows, publicKeys, read_at_ms }
    return this.#ring
  }
}

/** Cause of an internal error: a new key cannot be used. Not expected to happen. */
class NoSigningKeyError extends Error {
  override readonly name = 'NoSigningKeyError'
  override readonly message = 'no signing key is usable after a rotation'
}

function dropRetired(ring: Ring, clock: Clock): Ring {
  const now = new Date(clock.now_ms()).toISOString()
  const rows = ring.rows.filter(({ retires_at }) => retires_at === null || retires_at > now)
  if (rows.length === ring.rows.length) return ring
  const publicKeys = new Map([...ring.publicKeys].filter(([kid]) => rows.some((r) => r.id === kid)))
  return { ...ring, rows, publicKeys }
}

function importPrivate(pkcs8: Buffer): Promise<CryptoKey> {
  return importPKCS8(pkcs8.toString('utf8'), 'EdDSA')
}

async function importPublic(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, 'EdDSA')
  if (key instanceof Uint8Array) throw new TypeError('a signing key is symmetric')
  return key
}

/** Returns whether the secret decrypts the newest of the stored keys; true without keys. */
export async function mayReadSigningKeys(
  db: Kysely<AccessTables>,
  { secret_key, now }: { secret_key: string; now: Date },
): Promise<boolean> {
  const [newest] = await listSigningKeys(db, now)
  if (newest === undefined) return true
  const { id, private_key_encrypted } = newest
  return openSealed(private_key_encrypted, sealedFor(secret_key, id)) !== undefined
}

/** Times of the rotation of keys. */
type RotationRules = {
  /** Age at which a key gets a successor. */
  rotate_after_ms: number
  /** How long a successor is published before it signs: longer than clients cache the key set. */
  publish_before_ms: number
  /** Longest lifetime of a token, for which an old key is kept to verify tokens that it signed. */
  token_ttl_ms: number
}

/**
 * Whether a key signs now. In the last token lifetime before it retires, a key only verifies. A key
 * whose activation is in the future only because of another pod's fast clock signs at once.
 */
export function maySign(
  row: Pick<SigningKeyRow, 'activates_at' | 'retires_at'>,
  now_ms: number,
  { token_ttl_ms }: RotationRules,
): boolean {
  if (Date.parse(row.activates_at) > now_ms + skew_ms) return false
  return row.retires_at === null || Date.parse(row.retires_at) - token_ttl_ms - skew_ms > now_ms
}

/** Largest tolerated difference between the clocks of pods. */
const skew_ms = 60_000

/**
 * Decides whether the stored keys (the last to activate first) need a successor; undefined when no
 * rotation is due. The very first key signs at once, later ones are published first. A key that our
 * secret can't decrypt was made with another secret; it is kept for its owners until it is twice as
 * old as `rotate_after_ms`.
 */
export async function decideRotation(
  rows: readonly SigningKeyRow[],
  { now, rules, secret_key }: { now: Date; secret_key: string; rules: RotationRules },
): Promise<Rotation | undefined> {
  const now_ms = now.getTime()
  const ours = rows.filter(
    ({ id, private_key_encrypted }) =>
      openSealed(private_key_encrypted, sealedFor(secret_key, id)) !== undefined,
  )
  const someSigns = ours.some((row) => maySign(row, now_ms, rules))
  const newest = ours.find(({ retires_at }) => retires_at === null)
  const newest_ms = newest === undefined ? 0 : Date.parse(newest.activates_at)
  if (someSigns && newest_ms > now_ms - rules.rotate_after_ms) return undefined
  const activates_ms = someSigns ? now_ms + rules.publish_before_ms : now_ms
  const abandoned = (row: SigningKeyRow) =>
    Date.parse(row.activates_at) < now_ms - 2 * rules.rotate_after_ms
  const retired = rows.filter((row) => ours.includes(row) || abandoned(row))
  return {
    add: {
      ...(await newSigningKey(secret_key)),
      created_at: now,
      activates_at: new Date(activates_ms),
    },
    retire: {
      ids: retired.map(({ id }) => id),
      at: new Date(activates_ms + rules.token_ttl_ms + skew_ms),
    },
  }
}

async function newSigningKey(secret_key: string) {
  const pair = await generateKeyPair('EdDSA', { extractable: true })
  const jwk = await exportJWK(pair.publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const pkcs8 = Buffer.from(await exportPKCS8(pair.privateKey))
  return {
    id: kid,
    public_jwk: { ...jwk, kid, alg: 'EdDSA', use: 'sig' },
    private_key_encrypted: sealValue(pkcs8, sealedFor(secret_key, kid)),
  }
}

function sealedFor(secret_key: string, kid: string): SealedFor {
  return { secret_key, purpose: 'signing keys', about: kid }
}
