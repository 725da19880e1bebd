import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** How a value is sealed. */
export type SealedFor = {
  /** Secret of the service. */
  secret_key: string
  /** Kind of the values. Each purpose has a key of its own, derived from the secret. */
  purpose: string
  /** Location of the value, such as its id: authenticated data, so that rows cannot be swapped. */
  about: string
}

/**
 * Encrypts a value for the store with AES-256-GCM under a key derived (HKDF-SHA-256) from the
 * service's secret. Layout: version 1 (1 byte), nonce (12), tag (16), ciphertext.
 */
export function sealValue(plain: Buffer, { secret_key, purpose, about }: SealedFor): Buffer {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv(algorithm, deriveKey(secret_key, purpose), nonce)
  cipher.setAAD(Buffer.from(about))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), sealed])
}

/** Decrypts a result of `sealValue`; undefined for another secret or modified data. */
export function openSealed(
  sealed: Buffer,
  { secret_key, purpose, about }: SealedFor,
): Buffer | undefined {
  if (sealed.length <= headLength || sealed[0] !== version) return undefined
  const nonce = sealed.subarray(1, 1 + nonceLength)
  const decipher = createDecipheriv(algorithm, deriveKey(secret_key, purpose), nonce, {
    authTagLength: tagLength,
  })
  decipher.setAAD(Buffer.from(about))
  decipher.setAuthTag(sealed.subarray(1 + nonceLength, headLength))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(headLength)), decipher.final()])
  } catch {
    return undefined
  }
}

const algorithm = 'aes-256-gcm'
const version = 1
const nonceLength = 12
const tagLength = 16
const headLength = 1 + nonceLength + tagLength

/** Derives a key of a purpose from the secret of the service (HKDF-SHA-256, 32 bytes). */
export function deriveKey(secret_key: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret_key, '', `looptrace ${purpose}, version 1`, 32))
}
