import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'
import { openSealed, sealValue } from '../../../kernel/sealed-value.ts'
import type { Clock } from '../../../kernel/time.ts'
import { readKeyId, toJwks } from '../../signing/index.ts'
import type { CertificationDb } from '../evidence/contract.ts'

/** The key that signs statements, with the public keys of all statements so far. */
export type SigningKey = {
  /** Returns the key; undefined for an installation that cannot keep a key. */
  current(): Promise<KeyObject | undefined>
}

type SigningKeyOptions = {
  db: CertificationDb
  clock: Clock
  /** Ed25519 private key in PEM (PKCS #8). */
  certification_key: string | undefined
  /** Encrypts a generated key in the store. */
  secret_key: string | undefined
}

/** A configured key that cannot sign. */
export class BadSigningKey extends Error {
  override readonly name = 'BadSigningKey'
}

/**
 * Opens the signing key: the configured key, or a key that is generated once and stored encrypted.
 * The public key is stored before the key signs, and stays there after a rotation. Throws
 * BadSigningKey for a configured key that is not an Ed25519 key.
 */
export function openSigningKey(options: SigningKeyOptions): SigningKey {
  const { certification_key } = options
  const configured = certification_key === undefined ? undefined : readPrivateKey(certification_key)
  let known: KeyObject | undefined
  return {
    current: async () => {
      known ??= configured ? await publish(options, configured) : await keptKey(options)
      return known
    },
  }
}

/** Reads an Ed25519 private key in PEM. */
function readPrivateKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // The text may be a secret, so the message does not quote it.
  }
  throw new BadSigningKey('expected an Ed25519 private key in PEM (PKCS #8)')
}

async function publish({ db, clock }: SigningKeyOptions, key: KeyObject): Promise<KeyObject> {
  await storeKey(db, { key, sealed: null, at: new Date(clock.now_ms()) })
  return key
}

/** Returns the newest key that the secret decrypts, or creates a key. */
async function keptKey(options: SigningKeyOptions): Promise<KeyObject | undefined> {
  const { db, clock, secret_key } = options
  if (secret_key === undefined) return undefined
  const found = await findKept(db, secret_key)
  if (found !== undefined) return found
  const key = generateKeyPairSync('ed25519').privateKey
  const der = key.export({ type: 'pkcs8', format: 'der' })
  const sealed = sealValue(der, sealedFor(secret_key, readKeyId(key)))
  await storeKey(db, { key, sealed, at: new Date(clock.now_ms()) })
  // If two workers create keys at the same time, both use the same key.
  return findKept(db, secret_key)
}

async function findKept(db: CertificationDb, secret_key: string): Promise<KeyObject | undefined> {
  const rows = await db
    .selectFrom('certification_keys')
    .select(['key_id', 'private_key_encrypted'])
    .where('private_key_encrypted', 'is not', null)
    .orderBy('created_at', 'asc')
    .orderBy('key_id', 'asc')
    .execute()
  for (const { key_id, private_key_encrypted } of rows) {
    const der = openSealed(private_key_encrypted ?? Buffer.of(), sealedFor(secret_key, key_id))
    if (der !== undefined) return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  }
  return undefined
}

type KeyToStore = { key: KeyObject; sealed: Buffer | null; at: Date }

async function storeKey(db: CertificationDb, { key, sealed, at }: KeyToStore): Promise<void> {
  const [public_jwk] = toJwks([key]).keys
  await db
    .insertInto('certification_keys')
    .values({
      key_id: readKeyId(key),
      public_jwk: JSON.stringify(public_jwk),
      private_key_encrypted: sealed,
      created_at: at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

function sealedFor(secret_key: string, about: string) {
  return { secret_key, purpose: 'certification keys', about }
}

/** Maximum public keys of the key set, newest first. */
const maxPublicKeys = 100

/** Returns the public keys of statements, those of earlier signing keys included. */
export async function readPublicKeySet(db: CertificationDb): Promise<{ keys: JsonWebKey[] }> {
  const rows = await db
    .selectFrom('certification_keys')
    .select('public_jwk')
    .orderBy('created_at', 'desc')
    .limit(maxPublicKeys)
    .execute()
  return toJwks(rows.map(({ public_jwk }) => createPublicKey({ key: public_jwk, format: 'jwk' })))
}
